package brontide

import (
	"errors"

	"github.com/btcsuite/btcd/btcec/v2"
)

// State is how far a Stream has come.
type State int

// States of a Stream.
const (
	// StateHandshake is the state until the handshake has ended.
	StateHandshake State = iota
	// StateReady is the state in which messages go both ways.
	StateReady
	// StateFailed is the state after any failure and after Wipe.
	StateFailed
)

// Stream drives a Machine with bytes that arrive in any split: an act, a header
// or a body may come in pieces, and several in one piece. It hands out whole
// messages and what is to be sent. Whoever calls it owns the transport. It is
// for one goroutine.
type Stream struct {
	m   *Machine
	act [ActThreeSize]byte
	n   int
	// began says that an initiator's act one was handed out.
	began bool
}

// NewStream returns a Stream over m, which has done nothing yet and is not used
// in other ways from then on.
func NewStream(m *Machine) *Stream { return &Stream{m: m} }

// Start returns what to send first: act one for an initiator, nothing for a
// responder. An initiator calls it once, before Receive; again gives
// ErrWrongAct.
func (s *Stream) Start() ([]byte, error) {
	if !s.m.handshake.initiator {
		if s.m.poisoned.Load() {
			return nil, errPoisoned()
		}
		return nil, nil
	}
	act, err := s.m.GenActOne()
	if err != nil {
		return nil, err
	}
	s.began = true
	return act[:], nil
}

// Receive takes bytes from the other side, any number of them, and keeps
// nothing of p. It returns what to send (an act of the handshake, or nil) and
// the messages that are complete, each in a slice of its own. Bytes after a
// failure are dropped. When an error comes after good messages, both are
// returned.
func (s *Stream) Receive(p []byte) (send []byte, messages [][]byte, err error) {
	if s.m.handshake.initiator && !s.began && !s.m.poisoned.Load() {
		return nil, nil, newError(ErrWrongAct, "bytes received before Start")
	}
	in := chunk(p)
	for !s.m.done || s.m.poisoned.Load() {
		reply, err := s.receiveAct(&in)
		if errors.Is(err, errNeedMore) {
			return send, nil, nil
		}
		if err != nil {
			return nil, nil, err
		}
		send = append(send, reply...)
	}
	for {
		message, err := s.m.ReadMessage(&in)
		if errors.Is(err, errNeedMore) {
			return send, messages, nil
		}
		if err != nil {
			s.Wipe()
			return send, messages, err
		}
		messages = append(messages, message)
	}
}

// receiveAct completes and takes the act that is due and returns the answer.
func (s *Stream) receiveAct(in *chunk) ([]byte, error) {
	if s.m.poisoned.Load() {
		return nil, errPoisoned()
	}
	number := s.m.handshake.next
	size := ActOneSize
	if number == 3 {
		size = ActThreeSize
	}
	if err := fill(in, s.act[:size], &s.n); err != nil {
		return nil, err
	}
	s.n = 0
	switch number {
	case 1:
		if err := s.m.RecvActOne([ActOneSize]byte(s.act[:])); err != nil {
			return nil, err
		}
		act, err := s.m.GenActTwo()
		return act[:], err
	case 2:
		if err := s.m.RecvActTwo([ActTwoSize]byte(s.act[:])); err != nil {
			return nil, err
		}
		act, err := s.m.GenActThree()
		return act[:], err
	default:
		return nil, s.m.RecvActThree(s.act)
	}
}

// Encrypt returns a message as it goes over the transport, in a new slice. The
// errors are ErrMaxMessageLengthExceeded and ErrHandshakeIncomplete, which
// change nothing, and ErrPoisoned.
func (s *Stream) Encrypt(message []byte) ([]byte, error) {
	if err := s.m.WriteMessage(message); err != nil {
		return nil, err
	}
	// The packet is handed over whole, so there is nothing left to flush.
	packet := s.m.out.packet
	s.m.out.packet = nil
	return packet, nil
}

// End says whether the stream of the other side may end here: nil between two
// messages, ErrNotAnswered for an initiator that has received nothing,
// ErrTruncated anywhere else, ErrPoisoned after a failure. That an end is in a
// good place does not make it genuine: ends are not authenticated.
func (s *Stream) End() error {
	switch {
	case s.m.poisoned.Load():
		return errPoisoned()
	case s.m.done && s.m.in.n == 0 && s.m.in.bodySize == 0:
		return nil
	case s.m.done:
		return newError(ErrTruncated, "the stream ended inside a message")
	default:
		return endOfHandshake(s.m, s.n)
	}
}

// endOfHandshake returns the error for a stream that ended when n bytes of the
// act due had come.
func endOfHandshake(m *Machine, n int) error {
	number := m.handshake.next
	if number == 2 && n == 0 {
		return &Error{Kind: ErrNotAnswered, Act: number,
			Desc: "the peer hung up on act one: most likely its key is not the expected one"}
	}
	return &Error{Kind: ErrTruncated, Act: number, Desc: "the stream ended inside the handshake"}
}

// State returns how far the Stream has come.
func (s *Stream) State() State {
	switch {
	case s.m.poisoned.Load():
		return StateFailed
	case s.m.done:
		return StateReady
	default:
		return StateHandshake
	}
}

// RemotePub returns the static public key of the other side, nil for a
// responder before act three.
func (s *Stream) RemotePub() *btcec.PublicKey { return s.m.RemotePub() }

// Wipe overwrites the keys. Every later call returns ErrPoisoned.
func (s *Stream) Wipe() {
	s.m.Wipe()
	clear(s.act[:])
}

// errNeedMore ends the reading of a chunk.
var errNeedMore = errors.New("the chunk is used up")

// chunk is an io.Reader over the bytes that have arrived.
type chunk []byte

func (c *chunk) Read(p []byte) (int, error) {
	n := copy(p, *c)
	*c = (*c)[n:]
	if n == 0 {
		return 0, errNeedMore
	}
	return n, nil
}
