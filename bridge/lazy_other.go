//go:build !unix && !js

package bridge

import "net"

// lazyReader reads from a TCP connection. This system does not tell when there
// is something to be read, so it holds a buffer while it waits.
type lazyReader struct{ conn *net.TCPConn }

func newLazyReader(conn *net.TCPConn) (*lazyReader, error) { return &lazyReader{conn}, nil }

// next waits for bytes and returns a chunk with n of them in its room, which the
// caller frees. With an error there is no chunk.
func (r *lazyReader) next() (c *chunk, n int, err error) {
	c = newChunk()
	if n, err = r.conn.Read(c.room()); n == 0 {
		c.free()
		return nil, 0, err
	}
	return c, n, nil
}
