//go:build js && wasm

package main

import (
	"encoding/binary"

	"github.com/brontosig/brontosig/internal/abi"
	"github.com/brontosig/brontosig/lnpeer"
)

// peerObject is a lnpeer.Peer behind a handle.
type peerObject struct {
	*lnpeer.Peer
	failure
}

// wipe does nothing: a peer holds no secret.
func (o *peerObject) wipe() {}

// cost is that of both init messages.
func (o *peerObject) cost() int { return 2*lnpeer.MaxMessageSize + 4<<10 }

// chainHashSize is the length in bytes of the hash that names a network.
const chainHashSize = 32

// lnpeerNew makes the base protocol of one connection and returns its handle.
// Input: with hasFeatures featuresSize bytes of features (otherwise the default
// is offered), knownCount feature bits of 2 bytes each, little-endian, and the
// chain hashes of networkCount networks.
//
//go:wasmexport lnpeer_new
func lnpeerNew(n, hasFeatures, featuresSize, knownCount, networkCount uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		var cfg lnpeer.Config
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
func lnpeerReceive(n, peer uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := o.take(); err != nil {
			return 0, err
		}
		event, reply, err := o.Receive(in.takeAll())
		if err != nil && reply == nil {
			return 0, err
		}
		o.pending = err
		number, parts := describeEvent(event)
		if err != nil {
			number = abi.EventFailure
		}
		return put(append(appendSized([][]byte{{number}}, reply), parts...)...)
	})
}

// describeEvent encodes what an event tells: for init the features after their
// length in 4 bytes, the networks likewise, and the own address; for a message
// its type in 2 bytes, little-endian, and the payload; for a pong the length of
// its padding in 2 bytes; for a warning or an error the channel and a text.
func describeEvent(event lnpeer.Event) (number byte, parts [][]byte) {
	switch e := event.(type) {
	case *lnpeer.Init:
		var networks []byte
		for _, hash := range e.Networks {
			networks = append(networks, hash[:]...)
		}
		parts = appendSized(appendSized(nil, e.Features), networks)
		return abi.EventInit, append(parts, e.RemoteAddr)
	case *lnpeer.Message:
		return abi.EventMessage, [][]byte{binary.LittleEndian.AppendUint16(nil, e.Type), e.Payload}
	case *lnpeer.Pong:
		return abi.EventPong, [][]byte{binary.LittleEndian.AppendUint16(nil, e.Length)}
	case *lnpeer.Warning:
		return abi.EventWarning, [][]byte{e.ChannelID[:], []byte(e.Text())}
	case *lnpeer.PeerError:
		return abi.EventError, [][]byte{e.ChannelID[:], []byte(e.Text())}
	}
	return abi.EventNone, nil
}

// lnpeerMessage returns a message for sending. Input: the payload.
//
//go:wasmexport lnpeer_message
func lnpeerMessage(n, peer, messageType uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if messageType > 0xffff {
			return 0, argumentError("the message type %d does not fit into 2 bytes", messageType)
		}
		message, err := o.Message(uint16(messageType), in.takeAll())
		if err != nil {
			return 0, err
		}
		return put(message)
	})
}

// lnpeerPing returns a ping that asks for a pong of pongBytes and carries
// padding bytes.
//
//go:wasmexport lnpeer_ping
func lnpeerPing(n, peer, pongBytes, padding uint32) int32 {
	return withObject(n, peer, func(o *peerObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		if pongBytes > 0xffff {
			return 0, argumentError("%d pong bytes do not fit into 2 bytes", pongBytes)
		}
		ping, err := o.Ping(uint16(pongBytes), int(min(padding, abi.MaxInputSize)))
		if err != nil {
			return 0, err
		}
		return put(ping)
	})
}
