package lnpeer

import (
	"encoding/binary"
	"fmt"
	"io"
)

// Message types of commando, which Core Lightning serves (its plugin
// commando.c). Each carries a number of 8 bytes, big-endian, that names the
// call, and a part of the JSON of a request or of a reply.
const (
	// TypeCommandoRequestPart carries a part of a request; more follows.
	TypeCommandoRequestPart = 0x4c4d
	// TypeCommandoRequest carries the last part of a request.
	TypeCommandoRequest = 0x4c4f
	// TypeCommandoReplyPart carries a part of a reply; more follows.
	TypeCommandoReplyPart = 0x594b
	// TypeCommandoReply carries the last part of a reply.
	TypeCommandoReply = 0x594d
)

const (
	// MaxCommandoPart is the most bytes of JSON in one message.
	MaxCommandoPart = 65000
	// MaxCommandoRequest is the most bytes of a request. Core Lightning
	// ignores a longer one without a word.
	MaxCommandoRequest = 1 << 20
	// MaxCalls is how many calls may be waiting for their replies at a time.
	MaxCalls = 1000
)

// commandoHeaderSize is the length of the number of a call.
const commandoHeaderSize = 8

// CommandoPart is a part of the reply to a call. The parts of one reply come in
// order; those of several replies may come in any interleaving. Joined they are
// the JSON of the reply.
type CommandoPart struct {
	// Call is the number of the call.
	Call uint64
	// Data is a part of the message given to Receive.
	Data []byte
	// Last says that the reply is complete. The call is over.
	Last bool
}

// CommandoTooLong says that a reply is longer than the call allows. The call is
// over: what else comes of the reply is dropped.
type CommandoTooLong struct {
	// Call is the number of the call.
	Call uint64
}

func (*CommandoPart) event()    {}
func (*CommandoTooLong) event() {}

// Call begins a commando call. It returns a random number for it and the
// messages that carry the request. They are to be sent in order, and those of
// one call before the first of the next: the node keeps one unfinished request
// of a peer and drops it when another begins. The node decides what a request is
// worth: nothing is repeated by itself, for a call may be a payment.
//
// The reply comes as events, of at most maxReply bytes together. The errors are
// ErrNotReady, ErrArgument for a request that is empty or has more than
// MaxCommandoRequest bytes, ErrTooManyCalls, ErrRandom and ErrClosed.
func (p *Peer) Call(now Millis, request []byte, maxReply uint64) (call uint64, msgs [][]byte, err error) {
	if err := p.sendable(); err != nil {
		return 0, nil, err
	}
	if len(request) == 0 || len(request) > MaxCommandoRequest {
		return 0, nil, newError(ErrArgument, fmt.Sprintf("request: %d bytes, 1 to %d expected", len(request), MaxCommandoRequest))
	}
	if len(p.calls) == MaxCalls {
		return 0, nil, newError(ErrTooManyCalls, fmt.Sprintf("%d calls are waiting for their replies", MaxCalls))
	}
	for {
		var number [commandoHeaderSize]byte
		if _, err := io.ReadFull(p.random, number[:]); err != nil {
			return 0, nil, newError(ErrRandom, "the number of a call: "+err.Error())
		}
		call = binary.BigEndian.Uint64(number[:])
		if _, used := p.calls[call]; !used {
			break
		}
	}
	p.calls[call] = maxReply
	p.keepalive.sent = now
	for len(request) > MaxCommandoPart {
		msgs = append(msgs, commandoMessage(TypeCommandoRequestPart, call, request[:MaxCommandoPart]))
		request = request[MaxCommandoPart:]
	}
	return call, append(msgs, commandoMessage(TypeCommandoRequest, call, request)), nil
}

func commandoMessage(typ uint16, call uint64, part []byte) []byte {
	msg := make([]byte, 0, typeSize+commandoHeaderSize+len(part))
	msg = binary.BigEndian.AppendUint16(msg, typ)
	msg = binary.BigEndian.AppendUint64(msg, call)
	return append(msg, part...)
}

// EndCall gives a call up: what comes of its reply is dropped. A number that
// names no call is let pass.
func (p *Peer) EndCall(call uint64) { delete(p.calls, call) }

// receiveReply takes a part of a reply. One that belongs to no call is dropped,
// as it may belong to a call that was given up.
func (p *Peer) receiveReply(payload []byte, last bool) (Event, error) {
	if len(payload) < commandoHeaderSize {
		return nil, newError(ErrMalformed, "a commando reply without a number")
	}
	call, data := binary.BigEndian.Uint64(payload), payload[commandoHeaderSize:]
	left, ok := p.calls[call]
	if !ok {
		return nil, nil
	}
	if uint64(len(data)) > left {
		delete(p.calls, call)
		return &CommandoTooLong{call}, nil
	}
	p.calls[call] = left - uint64(len(data))
	if last {
		delete(p.calls, call)
	}
	return &CommandoPart{call, data, last}, nil
}
