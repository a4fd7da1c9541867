//go:build !js

package bridge

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// carrier is the connection under a client's WebSocket. The library reads
// frames from it; the frames that go to the client are made here, where each is
// one write, and no write is given up because a client is slow: the library
// would end a connection whose control frame waits for five seconds.
type carrier struct {
	net.Conn
	clock clock
	heard atomic.Int64 // when the client's last byte came

	lazy     *lazyReader // nil if the connection is not a TCP one, but TLS
	in       *chunk      // what was read, and the library has not taken
	from, to int

	writing sync.Mutex
	sealed  bool // a close frame was written
	failed  error
}

// newCarrier takes over a connection, and what was read from it already.
func newCarrier(conn net.Conn, clock clock, early []byte) (*carrier, error) {
	c := &carrier{Conn: conn, clock: clock}
	if tcp, ok := conn.(*net.TCPConn); ok {
		var err error
		if c.lazy, err = newLazyReader(tcp); err != nil {
			return nil, err
		}
	}
	if len(early) > 0 {
		c.in = newChunk()
		c.to = copy(c.in[:], early)
	}
	return c, nil
}

// Read reads for the library.
func (c *carrier) Read(p []byte) (int, error) {
	if c.in == nil {
		if c.lazy == nil || len(p) >= chunkSize {
			n, err := c.Conn.Read(p)
			c.heard.Store(c.clock.now())
			return n, err
		}
		in, n, err := c.lazy.next()
		if err != nil {
			return 0, err
		}
		c.heard.Store(c.clock.now())
		c.in, c.from, c.to = in, frameRoom, frameRoom+n
	}
	n := copy(p, c.in[c.from:c.to])
	if c.from += n; c.from == c.to {
		c.in.free()
		c.in = nil
	}
	return n, nil
}

// The first bytes of the frames that the bridge sends: whole messages (RFC 6455,
// section 5.2).
const (
	final       = 0x80
	frameBinary = final | 0x2
	frameClose  = final | 0x8
	framePing   = final | 0x9
	framePong   = final | 0xA
)

// maxControlSize is the most that a control frame carries (RFC 6455, 5.5).
const maxControlSize = 125

// Write writes for the library, which answers close frames and errors. It writes
// one frame at a time, since its buffer holds any control frame.
func (c *carrier) Write(p []byte) (int, error) {
	if err := c.write(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// write writes one frame, or nothing if the client was told that none follows.
func (c *carrier) write(frame []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if c.sealed {
		return nil
	}
	if c.failed != nil {
		// A part of a frame may be out there: nothing can follow it.
		return c.failed
	}
	c.sealed = frame[0] == frameClose
	_, c.failed = c.Conn.Write(frame)
	return c.failed
}

// send writes the n bytes in a chunk's room as one binary message.
func (c *carrier) send(ch *chunk, n int) error {
	start := frameRoom - 2
	if n <= maxControlSize {
		ch[start+1] = byte(n)
	} else {
		start = 0
		ch[1] = 126
		binary.BigEndian.PutUint16(ch[2:], uint16(n))
	}
	ch[start] = frameBinary
	return c.write(ch[start : frameRoom+n])
}

// control writes a control frame.
func (c *carrier) control(kind byte, payload []byte) error {
	frame := make([]byte, 0, 2+maxControlSize)
	frame = append(frame, kind, byte(len(payload)))
	return c.write(append(frame, payload...))
}

// sendClose writes a close frame, which ends what the client hears.
func (c *carrier) sendClose(code websocket.StatusCode, reason string) error {
	return c.control(frameClose, append(binary.BigEndian.AppendUint16(nil, uint16(code)), reason...))
}

// clock counts nanoseconds from a moment of its own.
type clock struct{ start time.Time }

func (c clock) now() int64 { return int64(time.Since(c.start)) }
