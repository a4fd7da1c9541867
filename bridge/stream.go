package bridge

import (
	"context"
	"errors"
	"io"

	"github.com/coder/websocket"
)

// errText means that the client sent a text message.
var errText = errors.New("text message")

// clientStream reads the client's binary messages as one stream of bytes: how
// they are cut means nothing. It holds no bytes itself.
type clientStream struct {
	ws      *websocket.Conn
	message io.Reader // nil between two messages
}

// Read returns bytes of one message at a time.
func (s *clientStream) Read(p []byte) (int, error) {
	for {
		if err := s.next(); err != nil {
			return 0, err
		}
		n, err := s.message.Read(p)
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
	if kind != websocket.MessageBinary {
		return errText
	}
	s.message = message
	return nil
}
