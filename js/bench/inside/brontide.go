//go:build js && wasm

package main

import (
	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/brontide"
)

// connected returns the two ends of a connection.
func connected() (initiator, responder *brontide.Stream, err error) {
	keys := make([]*btcec.PrivateKey, 2)
	for i := range keys {
		if keys[i], err = btcec.NewPrivateKey(); err != nil {
			return nil, nil, err
		}
	}
	ends := make([]*brontide.Stream, 2)
	for i, key := range keys {
		machine, err := brontide.NewBrontideMachine(i == 0, brontide.NewPrivKeyECDH(key), keys[1].PubKey())
		if err != nil {
			return nil, nil, err
		}
		ends[i] = brontide.NewStream(machine)
	}
	act, err := ends[0].Start()
	for i := 1; err == nil && act != nil; i ^= 1 {
		act, _, err = ends[i].Receive(act)
	}
	return ends[0], ends[1], err
}

// brontideMessage encrypts and decrypts a message of n bytes.
func brontideMessage(n, calls int) ([]float64, error) {
	initiator, responder, err := connected()
	if err != nil {
		return nil, err
	}
	message := make([]byte, n)
	packet := make([]byte, 0, brontide.HeaderSize+n+brontide.MACSize)
	read := make([]byte, 0, n+brontide.MACSize)
	var watch stopwatch
	watch.start()
	for range calls {
		packet, err := initiator.AppendPacket(packet[:0], message)
		if err != nil {
			return nil, err
		}
		if _, _, err := responder.AppendMessage(read[:0], &packet); err != nil {
			return nil, err
		}
	}
	watch.lap()
	return watch.phases, nil
}
