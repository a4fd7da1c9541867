//go:build !js

package bridge

import (
	"bufio"
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
	headers  *bufio.Reader // the library's, through which it reads all

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
		if err := c.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, c.in[c.from:c.to])
	if c.from += n; c.from == c.to {
		c.in.free()
		c.in = nil
	}
	return n, nil
}

// fill waits for bytes.
func (c *carrier) fill() error {
	in, n, err := c.lazy.next()
	if err != nil {
		return err
	}
	c.heard.Store(c.clock.now())
	c.in, c.from, c.to = in, frameRoom, frameRoom+n
	return nil
}

// await waits until there is something for the library to read, without a
// buffer. It does so for TCP only: TLS has a buffer of its own.
func (c *carrier) await() error {
	if c.lazy == nil || c.in != nil || c.headers.Buffered() > 0 {
		return nil
	}
	return c.fill()
}

// ready tells whether the next frame is a whole binary message, all of which is
// here already, and how many bytes it carries. Reading it does not wait.
func (c *carrier) ready() (size int, ok bool) {
	here := c.headers.Buffered()
	if c.in != nil {
		here += c.to - c.from
	}
	header, err := c.headers.Peek(min(here, maxHeaderSize))
	if err != nil || len(header) < 2 || header[0] != frameBinary {
		return 0, false
	}
	at := 2
	switch size = int(header[1] & 0x7f); size {
	case 126:
		if at += 2; len(header) < at {
			return 0, false
		}
		size = int(binary.BigEndian.Uint16(header[2:]))
	case 127:
		// Larger than a chunk, and so never all here.
		return 0, false
	}
	return size, header[1]&masked != 0 && here >= at+maskSize+size
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

// What a client's frame begins with.
const (
	masked        = 0x80 // in the second byte; the length is the rest
	maskSize      = 4
	maxHeaderSize = 2 + 2 + maskSize // of frames that ready looks at
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
