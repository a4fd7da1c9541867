package lnpeer

import (
	"encoding/binary"
	"fmt"
	"slices"
)

const (
	// MaxPings is how many pings may be waiting for their pongs at a time.
	MaxPings = 32
	// MaxPingPadding is the most bytes of padding that fit into a ping.
	MaxPingPadding = MaxMessageSize - typeSize - 2 - 2
	// NoPong is the least number of pong bytes that asks for no pong at all:
	// one more than fits into a message (BOLT-1, "The ping and pong
	// Messages").
	NoPong = MaxMessageSize - typeSize - 2 + 1
	// AnyPong is a number of pong bytes that no ping that waits for its pong
	// has, a small one. The pong then says which ping it answers.
	AnyPong = -1
	// PingInterval is the least time between two pings. Nodes end a
	// connection that pings much more often.
	PingInterval Millis = 1000
)

// maxPongs bounds the pings that are remembered, abandoned ones included.
const maxPongs = 2 * MaxPings

// sentPing is a ping whose pong has not come.
type sentPing struct {
	id     uint32
	length int
	// abandoned says that nobody waits for the pong. It is remembered all the
	// same, lest a late pong be taken for that of another ping.
	abandoned bool
}

// PingDelay returns how long it is until the next ping may be sent, 0 for now.
func (p *Peer) PingDelay(now Millis) Millis {
	if !p.pinged {
		return 0
	}
	return max(0, p.lastPing+PingInterval-now)
}

// Ping returns a ping message and the number by which its Pong names it. It asks
// for a pong with pongBytes bytes of padding, or with AnyPong, or for none if
// pongBytes is NoPong or more, up to 65,535; and it carries padding zero bytes
// itself, at most MaxPingPadding. The errors are ErrNotReady, ErrArgument,
// ErrPingTooSoon, ErrTooManyPings and ErrClosed.
func (p *Peer) Ping(now Millis, pongBytes, padding int) (id uint32, msg []byte, err error) {
	if err := p.sendable(); err != nil {
		return 0, nil, err
	}
	if pongBytes < AnyPong || pongBytes > 0xffff {
		return 0, nil, newError(ErrArgument, fmt.Sprintf("pong bytes: %d is not from 0 to 65535", pongBytes))
	}
	if padding < 0 || padding > MaxPingPadding {
		return 0, nil, newError(ErrArgument, fmt.Sprintf("padding: %d is not from 0 to %d bytes", padding, MaxPingPadding))
	}
	if delay := p.PingDelay(now); delay > 0 {
		return 0, nil, newError(ErrPingTooSoon, fmt.Sprintf("the next ping may be sent in %d ms", delay))
	}
	waiting := 0
	for _, sent := range p.pings {
		if !sent.abandoned {
			waiting++
		}
	}
	if waiting == MaxPings && pongBytes < NoPong {
		return 0, nil, newError(ErrTooManyPings, fmt.Sprintf("%d pings are unanswered", MaxPings))
	}
	id, msg = p.ping(now, pongBytes, padding, false)
	return id, msg, nil
}

// ping makes a ping message and remembers what would answer it.
func (p *Peer) ping(now Millis, pongBytes, padding int, abandoned bool) (uint32, []byte) {
	if pongBytes == AnyPong {
		pongBytes = p.freeLength()
	}
	p.pinged, p.lastPing = true, now
	p.keepalive.sent = now
	p.lastPingID++
	if pongBytes < NoPong {
		if len(p.pings) == maxPongs {
			// At most half of them are waited for.
			oldest := slices.IndexFunc(p.pings, func(sent sentPing) bool { return sent.abandoned })
			p.pings = slices.Delete(p.pings, oldest, oldest+1)
		}
		p.pings = append(p.pings, sentPing{p.lastPingID, pongBytes, abandoned})
	}
	b := binary.BigEndian.AppendUint16(newMessage(TypePing), uint16(pongBytes))
	return p.lastPingID, appendPrefixed(b, make([]byte, padding))
}

// freeLength returns the first length from a moving start that no remembered
// ping has asked for. They are fewer than the lengths.
func (p *Peer) freeLength() int {
	for {
		length := p.nextLength
		p.nextLength = (p.nextLength + 1) % (2 * maxPongs)
		if !slices.ContainsFunc(p.pings, func(sent sentPing) bool { return sent.length == length }) {
			return length
		}
	}
}

// AbandonPing says that nobody waits for the pong of a ping any more. A number
// that names no ping is let pass.
func (p *Peer) AbandonPing(id uint32) {
	for i := range p.pings {
		if p.pings[i].id == id {
			p.pings[i].abandoned = true
		}
	}
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

// receivePong returns the event if somebody waits for the pong. It answers the
// oldest ping of its length, of those that are waited for if there are any: a
// ping that the other side never answers holds no other up. A pong that was not
// asked for is let pass without an event, which BOLT-1 allows.
func (p *Peer) receivePong(payload []byte) (Event, error) {
	padding, _, err := lengthPrefixed(payload)
	if err != nil {
		return nil, err
	}
	find := func(abandoned bool) int {
		return slices.IndexFunc(p.pings, func(sent sentPing) bool {
			return sent.length == len(padding) && sent.abandoned == abandoned
		})
	}
	at := find(false)
	if at < 0 {
		at = find(true)
	}
	if at < 0 {
		return nil, nil
	}
	sent := p.pings[at]
	p.pings = slices.Delete(p.pings, at, at+1)
	p.keepalive.answered()
	if sent.abandoned {
		return nil, nil
	}
	return &Pong{ID: sent.id, Length: uint16(sent.length)}, nil
}
