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
