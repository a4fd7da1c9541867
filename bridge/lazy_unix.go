//go:build unix

package bridge

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
)

// lazyReader reads from a TCP connection. It takes a buffer when there is
// something to be read, and not while it waits.
type lazyReader struct {
	raw syscall.RawConn
	try func(fd uintptr) bool // made once, so that reads allocate nothing

	got *chunk
	n   int
	err error
}

func newLazyReader(conn *net.TCPConn) (*lazyReader, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	r := &lazyReader{raw: raw}
	r.try = r.tryRead
	return r, nil
}

// next waits for bytes and returns a chunk with n of them in its room, which the
// caller frees. With an error there is no chunk.
func (r *lazyReader) next() (c *chunk, n int, err error) {
	if err := r.raw.Read(r.try); err != nil {
		return nil, 0, err
	}
	c, r.got = r.got, nil
	return c, r.n, r.err
}

// tryRead reads once. It returns false if it would have to wait.
func (r *lazyReader) tryRead(fd uintptr) bool {
	c := newChunk()
	for {
		r.n, r.err = syscall.Read(int(fd), c.room())
		if !errors.Is(r.err, syscall.EINTR) {
			break
		}
	}
	switch {
	case r.n > 0:
		r.got = c
		return true
	case errors.Is(r.err, syscall.EAGAIN):
		c.free()
		return false
	case r.err == nil:
		r.err = io.EOF
	default:
		r.err = os.NewSyscallError("read", r.err)
	}
	c.free()
	r.n = 0
	return true
}
