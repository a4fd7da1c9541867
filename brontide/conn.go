//go:build !(js && wasm)

package brontide

import (
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
)

// closeFlushTimeout bounds how long Close tries to send the rest of a message
// that a Write with a deadline left behind.
const closeFlushTimeout = time.Second

// Conn is a net.Conn whose traffic is BOLT-8 over another net.Conn, the carrier.
// The carrier's deadlines must leave it usable, as those of package net do.
//
// Read and Write treat the connection as a stream of bytes; ReadNextMessage,
// WriteMessage and Flush as one of messages. All methods may be called from
// several goroutines; ReadNextHeader and ReadNextBody belong together, so they
// are for one.
//
// Memory for messages is taken only while one is in flight; an idle Conn has a
// few kilobytes.
//
// The end of the stream is not authenticated: io.EOF says that the carrier ended
// between two messages, not that the peer meant it to.
type Conn struct {
	carrier net.Conn
	machine *Machine

	readMu sync.Mutex
	ahead  readAhead
	// rest is what Read has not yet handed out of a message, in restBuffer.
	rest       []byte
	restBuffer *buffer

	writeMu sync.Mutex
	// writeDeadline is the carrier's; nil if there is none.
	writeDeadline atomic.Pointer[time.Time]

	closing   sync.Once
	closed    atomic.Bool
	closeErrs error
}

func newConn(carrier net.Conn, machine *Machine) *Conn {
	return &Conn{carrier: carrier, machine: machine, ahead: readAhead{r: carrier}}
}

// Write sends p in as few messages as it takes, none if p is empty. A message
// that has been encrypted when the deadline passes counts in the result: it will
// be sent, by the next Write, Flush or Close.
func (c *Conn) Write(p []byte) (int, error) {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if _, err := c.flush(); err != nil {
		return 0, err
	}
	total := 0
	for len(p) > 0 {
		if c.writeExpired() {
			return total, os.ErrDeadlineExceeded
		}
		part := p[:min(len(p), MaxMessageSize)]
		if err := c.machine.WriteMessage(part); err != nil {
			return total, c.fault("write", err)
		}
		total += len(part)
		p = p[len(part):]
		if _, err := c.flush(); err != nil {
			return total, err
		}
	}
	return total, nil
}

// WriteMessage encrypts one message, which may be empty, and sends nothing:
// Flush does. The errors are those of Machine.WriteMessage.
func (c *Conn) WriteMessage(message []byte) error {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if err := c.machine.WriteMessage(message); err != nil {
		return c.fault("write", err)
	}
	return nil
}

// Flush sends what is left of an encrypted message and returns how many bytes
// the carrier took. After an error, such as a deadline, it can be called again.
func (c *Conn) Flush() (int, error) {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	return c.flush()
}

func (c *Conn) flush() (int, error) {
	n, err := c.machine.Flush(c.carrier)
	if err != nil {
		return n, c.fault("write", err)
	}
	return n, nil
}

// fault turns an error of the machine or the carrier into what a caller of a
// net.Conn expects. A failed authentication ends the carrier too: BOLT-8 lets
// nothing follow it.
func (c *Conn) fault(op string, err error) error {
	switch {
	case c.closed.Load():
		return &net.OpError{Op: op, Net: "brontide", Source: c.LocalAddr(), Addr: c.RemoteAddr(), Err: net.ErrClosed}
	case errors.Is(err, ErrMAC):
		return errors.Join(err, c.carrier.Close())
	default:
		return err
	}
}

// ClearPendingSend drops what Flush has not sent of a message, for a program that
// is about to give the connection up. The cipher counts messages, so the peer
// could read nothing that came after a dropped one: if there is one, every later
// call but Close fails with ErrPoisoned.
func (c *Conn) ClearPendingSend() {
	c.writeMu.Lock()
	defer c.writeMu.Unlock()
	if len(c.machine.out.packet) > 0 {
		c.machine.poisoned.Store(true)
		c.machine.out.wipe()
	}
}

// CloseWrite sends the rest of a message, if there is one, and ends this side's
// stream. It returns errors.ErrUnsupported where the carrier cannot do that.
func (c *Conn) CloseWrite() error {
	half, ok := c.carrier.(interface{ CloseWrite() error })
	if !ok {
		return errors.ErrUnsupported
	}
	if _, err := c.Flush(); err != nil {
		return err
	}
	return half.CloseWrite()
}

// Close closes the carrier and wipes the keys. Reads and writes that are under
// way return net.ErrClosed, and so do later ones. If a message is left over from
// a Write that timed out, Close tries for up to a second to send it.
func (c *Conn) Close() error {
	c.closing.Do(func() {
		var flushErr error
		// A Write that is under way would make Close wait for the peer.
		if c.writeMu.TryLock() {
			flushErr = c.flushLast()
			c.writeMu.Unlock()
		}
		c.closed.Store(true)
		closeErr := c.carrier.Close()

		// The carrier is closed, so whoever holds these is on the way out.
		c.readMu.Lock()
		defer c.readMu.Unlock()
		c.writeMu.Lock()
		defer c.writeMu.Unlock()
		c.machine.Wipe()
		c.dropRest()
		c.closeErrs = errors.Join(flushErr, closeErr)
	})
	return c.closeErrs
}

func (c *Conn) flushLast() error {
	if len(c.machine.out.packet) == 0 {
		return nil
	}
	if err := c.carrier.SetWriteDeadline(time.Now().Add(closeFlushTimeout)); err != nil {
		return err
	}
	_, err := c.machine.Flush(c.carrier)
	return err
}

// RemotePub returns the static public key that the peer has proved to hold.
func (c *Conn) RemotePub() *btcec.PublicKey { return c.machine.RemotePub() }

// LocalPub returns the static public key of this side.
func (c *Conn) LocalPub() *btcec.PublicKey { return c.machine.LocalPub() }

// LocalAddr returns the carrier's local address.
func (c *Conn) LocalAddr() net.Addr { return c.carrier.LocalAddr() }

// RemoteAddr returns the carrier's remote address.
func (c *Conn) RemoteAddr() net.Addr { return c.carrier.RemoteAddr() }

// SetDeadline sets the deadlines of Read and Write, as net.Conn says.
func (c *Conn) SetDeadline(t time.Time) error {
	c.storeWriteDeadline(t)
	return c.carrier.SetDeadline(t)
}

// SetReadDeadline sets the deadline of Read and ReadNextMessage.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.carrier.SetReadDeadline(t) }

// SetWriteDeadline sets the deadline of Write and Flush.
func (c *Conn) SetWriteDeadline(t time.Time) error {
	c.storeWriteDeadline(t)
	return c.carrier.SetWriteDeadline(t)
}

func (c *Conn) storeWriteDeadline(t time.Time) {
	if t.IsZero() {
		c.writeDeadline.Store(nil)
		return
	}
	c.writeDeadline.Store(&t)
}

// writeExpired reports whether the write deadline has passed. Write asks before
// it encrypts a message, so that a Write that had no time at all writes nothing.
func (c *Conn) writeExpired() bool {
	deadline := c.writeDeadline.Load()
	return deadline != nil && !time.Now().Before(*deadline)
}
