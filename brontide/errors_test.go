package brontide

import (
	"bytes"
	"errors"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
)

var errHardware = errors.New("the signer was unplugged")

// brokenKey is a hardware signer that fails.
type brokenKey struct{ SingleKeyECDH }

func (brokenKey) ECDH(*btcec.PublicKey) ([32]byte, error) { return [32]byte{}, errHardware }

// offCurve is a key that was made by hand.
var offCurve = btcec.NewPublicKey(new(btcec.FieldVal).SetInt(5), new(btcec.FieldVal).SetInt(5))

func TestBadKeys(t *testing.T) {
	key := newKey(t)
	for name, build := range map[string]func() (*Machine, error){
		"no local key":             func() (*Machine, error) { return NewBrontideMachine(false, nil, nil) },
		"no remote key":            func() (*Machine, error) { return NewBrontideMachine(true, key, nil) },
		"remote key off the curve": func() (*Machine, error) { return NewBrontideMachine(true, key, offCurve) },
		"zero local key": func() (*Machine, error) {
			return NewBrontideMachine(false, NewPrivKeyECDH(new(btcec.PrivateKey)), nil)
		},
	} {
		m, err := build()
		requireKind(t, name, err, ErrArgument)
		if m != nil {
			t.Fatalf("%s: a machine came with the error", name)
		}
	}
}

func TestPrivKeyECDH(t *testing.T) {
	a, b := newKey(t), newKey(t)
	ab, ba := must[[32]byte](t)(a.ECDH(b.PubKey())), must[[32]byte](t)(b.ECDH(a.PubKey()))
	if ab != ba {
		t.Fatal("the two sides have different secrets")
	}
	secret := must[*btcec.PrivateKey](t)(btcec.NewPrivateKey())
	owned := NewPrivKeyECDH(secret)
	want := must[[32]byte](t)(owned.ECDH(b.PubKey()))
	secret.Zero()
	if got := must[[32]byte](t)(owned.ECDH(b.PubKey())); got != want {
		t.Fatal("the key is the caller's, not a copy")
	}
	// The secret must not meet points of another, weaker curve.
	for _, bad := range []*btcec.PublicKey{nil, offCurve} {
		_, err := owned.ECDH(bad)
		requireKind(t, "no key", err, ErrArgument)
	}
	owned.Wipe()
	_, err := owned.ECDH(b.PubKey())
	requireKind(t, "after Wipe", err, ErrKeyWiped)
	if owned.PubKey() == nil {
		t.Fatal("the public key is gone")
	}
}

func TestActsOutOfTurn(t *testing.T) {
	calls := func(m *Machine) map[string]error {
		_, one := m.GenActOne()
		_, two := m.GenActTwo()
		_, three := m.GenActThree()
		return map[string]error{
			"GenActTwo": two, "GenActThree": three,
			"RecvActTwo":   m.RecvActTwo([ActTwoSize]byte{}),
			"RecvActThree": m.RecvActThree([ActThreeSize]byte{}),
			"GenActOne":    one,
		}
	}
	responder := must[*Machine](t)(NewBrontideMachine(false, newKey(t), nil))
	for name, err := range calls(responder) {
		requireKind(t, name, err, ErrWrongAct)
	}
	// None of it did any harm.
	initiator := must[*Machine](t)(NewBrontideMachine(true, newKey(t), responder.LocalPub()))
	requireKind(t, "RecvActOne of an initiator", initiator.RecvActOne([ActOneSize]byte{}), ErrWrongAct)
	requireKind(t, "early write", initiator.WriteMessage(nil), ErrHandshakeIncomplete)
	_, err := initiator.ReadMessage(bytes.NewReader(nil))
	requireKind(t, "early read", err, ErrHandshakeIncomplete)
	shake(t, initiator, responder)
	for name, err := range calls(responder) {
		requireKind(t, name+" after the handshake", err, ErrWrongAct)
	}
	requireBytes(t, "message", transfer(t, initiator, responder, []byte("x")), []byte("x"))
}

func TestReadBodyMisuse(t *testing.T) {
	initiator, responder := randomPair(t)
	_, err := responder.ReadBody(bytes.NewReader(nil), nil)
	requireKind(t, "no header", err, ErrHeaderNotRead)

	var wire bytes.Buffer
	requireNil(t, initiator.WriteMessage([]byte("abc")))
	must[int](t)(initiator.Flush(&wire))
	size := must[uint32](t)(responder.ReadHeader(&wire))
	_, err = responder.ReadBody(&wire, make([]byte, size-1))
	requireKind(t, "short buffer", err, ErrBufferSize)
	_, err = responder.ReadBody(&wire, make([]byte, size+1))
	requireKind(t, "long buffer", err, ErrBufferSize)
	requireBytes(t, "message", must[[]byte](t)(responder.ReadBody(&wire, make([]byte, size))), []byte("abc"))
}

// TestFailingSources checks that the errors of a signer and of a source of
// ephemeral keys come out, and end the machine.
func TestFailingSources(t *testing.T) {
	key := newKey(t)
	responder := must[*Machine](t)(NewBrontideMachine(false, brokenKey{key}, nil))
	initiator := must[*Machine](t)(NewBrontideMachine(true, newKey(t), key.PubKey()))
	err := responder.RecvActOne(must[[ActOneSize]byte](t)(initiator.GenActOne()))
	if !errors.Is(err, errHardware) {
		t.Fatalf("act one: %v", err)
	}
	_, err = responder.GenActTwo()
	requireKind(t, "after the failure", err, ErrPoisoned)

	local := newKey(t)
	initiator = must[*Machine](t)(NewBrontideMachine(true, brokenKey{local}, key.PubKey()))
	responder = must[*Machine](t)(NewBrontideMachine(false, key, nil))
	requireNil(t, responder.RecvActOne(must[[ActOneSize]byte](t)(initiator.GenActOne())))
	requireNil(t, initiator.RecvActTwo(must[[ActTwoSize]byte](t)(responder.GenActTwo())))
	three, err := initiator.GenActThree()
	if !errors.Is(err, errHardware) || three != [ActThreeSize]byte{} {
		t.Fatalf("act three: %v", err)
	}

	for _, source := range []struct {
		generate func() (*btcec.PrivateKey, error)
		want     error
	}{
		{func() (*btcec.PrivateKey, error) { return nil, errHardware }, errHardware},
		{func() (*btcec.PrivateKey, error) { return nil, nil }, ErrArgument},
		{func() (*btcec.PrivateKey, error) { return new(btcec.PrivateKey), nil }, ErrArgument},
	} {
		m := must[*Machine](t)(NewBrontideMachine(true, local, key.PubKey(), EphemeralGenerator(source.generate)))
		act, err := m.GenActOne()
		if !errors.Is(err, source.want) || act != [ActOneSize]byte{} {
			t.Fatalf("got %v, want %v", err, source.want)
		}
	}
}

func TestWrongStaticKey(t *testing.T) {
	initiator := must[*Machine](t)(NewBrontideMachine(true, newKey(t), newKey(t).PubKey()))
	responder := must[*Machine](t)(NewBrontideMachine(false, newKey(t), nil))
	err := responder.RecvActOne(must[[ActOneSize]byte](t)(initiator.GenActOne()))
	requireKind(t, "act one for another key", err, ErrMAC)
}
