package lnpeer

import (
	"encoding/binary"
	"fmt"
)

const (
	// MaxPings is how many pings may be unanswered at a time.
	MaxPings = 32
	// MaxPingPadding is the most bytes of padding that fit into a ping.
	MaxPingPadding = MaxMessageSize - typeSize - 2 - 2
	// NoPong is the least number of pong bytes that asks for no pong at all:
	// one more than fits into a message (BOLT-1, "The ping and pong
	// Messages").
	NoPong = MaxMessageSize - typeSize - 2 + 1
)

// Ping returns a ping message that asks for a pong with numPongBytes bytes of
// padding, or for none if numPongBytes is NoPong or more, and that carries
// padding zero bytes itself, at most MaxPingPadding. The errors are ErrNotReady,
// ErrArgument, ErrTooManyPings and ErrClosed.
func (p *Peer) Ping(numPongBytes uint16, padding int) ([]byte, error) {
	if err := p.sendable(); err != nil {
		return nil, err
	}
	if padding < 0 || padding > MaxPingPadding {
		return nil, newError(ErrArgument, fmt.Sprintf("padding: %d is not from 0 to %d bytes", padding, MaxPingPadding))
	}
	if numPongBytes < NoPong {
		if len(p.pings) == MaxPings {
			return nil, newError(ErrTooManyPings, fmt.Sprintf("%d pings are unanswered", MaxPings))
		}
		p.pings = append(p.pings, numPongBytes)
	}
	b := binary.BigEndian.AppendUint16(newMessage(TypePing), numPongBytes)
	return appendPrefixed(b, make([]byte, padding)), nil
}

// receivePing returns the pong that a ping asks for, or nil.
func receivePing(payload []byte) ([]byte, error) {
	if len(payload) < 2 {
		return nil, newError(ErrMalformed, "a ping without the number of pong bytes")
	}
	if _, _, err := lengthPrefixed(payload[2:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint16(payload)
	if n >= NoPong {
		return nil, nil
	}
	return appendPrefixed(newMessage(TypePong), make([]byte, n)), nil
}

// receivePong returns the event if the pong answers the oldest ping. One that
// was not asked for is let pass without an event, which BOLT-1 allows.
func (p *Peer) receivePong(payload []byte) (Event, error) {
	padding, _, err := lengthPrefixed(payload)
	if err != nil {
		return nil, err
	}
	if len(p.pings) == 0 || int(p.pings[0]) != len(padding) {
		return nil, nil
	}
	p.pings = p.pings[1:]
	return &Pong{Length: uint16(len(padding))}, nil
}
