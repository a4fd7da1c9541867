//go:build !(js && wasm)

package brontide

import (
	"fmt"
	"io"
)

// aheadSize is how many bytes a Conn reads at a time where it needs fewer: short
// messages then take one read of the carrier or less, not two.
const aheadSize = 2048

// readAhead reads more of r than it is asked for and keeps it.
type readAhead struct {
	r   io.Reader
	buf [aheadSize]byte
	// rest is the part of buf that has not been handed out.
	rest []byte
}

// Read leaves an error that comes together with bytes for the next call.
func (a *readAhead) Read(p []byte) (int, error) {
	if len(a.rest) == 0 {
		if len(p) >= len(a.buf) {
			return a.r.Read(p)
		}
		n, err := a.r.Read(a.buf[:])
		if n < 0 || n > len(a.buf) {
			return 0, errImpossibleRead
		}
		if n == 0 {
			return 0, err
		}
		a.rest = a.buf[:n]
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

// Read reads from the stream of all messages together; an empty message adds
// nothing to it. A deadline that passes inside a message loses no byte: the next
// Read goes on. An end of the carrier inside a message is
// io.ErrUnexpectedEOF.
func (c *Conn) Read(p []byte) (int, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for len(c.rest) == 0 {
		size, err := c.machine.ReadHeader(&c.ahead)
		if err != nil {
			return 0, c.fault("read", err)
		}
		// What fits into p whole is decrypted into it.
		if int(size)-MACSize <= len(p) {
			message, err := c.machine.AppendMessage(p[:0], &c.ahead)
			if err != nil {
				return 0, c.fault("read", err)
			}
			if len(message) == 0 {
				continue
			}
			return len(message), nil
		}
		if err := c.readRest(); err != nil {
			return 0, c.fault("read", err)
		}
	}
	return c.takeRest(p), nil
}

// readRest reads a message into a buffer, for Read to hand out in parts.
func (c *Conn) readRest() error {
	b := getBuffer()
	message, err := c.machine.AppendMessage(b.body(MaxMessageSize)[:0], &c.ahead)
	if err != nil {
		putBuffer(b)
		return err
	}
	c.rest, c.restBuffer = message, b
	return nil
}

// takeRest moves a part of the rest to p.
func (c *Conn) takeRest(p []byte) int {
	n := copy(p, c.rest)
	clear(c.rest[:n])
	c.rest = c.rest[n:]
	if len(c.rest) == 0 {
		c.dropRest()
	}
	return n
}

// dropRest wipes what is left of the rest.
func (c *Conn) dropRest() {
	if c.restBuffer != nil {
		clear(c.rest)
		putBuffer(c.restBuffer)
		c.rest, c.restBuffer = nil, nil
	}
}

// ReadNextMessage returns the next message, which may be empty, in a slice of
// its own. Where Read has taken a part of a message, it returns the rest of it.
// A deadline that passes inside a message loses no byte: the next call goes on.
func (c *Conn) ReadNextMessage() ([]byte, error) {
	message, err := c.AppendNextMessage([]byte{})
	if err != nil {
		return nil, err
	}
	return message, nil
}

// AppendNextMessage is ReadNextMessage that appends the message to dst, without
// allocating where its capacity suffices, as that of a slice of MaxMessageSize
// bytes does from its start. On an error it returns dst as it was.
func (c *Conn) AppendNextMessage(dst []byte) ([]byte, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	if len(c.rest) > 0 {
		dst = append(dst, c.rest...)
		c.dropRest()
		return dst, nil
	}
	dst, err := c.machine.AppendMessage(dst, &c.ahead)
	if err != nil {
		return dst, c.fault("read", err)
	}
	return dst, nil
}

// ReadNextHeader reads the header of the next message and returns how long a
// buffer ReadNextBody wants: MACSize bytes more than the message. A deadline can
// so be set for each of the two; one that passes in the middle loses no byte.
// Called again before ReadNextBody, it returns the same.
func (c *Conn) ReadNextHeader() (uint32, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	if len(c.rest) > 0 {
		return uint32(len(c.rest) + MACSize), nil
	}
	size, err := c.machine.ReadHeader(&c.ahead)
	if err != nil {
		return 0, c.fault("read", err)
	}
	return size, nil
}

// ReadNextBody reads the message whose header was read into buf, which is as
// long as ReadNextHeader said, and returns it, a part of buf. After an error it
// can be called again, with the same buffer or another. ErrBufferSize and
// ErrHeaderNotRead change nothing.
func (c *Conn) ReadNextBody(buf []byte) ([]byte, error) {
	c.readMu.Lock()
	defer c.readMu.Unlock()
	if size := len(c.rest); size > 0 {
		if len(buf) != size+MACSize {
			return nil, newError(ErrBufferSize,
				fmt.Sprintf("a buffer of %d bytes for a body of %d", len(buf), size+MACSize))
		}
		return buf[:c.takeRest(buf)], nil
	}
	message, err := c.machine.ReadBody(&c.ahead, buf)
	if err != nil {
		return nil, c.fault("read", err)
	}
	return message, nil
}
