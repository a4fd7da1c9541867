package brontide

import (
	"fmt"
	"sync/atomic"

	"github.com/btcsuite/btcd/btcec/v2"
)

const (
	// MaxMessageSize is the length in bytes of the longest message.
	MaxMessageSize = 65535

	// HeaderSize is the length in bytes of an encrypted header: the length
	// of the message in 2 bytes, and a tag.
	HeaderSize = lengthSize + MACSize

	// lengthSize is the length in bytes of a message's big-endian length.
	lengthSize = 2
)

// Machine is one end of a BOLT-8 connection: first the handshake, then the
// messages. It does no input or output of its own.
//
// The acts of the handshake are for one goroutine. After it, one goroutine may
// write (WriteMessage, Flush) while another reads (ReadHeader, ReadBody,
// ReadMessage).
type Machine struct {
	handshake handshake

	// done is set when the handshake has ended well. poisoned is set for
	// good by the first failure or by Wipe. Each direction looks at it
	// before it does anything, and wipes its own key when it finds it set;
	// so a reader never touches what a writer is using.
	done     bool
	poisoned atomic.Bool

	in  inbound
	out outbound
}

// EphemeralGenerator sets the source of the ephemeral key of a Machine, for
// tests with known figures. The default, and what nil stands for, is
// btcec.NewPrivateKey. A key that is used for two handshakes gives both of them
// away.
func EphemeralGenerator(generate func() (*btcec.PrivateKey, error)) func(*Machine) {
	return func(m *Machine) {
		if generate != nil {
			m.handshake.generate = generate
		}
	}
}

// NewBrontideMachine returns a Machine for one connection. local is the static
// key of this side. remote is the static public key that the responder must
// have; a responder learns the initiator's in act three, and its remote is
// ignored. The error is ErrArgument for a key that is missing or not on the
// curve.
func NewBrontideMachine(initiator bool, local SingleKeyECDH, remote *btcec.PublicKey,
	options ...func(*Machine)) (*Machine, error) {

	if local == nil || !validKey(local.PubKey()) {
		return nil, newError(ErrArgument, "the local static key is missing or not on the curve")
	}
	responder := local.PubKey()
	if initiator {
		if !validKey(remote) {
			return nil, newError(ErrArgument, "the remote static key is missing or not on the curve")
		}
		responder = remote
	} else {
		remote = nil
	}
	m := new(Machine)
	m.handshake.init(initiator, local, remote, responder)
	for _, option := range options {
		option(m)
	}
	return m, nil
}

func validKey(key *btcec.PublicKey) bool { return key != nil && key.IsOnCurve() }

// RemotePub returns the static public key of the other side: for an initiator
// the one it was made with, for a responder nil until act three was accepted.
func (m *Machine) RemotePub() *btcec.PublicKey { return m.handshake.remote }

// LocalPub returns the static public key of this side.
func (m *Machine) LocalPub() *btcec.PublicKey { return m.handshake.local.PubKey() }

// Wipe overwrites the keys of the Machine, which is of no use afterwards: every
// call returns ErrPoisoned. The static key belongs to the caller and is left
// alone. No other method may be running.
func (m *Machine) Wipe() {
	m.poisoned.Store(true)
	m.handshake.wipe()
	m.in.wipe()
	m.out.wipe()
}

// usable returns nil if messages can be read and written.
func (m *Machine) usable() error {
	if m.poisoned.Load() {
		return errPoisoned()
	}
	if !m.done {
		return newError(ErrHandshakeIncomplete, "the handshake has not ended")
	}
	return nil
}

func errPoisoned() error {
	return newError(ErrPoisoned, "the connection has failed before, or its keys were wiped")
}

// describe adds to an error of this package which part of the traffic it is
// about.
func describe(err error, part string) error {
	if e, ok := err.(*Error); ok {
		e.Desc = part + ": " + e.Desc
		return e
	}
	return fmt.Errorf("brontide: %s: %w", part, err)
}
