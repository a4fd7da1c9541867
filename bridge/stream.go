//go:build !js

package bridge

import (
	"context"
	"errors"
	"io"

	"github.com/coder/websocket"
)

var (
	// errText means that the client sent a text message.
	errText = errors.New("text message")

	// errTooBig means that a message of the client has more bytes than allowed.
	errTooBig = errors.New("message too big")
)

// clientStream reads the client's binary messages as one stream of bytes: how
// they are cut means nothing. It holds no bytes itself.
type clientStream struct {
	ws      *websocket.Conn
	carrier *carrier  // under ws, or nil
	max     int       // bytes in one message; 0 is no limit
	message io.Reader // nil between two messages
	size    int       // of the message so far
}

// Read returns bytes of one message at a time.
func (s *clientStream) Read(p []byte) (int, error) {
	for {
		if err := s.next(); err != nil {
			return 0, err
		}
		n, err := s.message.Read(p)
		if s.size += n; s.max > 0 && s.size > s.max {
			return 0, errTooBig
		}
		if errors.Is(err, io.EOF) {
			s.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return n, err
		}
	}
}

// atBoundary tells whether the message that was read last is at its end.
func (s *clientStream) atBoundary() (bool, error) {
	var extra [1]byte
	for s.message != nil {
		n, err := s.message.Read(extra[:])
		if errors.Is(err, io.EOF) {
			s.message, err = nil, nil
		}
		if n > 0 || err != nil {
			return false, err
		}
	}
	return true, nil
}

// next waits for a message, unless there is one that was not read to its end.
func (s *clientStream) next() error {
	if s.message != nil {
		return nil
	}
	// A read ends when the connection is closed; a context that cannot end
	// spares the library a watcher for every read.
	kind, message, err := s.ws.Reader(context.Background())
	if err != nil {
		return err
	}
	s.message, s.size = message, 0
	if kind != websocket.MessageBinary {
		return errText
	}
	return nil
}

// await waits for a message, or for bytes of the present one.
func (s *clientStream) await() error {
	if s.message != nil {
		return nil
	}
	if err := s.carrier.await(); err != nil {
		return err
	}
	if _, ok := s.carrier.ready(); ok {
		return nil
	}
	return s.next()
}

// gather reads what Read does and, as far as there is room, all messages that
// are here already: one write to the node then takes them all. Empty messages
// may make it return 0.
func (s *clientStream) gather(p []byte) (n int, err error) {
	for count := 0; s.message == nil; count++ {
		size, ok := s.carrier.ready()
		if !ok || size > len(p)-n || s.max > 0 && size > s.max {
			if count > 0 {
				return n, nil
			}
			break
		}
		if err := s.whole(p[n : n+size]); err != nil {
			return n, err
		}
		n += size
	}
	return s.Read(p)
}

// whole reads a message of which all is here.
func (s *clientStream) whole(p []byte) error {
	if err := s.next(); err != nil {
		return err
	}
	if _, err := io.ReadFull(s.message, p); err != nil {
		return err
	}
	_, err := s.atBoundary()
	return err
}

// discard reads until that fails, and keeps nothing.
func (s *clientStream) discard() {
	for {
		if err := s.next(); err != nil && !errors.Is(err, errText) {
			return
		}
		if _, err := io.Copy(io.Discard, s.message); err != nil {
			return
		}
		s.message = nil
	}
}
