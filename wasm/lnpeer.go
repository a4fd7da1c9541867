//go:build js && wasm

package main

import (
	"encoding/binary"
	"math"

	"github.com/brontosig/brontosig/internal/abi"
	"github.com/brontosig/brontosig/lnpeer"
)

// peerObject is a lnpeer.Peer behind a handle.
type peerObject struct {
	*lnpeer.Peer
	failure
	clock clock
}

// wipe does nothing: a peer holds no secret.
func (o *peerObject) wipe() {}

// cost is that of both init messages, the pings and the calls.
func (o *peerObject) cost() int { return 2*lnpeer.MaxMessageSize + 64<<10 }

// clock makes of the time that JavaScript passes, milliseconds of which only the
// lower 32 bits arrive, one that does not wrap around every 49 days.
type clock struct {
	now  lnpeer.Millis
	last uint32
}

func (c *clock) read(now uint32) lnpeer.Millis {
	c.now += lnpeer.Millis(now - c.last)
	c.last = now
	return c.now
}

// chainHashSize is the length in bytes of the hash that names a network.
const chainHashSize = 32

// lnpeerNew makes the base protocol of one connection and returns its handle.
// Input: with hasFeatures featuresSize bytes of features (otherwise the default
// is offered), knownCount feature bits of 2 bytes each, little-endian, and the
// chain hashes of networkCount networks. The times of the keepalive are in
// milliseconds; an interval of 0 turns it off. Here and everywhere below, now is
// a time in milliseconds, counted from anywhere, of which only the lower 32 bits
// matter.
//
//go:wasmexport lnpeer_new
func lnpeerNew(n, hasFeatures, featuresSize, knownCount, networkCount, keepaliveInterval, keepaliveTimeout uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		cfg := lnpeer.Config{Keepalive: lnpeer.Keepalive{
			Interval: lnpeer.Millis(keepaliveInterval),
			Timeout:  lnpeer.Millis(keepaliveTimeout),
		}}
		if hasFeatures != 0 {
			features, err := in.take(int(min(featuresSize, abi.MaxInputSize)))
			if err != nil {
				return 0, err
			}
			cfg.Features = append(lnpeer.Features{}, features...)
		}
		known, err := in.takeSlots(knownCount, 2)
		if err != nil {
			return 0, err
		}
		for _, bit := range known {
			cfg.KnownFeatures = append(cfg.KnownFeatures, binary.LittleEndian.Uint16(bit))
		}
		networks, err := in.takeSlots(networkCount, chainHashSize)
		if err != nil {
			return 0, err
		}
		for _, hash := range networks {
			cfg.Networks = append(cfg.Networks, [chainHashSize]byte(hash))
		}
		if err := in.end(); err != nil {
			return 0, err
		}
		peer, err := lnpeer.New(cfg)
		if err != nil {
			return 0, err
		}
		return handles.add(&peerObject{Peer: peer})
	})
}

// lnpeerStart returns the own init message.
//
//go:wasmexport lnpeer_start
func lnpeerStart(n, peer uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		init, err := o.Start()
		if err != nil {
			return 0, err
		}
		return put(init)
	})
}

// lnpeerReceive takes one message of the other side. Output: the number of the
// event in 1 byte, an index into abi.PeerEvents; a reply to send after its length
// in 4 bytes, little-endian; and what the event tells. After the event failure
// the next call returns the error.
//
//go:wasmexport lnpeer_receive
func lnpeerReceive(n, peer, now uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := o.take(); err != nil {
			return 0, err
		}
		event, reply, err := o.Receive(o.clock.read(now), in.takeAll())
		if err != nil && reply == nil {
			return 0, err
		}
		if message, ok := event.(*lnpeer.Message); ok && err == nil {
			return putMessage(message, reply)
		}
		o.pending = err
		number, parts := describeEvent(event)
		if err != nil {
			number = abi.EventFailure
		}
		return put(append(appendSized([][]byte{{number}}, reply), parts...)...)
	})
}

// putMessage writes the event that there are most of: after the reply the type
// in 2 bytes, little-endian, and the payload.
func putMessage(message *lnpeer.Message, reply []byte) (int32, error) {
	out := append(room(1+sizeBytes+len(reply)+2+len(message.Payload)), abi.EventMessage)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(reply)))
	out = append(out, reply...)
	out = binary.LittleEndian.AppendUint16(out, message.Type)
	return keep(append(out, message.Payload...))
}

// describeEvent encodes what any other event tells: for init the features after
// their length in 4 bytes, the networks likewise, and the own address; for a pong the number of
// its ping in 4 bytes, little-endian; for a warning or an error the channel and a
// text; for a reply the number of the call in 8 bytes, 1 byte that is 1 if it is
// complete, and the part; for one that is too long the number of the call.
func describeEvent(event lnpeer.Event) (number byte, parts [][]byte) {
	switch e := event.(type) {
	case *lnpeer.Init:
		var networks []byte
		for _, hash := range e.Networks {
			networks = append(networks, hash[:]...)
		}
		parts = appendSized(appendSized(nil, e.Features), networks)
		return abi.EventInit, append(parts, e.RemoteAddr)
	case *lnpeer.Pong:
		return abi.EventPong, [][]byte{binary.LittleEndian.AppendUint32(nil, e.ID)}
	case *lnpeer.Warning:
		return abi.EventWarning, [][]byte{e.ChannelID[:], []byte(e.Text())}
	case *lnpeer.PeerError:
		return abi.EventError, [][]byte{e.ChannelID[:], []byte(e.Text())}
	case *lnpeer.CommandoPart:
		last := byte(0)
		if e.Last {
			last = 1
		}
		return abi.EventReply, [][]byte{callNumber(e.Call), {last}, e.Data}
	case *lnpeer.CommandoTooLong:
		return abi.EventReplyTooLong, [][]byte{callNumber(e.Call)}
	}
	return abi.EventNone, nil
}

// callNumber encodes the number of a call, which JavaScript only hands back.
func callNumber(call uint64) []byte { return binary.LittleEndian.AppendUint64(nil, call) }

// lnpeerMessage returns a message for sending. Input: the payload.
//
//go:wasmexport lnpeer_message
func lnpeerMessage(n, peer, now, messageType uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if messageType > 0xffff {
			return 0, argumentError("the message type %d does not fit into 2 bytes", messageType)
		}
		message, err := o.Message(o.clock.read(now), uint16(messageType), in.takeAll())
		if err != nil {
			return 0, err
		}
		return put(message)
	})
}

// lnpeerPing makes a ping that asks for a pong of pongBytes, or with abi.AnyPong for
// one that tells it apart from others, and that carries padding bytes. Output:
// the number of the ping in 4 bytes, little-endian, and the message.
//
//go:wasmexport lnpeer_ping
func lnpeerPing(n, peer, now, pongBytes, padding uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		wanted := int(min(pongBytes, abi.MaxInputSize))
		if wanted == abi.AnyPong {
			wanted = lnpeer.AnyPong
		}
		id, ping, err := o.Ping(o.clock.read(now), wanted, int(min(padding, abi.MaxInputSize)))
		if err != nil {
			return 0, err
		}
		return put(binary.LittleEndian.AppendUint32(nil, id), ping)
	})
}

// lnpeerPingDelay returns in how many milliseconds the next ping may be sent.
//
//go:wasmexport lnpeer_ping_delay
func lnpeerPingDelay(n, peer, now uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		return int32(o.PingDelay(o.clock.read(now))), nil
	})
}

// lnpeerAbandonPing says that nobody waits for the pong to a ping any more.
//
//go:wasmexport lnpeer_abandon_ping
func lnpeerAbandonPing(n, peer, ping uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		o.AbandonPing(ping)
		return 0, nil
	})
}

// lnpeerPoll says what the keepalive asks for. Output: in how many milliseconds
// to call again in 4 bytes, little-endian, and a ping to send, if one is due.
//
//go:wasmexport lnpeer_poll
func lnpeerPoll(n, peer, now uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		ping, wait, err := o.Poll(o.clock.read(now))
		if err != nil {
			return 0, err
		}
		return put(binary.LittleEndian.AppendUint32(nil, uint32(min(wait, math.MaxInt32))), ping)
	})
}

// lnpeerDrained notes that the link has taken a message that had to wait.
//
//go:wasmexport lnpeer_drained
func lnpeerDrained(n, peer, now uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		o.Drained(o.clock.read(now))
		return 0, nil
	})
}

// lnpeerCall begins a commando call whose reply has at most maxReply bytes.
// Input: the request. Output: the number of the call in 8 bytes, and the messages
// to send, each after its length in 4 bytes, little-endian.
//
//go:wasmexport lnpeer_call
func lnpeerCall(n, peer, now, maxReply uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		call, messages, err := o.Call(o.clock.read(now), in.takeAll(), uint64(maxReply))
		if err != nil {
			return 0, err
		}
		parts := [][]byte{callNumber(call)}
		for _, message := range messages {
			parts = appendSized(parts, message)
		}
		return put(parts...)
	})
}

// lnpeerEndCall gives a commando call up. Input: the number of the call.
//
//go:wasmexport lnpeer_end_call
func lnpeerEndCall(n, peer uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		call, err := in.take(8)
		if err != nil {
			return 0, err
		}
		if err := in.end(); err != nil {
			return 0, err
		}
		o.EndCall(binary.LittleEndian.Uint64(call))
		return 0, nil
	})
}
