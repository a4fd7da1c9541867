package lnpeer

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// Config is what a Peer says about itself, and what it knows.
type Config struct {
	// Features is what init offers; nil means DefaultFeatures.
	Features Features
	// KnownFeatures are bits beyond those of BOLT-9 that the application
	// understands, even or odd: a peer may require their features.
	KnownFeatures []uint16
	// Networks are the chain hashes that init names, in the order of the
	// wire. If there are any, a peer that names only others is refused.
	Networks [][chainHashSize]byte
	// Keepalive is used by Poll.
	Keepalive Keepalive
	// Random is where the numbers of commando calls come from; nil means the
	// system's source.
	Random io.Reader
}

// Peer is one end of BOLT-1. It is for one goroutine.
type Peer struct {
	init []byte
	// known are the even bits, beyond those of BOLT-9, that may be required.
	known    map[int]bool
	networks [][chainHashSize]byte

	started bool
	closed  bool
	remote  *Init

	// pings are those whose pongs have not come, oldest first.
	pings      []sentPing
	lastPingID uint32
	nextLength int
	// pinged says that a ping was sent, the last one at lastPing.
	pinged    bool
	lastPing  Millis
	keepalive keepalive

	// calls are the commando calls that wait for their replies, with the bytes
	// that these may still have.
	calls  map[uint64]uint64
	random io.Reader
}

// New returns a Peer for one connection. The error is ErrArgument for features
// with both bits of a pair or without what they depend on, and for an init
// message that would be too long.
func New(cfg Config) (*Peer, error) {
	features := cfg.Features
	if features == nil {
		features = DefaultFeatures()
	}
	// A map that is longer than a message does not fit its own length field.
	if len(features) > MaxMessageSize {
		return nil, newError(ErrArgument, "features: too long for an init message")
	}
	known := make(map[int]bool)
	for _, bit := range cfg.KnownFeatures {
		known[int(bit&^1)] = true
	}
	for _, bit := range features.Bits() {
		if features.Has(bit ^ 1) {
			return nil, newError(ErrArgument, fmt.Sprintf("features: bits %d and %d are one feature's", bit&^1, bit|1))
		}
		// What this side offers, it knows.
		known[bit&^1] = true
	}
	if err := features.check(known); err != nil {
		return nil, newError(ErrArgument, "features: "+err.Error())
	}
	init := encodeInit(features, cfg.Networks)
	if len(init) > MaxMessageSize {
		return nil, newError(ErrArgument, "networks: too many for an init message")
	}
	if err := cfg.Keepalive.check(); err != nil {
		return nil, err
	}
	p := &Peer{
		init:      init,
		known:     known,
		networks:  slices.Clone(cfg.Networks),
		keepalive: keepalive{Keepalive: cfg.Keepalive},
		calls:     make(map[uint64]uint64),
		random:    cfg.Random,
	}
	if p.random == nil {
		p.random = rand.Reader
	}
	return p, nil
}

// Start returns this side's init message, which is the first to send. Nothing
// else may be sent until the other side's has come.
func (p *Peer) Start() ([]byte, error) {
	if p.started {
		return nil, newError(ErrAlreadyStarted, "init was sent already")
	}
	p.started = true
	return p.init, nil
}

// RemoteInit returns the init message of the other side, or nil if it has not
// come.
func (p *Peer) RemoteInit() *Init { return p.remote }

// Message returns a message of the given type for sending. The errors are
// ErrNotReady, ErrReservedType for init, ping, pong and commando requests,
// ErrArgument for a payload that does not fit, and ErrClosed.
func (p *Peer) Message(now Millis, typ uint16, payload []byte) ([]byte, error) {
	if err := p.sendable(); err != nil {
		return nil, err
	}
	switch typ {
	case TypeInit, TypePing, TypePong, TypeCommandoRequestPart, TypeCommandoRequest:
		return nil, newError(ErrReservedType, fmt.Sprintf("type: %d is sent by the peer itself", typ))
	}
	if len(payload) > MaxMessageSize-typeSize {
		return nil, newError(ErrArgument, fmt.Sprintf("payload: %d bytes; at most %d fit", len(payload), MaxMessageSize-typeSize))
	}
	p.keepalive.sent = now
	return append(newMessage(typ), payload...), nil
}

func (p *Peer) sendable() error {
	if p.closed {
		return errClosed()
	}
	if !p.started || p.remote == nil {
		return newError(ErrNotReady, "the init messages have not been exchanged")
	}
	return nil
}

func errClosed() error {
	return newError(ErrClosed, "the connection has failed before")
}

// Receive takes one message of the other side. The event, if not nil, is for the
// application; the reply, if not nil, is to be sent. An error of the other
// side's making ends the Peer: the reply is then a warning that says why, to be
// sent before the connection is closed.
func (p *Peer) Receive(now Millis, msg []byte) (event Event, reply []byte, err error) {
	if p.closed {
		return nil, nil, errClosed()
	}
	if !p.started {
		return nil, nil, newError(ErrNotReady, "Start comes before Receive")
	}
	first := p.remote == nil
	event, reply, err = p.receive(msg)
	if err == nil {
		if first {
			p.keepalive.start(now)
		}
		p.keepalive.received = now
		if reply != nil {
			p.keepalive.sent = now
		}
		return event, reply, nil
	}
	p.closed = true
	var e *Error
	// Before the other side's init, nothing may be sent.
	if p.remote == nil || !errors.As(err, &e) {
		return nil, nil, err
	}
	return nil, warning(e.Desc), err
}

func (p *Peer) receive(msg []byte) (Event, []byte, error) {
	if len(msg) < typeSize {
		return nil, nil, newError(ErrMalformed, "a message without a type")
	}
	typ, payload := binary.BigEndian.Uint16(msg), msg[typeSize:]
	if p.remote == nil {
		return p.receiveFirst(typ, payload)
	}
	switch typ {
	case TypeInit:
		return nil, nil, newError(ErrDuplicateInit, "a second init")
	case TypePing:
		pong, err := receivePing(payload)
		return nil, pong, err
	case TypePong:
		event, err := p.receivePong(payload)
		return event, nil, err
	case TypeCommandoReplyPart, TypeCommandoReply:
		event, err := p.receiveReply(payload, typ == TypeCommandoReply)
		return event, nil, err
	case TypeWarning:
		notice, err := parseNotice(payload)
		return &Warning{notice}, nil, err
	case TypeError:
		notice, err := parseNotice(payload)
		return &PeerError{notice}, nil, err
	}
	if typ%2 == 0 && !evenTypes[typ] {
		return nil, nil, newError(ErrUnknownType, fmt.Sprintf("a message of the unknown even type %d", typ))
	}
	return &Message{Type: typ, Payload: payload}, nil, nil
}

// receiveFirst takes the message that must be init.
func (p *Peer) receiveFirst(typ uint16, payload []byte) (Event, []byte, error) {
	if typ != TypeInit {
		desc := fmt.Sprintf("the first message has type %d, not init", typ)
		if typ == TypeError || typ == TypeWarning {
			// A node that turns a peer away may say why.
			if notice, err := parseNotice(payload); err == nil {
				desc += ": " + notice.Text()
			}
		}
		return nil, nil, newError(ErrNoInit, desc)
	}
	init, err := parseInit(payload)
	if err != nil {
		return nil, nil, err
	}
	p.remote = init
	if err := init.Features.check(p.known); err != nil {
		return nil, nil, err
	}
	if err := init.checkNetworks(p.networks); err != nil {
		return nil, nil, err
	}
	return init, nil, nil
}
