package brontide

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/btcsuite/btcd/btcec/v2"
)

// newKey returns a random static key.
func newKey(t testing.TB) *PrivKeyECDH {
	t.Helper()
	return NewPrivKeyECDH(must[*btcec.PrivateKey](t)(btcec.NewPrivateKey()))
}

// randomPair returns two machines with random keys after their handshake.
func randomPair(t testing.TB) (initiator, responder *Machine) {
	t.Helper()
	i, r := newKey(t), newKey(t)
	initiator = must[*Machine](t)(NewBrontideMachine(true, i, r.PubKey()))
	responder = must[*Machine](t)(NewBrontideMachine(false, r, nil))
	shake(t, initiator, responder)
	return initiator, responder
}

func seededRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// transfer sends one message through a buffer and returns what arrives.
func transfer(t testing.TB, from, to *Machine, message []byte) []byte {
	t.Helper()
	var wire bytes.Buffer
	requireNil(t, from.WriteMessage(message))
	if n := must[int](t)(from.Flush(&wire)); n != len(message) || wire.Len() != HeaderSize+n+MACSize {
		t.Fatalf("Flush counted %d bytes of a message of %d and wrote %d", n, len(message), wire.Len())
	}
	got := must[[]byte](t)(to.ReadMessage(&wire))
	if wire.Len() != 0 {
		t.Fatalf("%d bytes left over", wire.Len())
	}
	return got
}

func TestMessageSizes(t *testing.T) {
	initiator, responder := randomPair(t)
	rng := seededRand(t)
	for _, size := range []int{0, 1, 2, 15, 16, 17, 63, 64, 65, 1023, 65534, MaxMessageSize} {
		message := randomBytes(rng, size)
		requireBytes(t, "to the responder", transfer(t, initiator, responder, message), message)
		requireBytes(t, "to the initiator", transfer(t, responder, initiator, message), message)
	}
}

func TestMessageTooLong(t *testing.T) {
	initiator, responder := randomPair(t)
	before := initiator.out.cipher
	requireKind(t, "65536 bytes", initiator.WriteMessage(make([]byte, MaxMessageSize+1)), ErrMaxMessageLengthExceeded)
	if initiator.out.cipher != before || len(initiator.out.packet) != 0 {
		t.Fatal("a refused message changed the machine")
	}
	requireBytes(t, "the next", transfer(t, initiator, responder, []byte("next")), []byte("next"))
}

func TestWriteWhilePending(t *testing.T) {
	initiator, responder := randomPair(t)
	requireNil(t, initiator.WriteMessage([]byte("first")))
	requireKind(t, "second", initiator.WriteMessage([]byte("second")), ErrMessageNotFlushed)
	var wire bytes.Buffer
	must[int](t)(initiator.Flush(&wire))
	if n := must[int](t)(initiator.Flush(&wire)); n != 0 {
		t.Fatalf("an empty Flush wrote %d bytes", n)
	}
	requireBytes(t, "first", must[[]byte](t)(responder.ReadMessage(&wire)), []byte("first"))
	requireBytes(t, "third", transfer(t, initiator, responder, []byte("third")), []byte("third"))
}

// TestRotation has both directions rotate their keys several times, with
// traffic interleaved at random. Were the chaining key shared, the second
// rotation would tell.
func TestRotation(t *testing.T) {
	initiator, responder := randomPair(t)
	rng := seededRand(t)
	rotations := map[*Machine]int{}
	for rotations[initiator] < 3 || rotations[responder] < 3 {
		from, to := initiator, responder
		if rng.IntN(2) == 0 {
			from, to = to, from
		}
		before := from.out.cipher.key
		message := randomBytes(rng, rng.IntN(100))
		requireBytes(t, "message", transfer(t, from, to, message), message)
		if from.out.cipher.key != before {
			rotations[from]++
		}
		if from.out.cipher.key != to.in.cipher.key || from.out.cipher.chainingKey != to.in.cipher.chainingKey {
			t.Fatal("the two ends of a direction have different keys")
		}
	}
}

// TestRotationInterval checks that a key does exactly 1000 operations.
func TestRotationInterval(t *testing.T) {
	initiator, responder := randomPair(t)
	first := initiator.out.cipher.key
	back := responder.out.cipher
	for i := range 500 {
		if initiator.out.cipher.key != first || initiator.out.cipher.nonce != uint64(2*i) {
			t.Fatalf("message %d: wrong key or nonce %d", i, initiator.out.cipher.nonce)
		}
		transfer(t, initiator, responder, nil)
	}
	if initiator.out.cipher.key == first || initiator.out.cipher.nonce != 0 {
		t.Fatal("no rotation after 500 messages")
	}
	if responder.out.cipher != back {
		t.Fatal("a rotation changed the other direction")
	}
}

// TestFailedDecryptPoisons flips each byte of a packet in turn.
func TestFailedDecryptPoisons(t *testing.T) {
	packetSize := HeaderSize + 3 + MACSize
	for i := range packetSize {
		initiator, responder := randomPair(t)
		var wire bytes.Buffer
		requireNil(t, initiator.WriteMessage([]byte("abc")))
		must[int](t)(initiator.Flush(&wire))
		good := bytes.Clone(wire.Bytes())
		wire.Bytes()[i] ^= 0x10
		_, err := responder.ReadMessage(&wire)
		requireKind(t, "flipped byte", err, ErrMAC)

		// Not even the genuine packet is read any more, and nothing is sent.
		_, err = responder.ReadMessage(bytes.NewReader(good))
		requireKind(t, "ReadMessage", err, ErrPoisoned)
		_, err = responder.ReadHeader(bytes.NewReader(good))
		requireKind(t, "ReadHeader", err, ErrPoisoned)
		_, err = responder.ReadBody(bytes.NewReader(good), make([]byte, 3+MACSize))
		requireKind(t, "ReadBody", err, ErrPoisoned)
		requireKind(t, "WriteMessage", responder.WriteMessage(nil), ErrPoisoned)
		_, err = responder.Flush(io.Discard)
		requireKind(t, "Flush", err, ErrPoisoned)
		if responder.in.cipher != (cipherState{}) || responder.out.cipher != (cipherState{}) {
			t.Fatal("a poisoned machine keeps its keys")
		}
	}
}

func TestWipe(t *testing.T) {
	initiator, responder := randomPair(t)
	requireNil(t, initiator.WriteMessage([]byte("never sent")))
	initiator.Wipe()
	requireKind(t, "WriteMessage", initiator.WriteMessage(nil), ErrPoisoned)
	_, err := initiator.Flush(io.Discard)
	requireKind(t, "Flush", err, ErrPoisoned)
	if initiator.out.cipher.key != [32]byte{} || initiator.in.cipher.key != [32]byte{} {
		t.Fatal("keys left")
	}
	if responder.handshake.e != nil || responder.handshake.ck != [32]byte{} || responder.handshake.tempKey != [32]byte{} {
		t.Fatal("the handshake's secrets outlive it")
	}

	fresh := must[*Machine](t)(NewBrontideMachine(false, newKey(t), nil))
	fresh.Wipe()
	requireKind(t, "an act", fresh.RecvActOne([ActOneSize]byte{}), ErrPoisoned)
}

// TestReadResumes reads a message through a reader that fails before every
// byte.
func TestReadResumes(t *testing.T) {
	initiator, responder := randomPair(t)
	for _, message := range [][]byte{nil, []byte("a message")} {
		var wire bytes.Buffer
		requireNil(t, initiator.WriteMessage(message))
		must[int](t)(initiator.Flush(&wire))
		r := &stutter{r: iotest.OneByteReader(&wire)}
		for {
			got, err := responder.ReadMessage(r)
			if errors.Is(err, errStutter) {
				continue
			}
			requireNil(t, err)
			requireBytes(t, "message", got, message)
			break
		}
	}
}

// TestReadBodyChangesBuffer goes on in another buffer in the middle of a body.
func TestReadBodyChangesBuffer(t *testing.T) {
	initiator, responder := randomPair(t)
	var wire bytes.Buffer
	requireNil(t, initiator.WriteMessage([]byte("moved")))
	must[int](t)(initiator.Flush(&wire))
	r := &stutter{r: iotest.OneByteReader(&wire)}
	for {
		if _, err := responder.ReadHeader(r); !errors.Is(err, errStutter) {
			requireNil(t, err)
			break
		}
	}
	size := must[uint32](t)(responder.ReadHeader(r))
	if size != 5+MACSize {
		t.Fatalf("body of %d bytes", size)
	}
	for {
		got, err := responder.ReadBody(r, make([]byte, size))
		if errors.Is(err, errStutter) {
			continue
		}
		requireNil(t, err)
		requireBytes(t, "message", got, []byte("moved"))
		break
	}
}

var errStutter = errors.New("try again")

// stutter fails before every read of r.
type stutter struct {
	r      io.Reader
	failed bool
}

func (s *stutter) Read(p []byte) (int, error) {
	if s.failed = !s.failed; s.failed {
		return 0, errStutter
	}
	return s.r.Read(p)
}

// TestFlushResumes writes through a writer that takes one byte at a time and
// fails after each.
func TestFlushResumes(t *testing.T) {
	initiator, responder := randomPair(t)
	var wire bytes.Buffer
	requireNil(t, initiator.WriteMessage([]byte("piecemeal")))
	total := 0
	for {
		n, err := initiator.Flush(&trickle{&wire})
		total += n
		if err == nil {
			break
		}
		requireKind(t, "a second message", initiator.WriteMessage(nil), ErrMessageNotFlushed)
	}
	if total != 9 || wire.Len() != HeaderSize+9+MACSize {
		t.Fatalf("counted %d bytes of the message, wrote %d", total, wire.Len())
	}
	requireBytes(t, "message", must[[]byte](t)(responder.ReadMessage(&wire)), []byte("piecemeal"))
}

type trickle struct{ w io.Writer }

func (w *trickle) Write(p []byte) (int, error) {
	n, err := w.w.Write(p[:1])
	if err == nil {
		err = errStutter
	}
	return n, err
}

func TestEndOfStream(t *testing.T) {
	initiator, responder := randomPair(t)
	var wire bytes.Buffer
	requireNil(t, initiator.WriteMessage([]byte("cut")))
	must[int](t)(initiator.Flush(&wire))
	packet := wire.Bytes()
	if _, err := responder.ReadMessage(bytes.NewReader(nil)); err != io.EOF {
		t.Fatalf("between messages: %v", err)
	}
	// The end comes inside the header, then inside the body.
	for _, part := range [][]byte{packet[:1], packet[1 : HeaderSize+1]} {
		if _, err := responder.ReadMessage(bytes.NewReader(part)); err != io.ErrUnexpectedEOF {
			t.Fatalf("inside a message: %v", err)
		}
	}
}

// TestImpossibleCarriers checks that a reader or writer that breaks its contract
// is an error and no panic or endless loop.
func TestImpossibleCarriers(t *testing.T) {
	initiator, responder := randomPair(t)
	for _, r := range []fixedReader{{n: -1}, {n: 1 << 20}} {
		if _, err := responder.ReadMessage(r); err == nil {
			t.Fatalf("a reader that returned %d passed", r.n)
		}
	}
	if _, err := responder.ReadMessage(fixedReader{}); err != io.ErrNoProgress {
		t.Fatalf("an idle reader: %v", err)
	}
	requireNil(t, initiator.WriteMessage(nil))
	for _, w := range []fixedWriter{{n: -1}, {n: 1 << 20}} {
		if _, err := initiator.Flush(w); err == nil {
			t.Fatalf("a writer that returned %d passed", w.n)
		}
	}
	if _, err := initiator.Flush(fixedWriter{}); err != io.ErrShortWrite {
		t.Fatalf("an idle writer: %v", err)
	}
}

type fixedReader struct{ n int }

func (r fixedReader) Read([]byte) (int, error) { return r.n, nil }

type fixedWriter struct{ n int }

func (w fixedWriter) Write([]byte) (int, error) { return w.n, nil }
