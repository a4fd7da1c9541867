package brontide_test

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"testing"
	"unsafe"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/internal/sidebyside"
	"github.com/btcsuite/btcd/btcec/v2"
	lnd "github.com/lightningnetwork/lnd/brontide"
)

// BenchmarkWriteMessage encrypts and flushes a message, ours beside lnd's.
func BenchmarkWriteMessage(b *testing.B) {
	for _, size := range []int{64, brontide.MaxMessageSize} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			ours, theirs := shaken(b, true)
			message := make([]byte, size)
			write := func(m machine) func() {
				return func() {
					// No helper of the test package is as fast as what is measured.
					if err := m.WriteMessage(message); err != nil {
						b.Fatal(err)
					}
					if _, err := m.Flush(io.Discard); err != nil {
						b.Fatal(err)
					}
				}
			}
			sidebyside.Run(b, write(ours), write(theirs))
		})
	}
}

// BenchmarkReadMessage has the shape of lnd's own benchmark: a header and a body
// of 60,000 bytes, read into the caller's buffer, again and again under the same
// nonce.
func BenchmarkReadMessage(b *testing.B) {
	for _, size := range []int{64, 60_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			ours, theirs := shaken(b, true)
			sidebyside.Run(b,
				readAgain(b, theirs, ours, size, field[uint64](ours, "in", "cipher", "nonce")),
				readAgain(b, ours, theirs, size, field[uint64](theirs, "recvCipher", "nonce")))
		})
	}
}

// readAgain returns a function that reads a message of from, always the same.
func readAgain(b *testing.B, from, to machine, size int, nonce *uint64) func() {
	var wire bytes.Buffer
	check(b, from.WriteMessage(make([]byte, size)))
	must(from.Flush(&wire))(b)
	packet, buf := wire.Bytes(), make([]byte, size+brontide.MACSize)
	var r bytes.Reader
	return func() {
		r.Reset(packet)
		n, err := to.ReadHeader(&r)
		if err == nil {
			_, err = to.ReadBody(&r, buf[:n])
		}
		if err != nil {
			b.Fatal(err)
		}
		*nonce = 0
	}
}

// field returns the address of a field that is not exported.
func field[T any](m any, path ...string) *T {
	v := reflect.ValueOf(m).Elem()
	for _, name := range path {
		v = v.FieldByName(name)
	}
	return (*T)(unsafe.Pointer(v.UnsafeAddr()))
}

// BenchmarkHandshake does both ends of a handshake, with keys that are made
// beforehand on both sides.
func BenchmarkHandshake(b *testing.B) {
	secret := [4]*btcec.PrivateKey{}
	for i := range secret {
		secret[i] = must(btcec.NewPrivateKey())(b)
	}
	local, remote := lndKey(b), lndKey(b)
	ephemeral := func(i int) func() (*btcec.PrivateKey, error) {
		return func() (*btcec.PrivateKey, error) {
			key := *secret[i] // ours wipes it
			return &key, nil
		}
	}
	ourLocal, ourRemote := brontide.NewPrivKeyECDH(secret[2]), brontide.NewPrivKeyECDH(secret[3])
	sidebyside.Run(b, func() {
		initiator := must(brontide.NewBrontideMachine(true, ourLocal, ourRemote.PubKey(), brontide.EphemeralGenerator(ephemeral(0))))(b)
		responder := must(brontide.NewBrontideMachine(false, ourRemote, nil, brontide.EphemeralGenerator(ephemeral(1))))(b)
		shake(b, initiator, responder)
	}, func() {
		initiator := lnd.NewBrontideMachine(true, local, remote.PubKey(), lnd.EphemeralGenerator(ephemeral(0)))
		responder := lnd.NewBrontideMachine(false, remote, nil, lnd.EphemeralGenerator(ephemeral(1)))
		shake(b, initiator, responder)
	})
}

// BenchmarkRoundTrip sends a message over TCP on loopback and waits until the
// other end has sent it back, both ends being ours, or lnd's.
func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{64, brontide.MaxMessageSize} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			message := make([]byte, size)
			sidebyside.Run(b, roundTrip(b, true, message), roundTrip(b, false, message))
		})
	}
}

func roundTrip(b *testing.B, ours bool, message []byte) func() {
	near, far := connect(b, ours, ours)
	go func() {
		for {
			got, err := far.ReadNextMessage()
			if err != nil {
				return // the end of the benchmark
			}
			if _, err := far.Write(got); err != nil {
				return
			}
		}
	}()
	return func() {
		if _, err := near.Write(message); err != nil {
			b.Fatal(err)
		}
		if _, err := near.ReadNextMessage(); err != nil {
			b.Fatal(err)
		}
	}
}
