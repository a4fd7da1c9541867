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
	// in are the bytes that a call has been given; here, so that reading them
	// through an interface does not put them on the heap.
	in chunk
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
	if send, err = s.ReceiveActs(&p); err != nil {
		return nil, nil, err
	}
	for s.m.done {
		message, ok, err := s.AppendMessage([]byte{}, &p)
		if err != nil || !ok {
			return send, messages, err
		}
		messages = append(messages, message)
	}
	return send, nil, nil
}

// ReceiveActs is the part of Receive that does the handshake: it takes bytes off
// the front of p until the handshake has ended, or to the last, and returns what
// to send. Once the handshake has ended it takes none.
func (s *Stream) ReceiveActs(p *[]byte) (send []byte, err error) {
	if s.m.handshake.initiator && !s.began && !s.m.poisoned.Load() {
		return nil, newError(ErrWrongAct, "bytes received before Start")
	}
	s.in = *p
	defer func() { *p, s.in = s.in, nil }()
	for !s.m.done || s.m.poisoned.Load() {
		reply, err := s.receiveAct()
		if err == errNeedMore {
			return send, nil
		}
		if err != nil {
			return nil, err
		}
		send = append(send, reply...)
	}
	return send, nil
}

// AppendMessage is the part of Receive that reads messages, without allocating:
// it takes bytes off the front of p until a message is complete, and appends
// that to dst, which it makes longer only where its capacity does not suffice.
// Where p ends before that, ok is false and dst is returned as it was. The part
// of dst up to its capacity and p are apart.
func (s *Stream) AppendMessage(dst []byte, p *[]byte) (message []byte, ok bool, err error) {
	s.in = *p
	message, err = s.m.AppendMessage(dst, &s.in)
	*p, s.in = s.in, nil
	if err == errNeedMore {
		return dst, false, nil
	}
	if err != nil && s.m.poisoned.Load() {
		s.Wipe()
	}
	return message, err == nil, err
}

// actSize returns the length of the act that is to be received.
func (s *Stream) actSize() int {
	if s.m.handshake.next == 3 {
		return ActThreeSize
	}
	return ActOneSize
}

// receiveAct completes and takes the act that is due and returns the answer.
func (s *Stream) receiveAct() ([]byte, error) {
	if s.m.poisoned.Load() {
		return nil, errPoisoned()
	}
	if err := fill(&s.in, s.act[:s.actSize()], &s.n); err != nil {
		return nil, err
	}
	s.n = 0
	switch s.m.handshake.next {
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
func (s *Stream) Encrypt(message []byte) ([]byte, error) { return s.AppendPacket(nil, message) }

// AppendPacket is Encrypt that appends the HeaderSize+len(message)+MACSize bytes
// to dst, without allocating where its capacity suffices. The part of dst up to
// its capacity and message are apart. On an error it returns nil.
func (s *Stream) AppendPacket(dst, message []byte) ([]byte, error) {
	return s.m.appendPacket(dst, message)
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
