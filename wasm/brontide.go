//go:build js && wasm

package main

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/internal/abi"
	"github.com/brontosig/brontosig/internal/curve"
)

// machineCost is the memory of a machine in bytes: a message that is arriving,
// and the keys.
const machineCost = brontide.MaxMessageSize + 8<<10

// sizeBytes is the length of the size before each part of an output.
const sizeBytes = 4

// machineObject is a brontide.Stream behind a handle.
type machineObject struct {
	*brontide.Stream
	key *brontide.PrivKeyECDH
	failure
}

func (o *machineObject) wipe() {
	o.Wipe()
	o.key.Wipe()
}

func (o *machineObject) cost() int { return machineCost }

// failure is an error that came together with something to hand out first. The
// next call that receives returns it.
type failure struct{ pending error }

func (f *failure) take() error {
	err := f.pending
	f.pending = nil
	return err
}

// brontideNew makes one end of a connection and returns its handle. Input: the
// static secret key, and for an initiator the static public key of the other
// side.
//
//go:wasmexport brontide_new
func brontideNew(n, initiator uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		key, err := in.takeSecretKey(1)
		if err != nil {
			return 0, err
		}
		defer zero(key)
		var remote *btcec.PublicKey
		if initiator != 0 {
			if remote, err = in.takePublicKey(); err != nil {
				return 0, err
			}
		}
		if err := in.end(); err != nil {
			return 0, err
		}
		local := brontide.NewPrivKeyECDH(key)
		machine, err := brontide.NewBrontideMachine(initiator != 0, local, remote)
		if err != nil {
			local.Wipe()
			return 0, err
		}
		return handles.add(&machineObject{Stream: brontide.NewStream(machine), key: local})
	})
}

// brontideStart returns what to send first: act one, or nothing.
//
//go:wasmexport brontide_start
func brontideStart(n, machine uint32) int32 {
	return withObject(n, machine, func(o *machineObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		act, err := o.Start()
		if err != nil {
			return 0, err
		}
		return put(act)
	})
}

// brontideReceive takes bytes of the other side in any split. Output: what to
// send, and every message that is complete, each after its length in 4 bytes,
// little-endian. An error that comes after good messages is returned by the next
// call; the state tells that there is one.
//
//go:wasmexport brontide_receive
func brontideReceive(n, machine uint32) int32 {
	return withObject(n, machine, func(o *machineObject, in *input) (int32, error) {
		if err := o.take(); err != nil {
			return 0, err
		}
		p := in.takeAll()
		// Each message is shorter than its packet, of which a part may have
		// come before.
		out := room(len(p) + brontide.MaxMessageSize + 2*sizeBytes + brontide.ActThreeSize)
		send, err := o.ReceiveActs(&p)
		if o.State() != brontide.StateHandshake {
			o.key.Wipe() // of no more use
		}
		if err != nil {
			return 0, err
		}
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(send))), send...)
		any := false
		for o.State() == brontide.StateReady {
			at := len(out)
			body := out[:at+sizeBytes]
			var ok bool
			if body, ok, err = o.AppendMessage(body, &p); !ok {
				break
			}
			out, any = body, true
			binary.LittleEndian.PutUint32(out[at:], uint32(len(out)-at-sizeBytes))
		}
		if err != nil && !any {
			return 0, err
		}
		o.pending = err
		return keep(out)
	})
}

// brontideEncrypt returns a message as it goes over the transport. Input: the
// message.
//
//go:wasmexport brontide_encrypt
func brontideEncrypt(n, machine uint32) int32 {
	return withObject(n, machine, func(o *machineObject, in *input) (int32, error) {
		message := in.takeAll()
		packet, err := o.AppendPacket(room(brontide.HeaderSize+len(message)+brontide.MACSize), message)
		if err != nil {
			return 0, err
		}
		return keep(packet)
	})
}

// brontideEnd takes the end of the other side's bytes. It fails unless that is
// in a place where the stream may end.
//
//go:wasmexport brontide_end
func brontideEnd(n, machine uint32) int32 {
	return withObject(n, machine, func(o *machineObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		return 0, o.End()
	})
}

// brontideState returns the number of the state, an index into
// abi.MachineStates.
//
//go:wasmexport brontide_state
func brontideState(n, machine uint32) int32 {
	return withObject(n, machine, func(o *machineObject, in *input) (int32, error) {
		return int32(o.State()), in.end()
	})
}

// brontideRemoteKey returns the static public key of the other side, compressed,
// or nothing as long as it is not known.
//
//go:wasmexport brontide_remote_key
func brontideRemoteKey(n, machine uint32) int32 {
	return withObject(n, machine, func(o *machineObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		if o.RemotePub() == nil {
			return put()
		}
		return put(o.RemotePub().SerializeCompressed())
	})
}

// takePublicKey reads a compressed public key.
func (in *input) takePublicKey() (*btcec.PublicKey, error) {
	b, err := in.take(curve.CompressedSize)
	if err != nil {
		return nil, err
	}
	p, err := curve.ParseCompressed(b)
	if err != nil {
		return nil, &boundaryError{abi.InvalidPublicKey, "the public key is invalid: " + err.Error()}
	}
	return curve.NewPublicKey(&p), nil
}
