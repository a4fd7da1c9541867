// Package brontide_test has the project's brontide and lnd's talk to each other.
package brontide_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/brontosig/brontosig/brontide"
	"github.com/btcsuite/btcd/btcec/v2"
	lnd "github.com/lightningnetwork/lnd/brontide"
	"github.com/lightningnetwork/lnd/keychain"
)

// machine is what the two packages have in common, under the same names.
type machine interface {
	GenActOne() ([brontide.ActOneSize]byte, error)
	RecvActOne([brontide.ActOneSize]byte) error
	GenActTwo() ([brontide.ActTwoSize]byte, error)
	RecvActTwo([brontide.ActTwoSize]byte) error
	GenActThree() ([brontide.ActThreeSize]byte, error)
	RecvActThree([brontide.ActThreeSize]byte) error
	WriteMessage([]byte) error
	Flush(io.Writer) (int, error)
	ReadMessage(io.Reader) ([]byte, error)
	ReadHeader(io.Reader) (uint32, error)
	ReadBody(io.Reader, []byte) ([]byte, error)
}

var (
	_ machine = (*brontide.Machine)(nil)
	_ machine = (*lnd.Machine)(nil)
)

// lndKey is a static key as lnd has it. Both packages take it.
func lndKey(t testing.TB) keychain.SingleKeyECDH {
	return &keychain.PrivKeyECDH{PrivKey: must(btcec.NewPrivateKey())(t)}
}

// must returns a value or ends the test.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pairs has the two roles in which the packages can meet.
var pairs = map[string]bool{"we initiate": true, "lnd initiates": false}

// makePair returns our machine and lnd's, before the handshake.
func makePair(t testing.TB, weInitiate bool) (ours *brontide.Machine, theirs *lnd.Machine) {
	t.Helper()
	a, b := lndKey(t), lndKey(t)
	ours = must(brontide.NewBrontideMachine(weInitiate, a, b.PubKey()))(t)
	theirs = lnd.NewBrontideMachine(!weInitiate, b, a.PubKey())
	return ours, theirs
}

func shake(t testing.TB, initiator, responder machine) {
	t.Helper()
	check(t, responder.RecvActOne(must(initiator.GenActOne())(t)))
	check(t, initiator.RecvActTwo(must(responder.GenActTwo())(t)))
	check(t, responder.RecvActThree(must(initiator.GenActThree())(t)))
}

func shaken(t testing.TB, weInitiate bool) (ours *brontide.Machine, theirs *lnd.Machine) {
	t.Helper()
	ours, theirs = makePair(t, weInitiate)
	if weInitiate {
		shake(t, ours, theirs)
	} else {
		shake(t, theirs, ours)
	}
	return ours, theirs
}

func newRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// source cuts random messages out of random bytes, which are costly to make.
type source struct {
	rng  *rand.Rand
	pool []byte
}

func newSource(rng *rand.Rand) *source {
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(rng.Uint32())
	}
	s := &source{rng, make([]byte, 2*brontide.MaxMessageSize)}
	rand.NewChaCha8(seed).Read(s.pool)
	return s
}

func (s *source) message(maxSize int) []byte {
	size := s.rng.IntN(maxSize + 1)
	at := s.rng.IntN(len(s.pool) - size)
	return s.pool[at : at+size]
}

const messages = 5000

// TestInterleavedMessages sends messages of all lengths both ways, in an order
// drawn at random. Each direction changes its key four times or five.
func TestInterleavedMessages(t *testing.T) {
	for name, weInitiate := range pairs {
		t.Run(name, func(t *testing.T) {
			ours, theirs := shaken(t, weInitiate)
			rng := newRand(t)
			s := newSource(rng)
			var wire bytes.Buffer
			count := [2]int{}
			for range messages {
				direction := rng.IntN(2)
				count[direction]++
				from, to := [2]machine{ours, theirs}[direction], [2]machine{theirs, ours}[direction]
				want := s.message(brontide.MaxMessageSize)
				check(t, from.WriteMessage(want))
				must(from.Flush(&wire))(t)
				if got := must(to.ReadMessage(&wire))(t); !bytes.Equal(got, want) {
					t.Fatalf("a message of %d bytes differs", len(want))
				}
			}
			t.Logf("%d from us, %d from lnd", count[0], count[1])
		})
	}
}

// TestEverySplit sends the same number of messages one byte at a time, so that
// each boundary between two bytes, of acts, headers and bodies, is a split.
func TestEverySplit(t *testing.T) {
	for name, weInitiate := range pairs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			machine, theirs := makePair(t, weInitiate)
			ours := brontide.NewStream(machine)
			handshakeByBytes(t, ours, theirs, weInitiate)
			rng := newRand(t)
			s := newSource(rng)
			for range messages {
				want := s.message(brontide.MaxMessageSize)
				if rng.IntN(2) == 0 {
					wire := oneByte(must(ours.Encrypt(want))(t))
					if got := must(theirs.ReadMessage(&wire))(t); !bytes.Equal(got, want) {
						t.Fatalf("a message of %d bytes to lnd differs", len(want))
					}
					continue
				}
				var wire bytes.Buffer
				check(t, theirs.WriteMessage(want))
				must(theirs.Flush(&wire))(t)
				got := receiveByBytes(t, ours, wire.Bytes())
				if !bytes.Equal(got, want) {
					t.Fatalf("a message of %d bytes from lnd differs", len(want))
				}
			}
		})
	}
}

// oneByte reads one byte at a time.
type oneByte []byte

func (b *oneByte) Read(p []byte) (int, error) {
	if len(*b) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:1], *b)
	*b = (*b)[n:]
	return n, nil
}

// receiveByBytes returns the one message that packet holds, and fails if it
// comes before the last byte.
func receiveByBytes(t *testing.T, s *brontide.Stream, packet []byte) []byte {
	t.Helper()
	last := len(packet) - 1
	for i := range packet {
		send, got, err := s.Receive(packet[i : i+1])
		if err != nil || len(send) != 0 || len(got) == 1 != (i == last) {
			t.Fatalf("%d messages after byte %d of %d, error %v", len(got), i, len(packet), err)
		}
		if i == last {
			return got[0]
		}
	}
	return nil
}

func handshakeByBytes(t *testing.T, ours *brontide.Stream, theirs *lnd.Machine, weInitiate bool) {
	t.Helper()
	if weInitiate {
		one := must(ours.Start())(t)
		check(t, theirs.RecvActOne([brontide.ActOneSize]byte(one)))
		two := must(theirs.GenActTwo())(t)
		three := sendByBytes(t, ours, two[:])
		check(t, theirs.RecvActThree([brontide.ActThreeSize]byte(three)))
		return
	}
	one := must(theirs.GenActOne())(t)
	two := sendByBytes(t, ours, one[:])
	check(t, theirs.RecvActTwo([brontide.ActTwoSize]byte(two)))
	three := must(theirs.GenActThree())(t)
	sendByBytes(t, ours, three[:])
}

// sendByBytes returns the answer to an act.
func sendByBytes(t *testing.T, s *brontide.Stream, act []byte) (answer []byte) {
	t.Helper()
	for i := range act {
		send, _, err := s.Receive(act[i : i+1])
		check(t, err)
		answer = append(answer, send...)
	}
	return answer
}
