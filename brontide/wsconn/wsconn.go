//go:build !(js && wasm)

// Package wsconn makes a net.Conn of a WebSocket, for brontide and whatever else
// wants a stream of bytes with deadlines that can pass without harm.
//
// The net.Conn that package websocket makes itself closes the WebSocket when a
// deadline passes, and with it all that was under way. Here the WebSocket is
// read and written by two goroutines, and a deadline ends only the waiting for
// them.
package wsconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"
)

const (
	// MaxMessageSize is the length in bytes of the longest WebSocket message
	// that is sent. There are servers that take no longer ones.
	MaxMessageSize = 16 << 10

	// closeTimeout bounds how long Close waits for what is under way and for
	// the peer's answer.
	closeTimeout = time.Second
)

// chunks are for what is on its way between the WebSocket and its user, so that
// an idle connection has none.
var chunks = sync.Pool{New: func() any { return new([MaxMessageSize]byte) }}

type conn struct {
	ws            *websocket.Conn
	local, remote net.Addr
	// cancel ends the two goroutines, and the WebSocket with them.
	cancel context.CancelFunc

	// writing keeps the parts of one Write together.
	writing sync.Mutex

	// mu guards what follows, and the two sides.
	mu     sync.Mutex
	closed bool
	// in is what has arrived and not been read; inErr follows it.
	in    []byte
	inErr error
	// out is handed to the writing goroutine, which sets it to nil when the
	// WebSocket has taken it, or sets outErr.
	out    []byte
	outErr error

	read, write side
	closing     sync.Once
	closeErr    error
}

// New returns a net.Conn over a WebSocket, which belongs to it from then on. It
// carries a stream of bytes in binary messages of at most MaxMessageSize bytes,
// and takes messages of any length.
//
// A deadline that passes leaves the connection as it is. What a Write has handed
// over when its deadline passes counts in its result, and will be sent. Read
// returns io.EOF when the peer has closed the WebSocket with status 1000 or
// 1001, an error for which websocket.CloseStatus tells the status if that is
// another, and io.ErrUnexpectedEOF if the connection broke without one. A
// message of text closes the WebSocket with status 1003. The addresses are those
// of the connection below, as far as package websocket knows it: on the side of
// the server. There is no CloseWrite, because WebSockets cannot do that.
//
// Close waits for up to a second until what was written has gone out and the
// peer has answered. If it has not, the rest is given up within ten seconds, in
// the background.
func New(ws *websocket.Conn) net.Conn {
	ctx, cancel := context.WithCancel(context.Background())
	// It knows the addresses, and has no other use here. It also lifts the
	// limit on the length of messages.
	addresses := websocket.NetConn(ctx, ws, websocket.MessageBinary)
	c := &conn{ws: ws, cancel: cancel, local: addresses.LocalAddr(), remote: addresses.RemoteAddr()}
	c.read.init(&c.mu)
	c.write.init(&c.mu)
	go c.readLoop(ctx)
	go c.writeLoop(ctx)
	return c
}

// side is one direction, in which calls wait for a goroutine, a deadline or
// Close.
type side struct {
	changed sync.Cond
	timer   *time.Timer
	expired bool
}

func (s *side) init(mu *sync.Mutex) { s.changed.L = mu }

func (s *side) setDeadline(t time.Time) {
	s.changed.L.Lock()
	defer s.changed.L.Unlock()
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	left := time.Until(t)
	s.expired = !t.IsZero() && left <= 0
	if !t.IsZero() && !s.expired {
		var timer *time.Timer
		timer = time.AfterFunc(left, func() {
			s.changed.L.Lock()
			defer s.changed.L.Unlock()
			if s.timer == timer {
				s.expired = true
				s.changed.Broadcast()
			}
		})
		s.timer = timer
	}
	s.changed.Broadcast()
}

// readLoop hands over what arrives, and reads on when it has been read.
func (c *conn) readLoop(ctx context.Context) {
	err := c.readMessages(ctx)
	c.mu.Lock()
	c.inErr = readError(err)
	c.read.changed.Broadcast()
	c.write.changed.Broadcast()
	c.mu.Unlock()
	if err == errText {
		// Read tells of the text, and need not tell whether this went well.
		_ = c.ws.Close(websocket.StatusUnsupportedData, err.Error())
	}
}

var errText = errors.New("a message of text, not bytes")

func (c *conn) readMessages(ctx context.Context) error {
	for {
		kind, message, err := c.ws.Reader(ctx)
		if err != nil {
			return err
		}
		if kind != websocket.MessageBinary {
			return errText
		}
		if err := c.readMessage(message); err != nil {
			return err
		}
	}
}

func (c *conn) readMessage(message io.Reader) error {
	chunk := chunks.Get().(*[MaxMessageSize]byte)
	defer chunks.Put(chunk)
	for {
		n, err := message.Read(chunk[:])
		c.deliver(chunk[:n])
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// deliver waits until b has been read. After Close it is dropped, so that the
// peer's answer to the closing comes through.
func (c *conn) deliver(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in = b
	c.read.changed.Broadcast()
	for len(c.in) > 0 && !c.closed {
		c.read.changed.Wait()
	}
	c.in = nil
}

// readError turns the end of a WebSocket into that of a stream.
func readError(err error) error {
	switch status := websocket.CloseStatus(err); {
	case status == websocket.StatusNormalClosure || status == websocket.StatusGoingAway:
		return io.EOF
	case errors.Is(err, io.EOF):
		return fmt.Errorf("wsconn: the connection broke: %w", io.ErrUnexpectedEOF)
	default:
		return fmt.Errorf("wsconn: %w", err)
	}
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		switch {
		case c.closed:
			return 0, net.ErrClosed
		case c.read.expired:
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case len(c.in) > 0:
			n := copy(p, c.in)
			if c.in = c.in[n:]; len(c.in) == 0 {
				c.read.changed.Broadcast()
			}
			return n, nil
		case c.inErr != nil:
			return 0, c.inErr
		}
		c.read.changed.Wait()
	}
}

// writeLoop sends what it is handed.
func (c *conn) writeLoop(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		for len(c.out) == 0 && !c.closed {
			c.write.changed.Wait()
		}
		if len(c.out) == 0 {
			return
		}
		out := c.out
		c.mu.Unlock()
		err := c.ws.Write(ctx, websocket.MessageBinary, out)
		c.mu.Lock()
		chunks.Put((*[MaxMessageSize]byte)(out[:MaxMessageSize]))
		c.out = nil
		c.write.changed.Broadcast()
		if err != nil {
			c.outErr = fmt.Errorf("wsconn: %w", err)
			return
		}
	}
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	c.writing.Lock()
	defer c.writing.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	total := 0
	for {
		// What an earlier Write has handed over goes first.
		if err := c.awaitWriter(); err != nil {
			return total, err
		}
		if total == len(p) {
			return total, nil
		}
		if c.inErr != nil {
			return total, io.ErrClosedPipe
		}
		chunk := chunks.Get().(*[MaxMessageSize]byte)
		n := copy(chunk[:], p[total:])
		c.out = chunk[:n]
		total += n
		c.write.changed.Broadcast()
	}
}

// awaitWriter waits until the writing goroutine has nothing to do.
func (c *conn) awaitWriter() error {
	for {
		switch {
		case c.closed:
			return net.ErrClosed
		case c.outErr != nil && c.inErr != nil:
			// Read says why.
			return io.ErrClosedPipe
		case c.outErr != nil:
			return c.outErr
		case c.write.expired:
			return os.ErrDeadlineExceeded
		case len(c.out) == 0:
			return nil
		}
		c.write.changed.Wait()
	}
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.closing.Do(func() {
		c.mu.Lock()
		ended := c.inErr != nil || c.outErr != nil
		c.closed = true
		c.read.changed.Broadcast()
		c.write.changed.Broadcast()
		c.mu.Unlock()

		done := make(chan error, 1)
		go func() { done <- c.closeWebSocket() }()
		timer := time.NewTimer(closeTimeout)
		defer timer.Stop()
		select {
		case err := <-done:
			// That the peer was faster is no failure.
			if !ended {
				c.closeErr = err
			}
		case <-timer.C:
		}
		c.cancel()
	})
	return c.closeErr
}

// closeWebSocket lets what is under way go out before the close frame.
func (c *conn) closeWebSocket() error {
	c.mu.Lock()
	for len(c.out) > 0 {
		c.write.changed.Wait()
	}
	c.mu.Unlock()
	return c.ws.Close(websocket.StatusNormalClosure, "")
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	c.read.setDeadline(t)
	c.write.setDeadline(t)
	return nil
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.read.setDeadline(t)
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.write.setDeadline(t)
	return nil
}
