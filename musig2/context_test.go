package musig2

import (
	"bytes"
	"encoding"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/curve"
)

func TestNewContextErrors(t *testing.T) {
	rng := newRand(t)
	a, b := randomKey(t, rng), randomKey(t, rng)
	keyA, keyB := curve.PublicKey(a), curve.PublicKey(b)
	known := func(keys ...*btcec.PublicKey) ContextOption { return WithKnownSigners(keys) }
	minusA := negated(t, keyA)
	tooLarge := PlainTweak([TweakSize]byte(bytes.Repeat([]byte{0xff}, TweakSize)))

	cases := []struct {
		name    string
		key     *btcec.PrivateKey
		options []ContextOption
		kind    ErrorKind
	}{
		{"no keys", a, nil, ErrNoKeys},
		{"an empty list", nil, []ContextOption{known()}, ErrNoKeys},
		{"own key missing", a, []ContextOption{known(keyB)}, ErrKeyNotInSet},
		{"secret key 0", new(btcec.PrivateKey), []ContextOption{known(keyA)}, ErrInvalidSecretKey},
		{"own key twice, no index", a, []ContextOption{known(keyA, keyB, keyA)}, ErrSignerIndex},
		{"index of another key", a, []ContextOption{known(keyA, keyB), WithSignerIndex(1)}, ErrSignerIndex},
		{"index too large", a, []ContextOption{known(keyA, keyB), WithSignerIndex(2)}, ErrSignerIndex},
		{"negative index", a, []ContextOption{known(keyA, keyB), WithSignerIndex(-1)}, ErrSignerIndex},
		{"index without a key", nil, []ContextOption{known(keyA, keyB), WithSignerIndex(0)}, ErrInvalidArgument},
		{"tweak not below n", a, []ContextOption{known(keyA, keyB), WithTweakedContext(tooLarge)}, ErrInvalidTweak},
		{"tweak cancels the key", nil, []ContextOption{known(keyA), WithTweakedContext(cancelling(t, a))}, ErrAggregateInfinity},
	}
	for _, c := range cases {
		_, err := NewContext(c.key, false, c.options...)
		requireKind(t, c.name, err, c.kind)
	}
	// Opposite keys do not cancel, since each has its own coefficient.
	if _, err := NewContext(a, false, known(keyA, minusA)); err != nil {
		t.Fatal(err)
	}
}

// negated returns the key -p.
func negated(t *testing.T, p *btcec.PublicKey) *btcec.PublicKey {
	t.Helper()
	point, ok := pointOf(p)
	if !ok {
		t.Fatal("the key is not on the curve")
	}
	point = curve.Negate(&point)
	return curve.NewPublicKey(&point)
}

// cancelling returns the tweak that brings the aggregate of one key to infinity.
func cancelling(t *testing.T, key *btcec.PrivateKey) Tweak {
	t.Helper()
	agg, err := aggregate([]*btcec.PublicKey{curve.PublicKey(key)}, false, nil)
	requireOK(t, "aggregate", err)
	var s curve.Scalar
	s.Mul2(&agg.signers[0].coefficient, &key.Key).Negate()
	return PlainTweak(s.Bytes())
}

// TestAggregateAtInfinity sets the coefficients: with those of the hash nobody
// can find keys that cancel.
func TestAggregateAtInfinity(t *testing.T) {
	rng := newRand(t)
	p, q := curve.PublicKey(randomKey(t, rng)), curve.PublicKey(randomKey(t, rng))
	minusP := negated(t, p)
	set, err := newKeySet([]*btcec.PublicKey{p, minusP}, false)
	requireOK(t, "keys", err)
	set[0].coefficient, set[1].coefficient = scalarOne(), scalarOne()
	_, err = set.aggregate(nil)
	requireKind(t, "P - P", err, ErrAggregateInfinity)
	set, err = newKeySet([]*btcec.PublicKey{p, minusP, q}, false)
	requireOK(t, "keys", err)
	for i := range set {
		set[i].coefficient = scalarOne()
	}
	agg, err := set.aggregate(nil)
	requireOK(t, "P - P + Q", err)
	if want, _ := pointOf(q); !curve.EqualNonConst(&agg.point, &want) {
		t.Fatal("a sum that passes through infinity is wrong")
	}
}

func TestParsePubKeys(t *testing.T) {
	good := curve.PublicKey(randomKey(t, newRand(t))).SerializeCompressed()
	uncompressed := make([]byte, 65)
	uncompressed[0] = 4
	for name, bad := range map[string][]byte{
		"empty": {}, "x-only": good[1:], "uncompressed": uncompressed,
		"infinity": make([]byte, PubKeySize), "prefix": append([]byte{5}, good[1:]...),
	} {
		_, err := ParsePubKeys([][]byte{good, bad})
		requireBlame(t, name, err, 1, ContributionPubKey)
		if name == "x-only" && !bytes.Contains([]byte(err.Error()), []byte("x-only")) {
			t.Errorf("the error for an x-only key does not say so: %v", err)
		}
	}
}

func TestKeysOfContext(t *testing.T) {
	rng := newRand(t)
	g := newGroup(t, rng, 4, true, false, []Tweak{BIP86Tweak()})
	ctx := g.contexts[2]
	if ctx.SignerIndex() != 2 {
		t.Fatalf("signer index %d, want 2", ctx.SignerIndex())
	}
	keys := ctx.SigningKeys()
	unsorted := []*btcec.PublicKey{keys[3], keys[1], keys[0], keys[2]}
	before := slices.Clone(unsorted)
	agg, err := AggregateKeys(unsorted, true, BIP86Tweak())
	requireOK(t, "aggregate", err)
	if !slices.Equal(unsorted, before) {
		t.Fatal("sorting changed the caller's list")
	}
	if !agg.FinalKey.IsEqual(ctx.CombinedKey()) || !agg.PreTweakedKey.IsEqual(ctx.InternalKey()) {
		t.Fatal("the context has another aggregate key")
	}
	keys[0] = nil // a copy
	if ctx.SigningKeys()[0] == nil {
		t.Fatal("the context gave its own list away")
	}
}

func TestMarshalContext(t *testing.T) {
	rng := newRand(t)
	var _ encoding.BinaryMarshaler = (*Context)(nil)
	var _ encoding.BinaryUnmarshaler = (*Context)(nil)
	for range 20 {
		g := newGroup(t, rng, 1+rng.IntN(5), rng.IntN(2) == 0, rng.IntN(2) == 0, randomTweaks(rng, rng.IntN(4)))
		ctx := g.contexts[0]
		encoded, err := ctx.MarshalBinary()
		requireOK(t, "marshal", err)
		secret := ctx.key.Key.Bytes()
		if bytes.Contains(encoded, secret[:]) {
			t.Fatal("the encoding holds the secret key")
		}
		var restored Context
		requireOK(t, "unmarshal", restored.UnmarshalBinary(encoded))
		again, err := restored.MarshalBinary()
		requireOK(t, "marshal again", err)
		if !bytes.Equal(encoded, again) || restored.SignerIndex() != NoSigner ||
			!restored.CombinedKey().IsEqual(ctx.CombinedKey()) || !restored.InternalKey().IsEqual(ctx.InternalKey()) {
			t.Fatal("the restored context differs")
		}
		signing, err := ParseContext(encoded, ctx.key, WithSignerIndex(0))
		requireOK(t, "parse", err)
		if signing.SignerIndex() != 0 {
			t.Fatal("the signer index is lost")
		}
		if _, err := signing.NewSession(); err != nil {
			t.Fatal(err)
		}
		// Every changed bit and every shorter or longer form is refused.
		for i := range encoded {
			damaged := bytes.Clone(encoded)
			damaged[i] ^= 1 << rng.IntN(8)
			requireKind(t, "damaged", restored.UnmarshalBinary(damaged), ErrMalformedContext)
			requireKind(t, "cut off", restored.UnmarshalBinary(encoded[:i]), ErrMalformedContext)
		}
		requireKind(t, "longer", restored.UnmarshalBinary(append(bytes.Clone(encoded), 0)), ErrMalformedContext)
		if !restored.CombinedKey().IsEqual(ctx.CombinedKey()) {
			t.Fatal("a refused encoding changed the context")
		}
	}
	g := newGroup(t, rng, 2, false, false, nil)
	encoded, err := g.contexts[0].MarshalBinary()
	requireOK(t, "marshal", err)
	_, err = ParseContext(encoded, randomKey(t, rng))
	requireKind(t, "another's key", err, ErrKeyNotInSet)
	_, err = ParseContext(encoded, nil, WithTweakedContext(BIP86Tweak()))
	requireKind(t, "tweaks", err, ErrInvalidArgument)
}

func TestUnmarshalWipesTheOldKey(t *testing.T) {
	g := newGroup(t, newRand(t), 2, false, false, nil)
	encoded, err := g.contexts[1].MarshalBinary()
	requireOK(t, "marshal", err)
	key := g.contexts[0].key
	requireOK(t, "unmarshal", g.contexts[0].UnmarshalBinary(encoded))
	if !key.Key.IsZero() {
		t.Fatal("the old key is still there")
	}
}

// TestMalformedContexts damages the encoding and mends the checksum.
func TestMalformedContexts(t *testing.T) {
	rng := newRand(t)
	g := newGroup(t, rng, 2, false, false, []Tweak{BIP86Tweak()})
	encoded, err := g.contexts[0].MarshalBinary()
	requireOK(t, "marshal", err)
	body := encoded[:len(encoded)-contextChecksumSize]
	const tweakCount = 1 + 4 + 2*PubKeySize
	for name, change := range map[string]func([]byte) []byte{
		"version":          func(b []byte) []byte { b[0] = 2; return b },
		"no keys":          func([]byte) []byte { return make([]byte, 9) },
		"too many keys":    func(b []byte) []byte { b[1] = 0xff; return b },
		"a key is no key":  func(b []byte) []byte { b[5] = 0; return b },
		"too many tweaks":  func(b []byte) []byte { b[tweakCount] = 0xff; return b },
		"unknown tweak":    func(b []byte) []byte { b[tweakCount+4] = 4; return b },
		"bip86 with bytes": func(b []byte) []byte { b[len(b)-1] = 1; return b },
		"trailing bytes":   func(b []byte) []byte { return append(b, 0) },
		"no tweak count":   func(b []byte) []byte { return b[:tweakCount+2] },
		"no key count":     func(b []byte) []byte { return b[:3] },
	} {
		b := change(bytes.Clone(body))
		if name == "no keys" {
			b[0] = contextVersion
		}
		sum := taggedHash(tagContext, b)
		var ctx Context
		requireKind(t, name, ctx.UnmarshalBinary(append(b, sum[:contextChecksumSize]...)), ErrMalformedContext)
	}
}

func TestVerifyPartialSignatureErrors(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 3, false, false, nil).start().exchangeNonces(rng)
	partials, nonces, ctx := g.sign(message), g.nonces(), g.contexts[0]
	requireMissing(t, "too few nonces", ctx.VerifyPartialSignature(partials[0], nonces[:1], 0, message),
		ContributionPubNonce, 1, 2)
	requireKind(t, "too many nonces", ctx.VerifyPartialSignature(partials[0], append(nonces, nonces[0]), 0, message),
		ErrInvalidArgument)
	requireKind(t, "index", ctx.VerifyPartialSignature(partials[0], nonces, 3, message), ErrSignerIndex)
	bad := slices.Clone(nonces)
	bad[1][0] = 9
	requireBlame(t, "nonce", ctx.VerifyPartialSignature(partials[0], bad, 0, message), 1, ContributionPubNonce)
	requireBlame(t, "message", ctx.VerifyPartialSignature(partials[0], nonces, 0, nil), 0, ContributionPartialSig)
}

func TestErrorText(t *testing.T) {
	many := make([]int, 100)
	for i := range many {
		many[i] = i
	}
	err := error(&MissingError{ContributionPubNonce, many})
	const want = "musig2: 100 pubnonce missing, of signer 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, …"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if !errors.Is(err, ErrMissingContributions) {
		t.Error("a MissingError does not match its kind")
	}
	if got := fail(ErrNoKeys, "text").Error(); got != "musig2: text" {
		t.Errorf("got %q", got)
	}
	if got := ErrNoKeys.Error(); got != "ErrNoKeys" {
		t.Errorf("got %q", got)
	}
}

// TestZeroValues: what nobody has made says so.
func TestZeroValues(t *testing.T) {
	key := randomKey(t, newRand(t))
	public := curve.PublicKey(key)
	five := new(btcec.FieldVal).SetInt(5)
	offCurve := btcec.NewPublicKey(five, five)
	for what, err := range map[string]error{
		"infinity as a key":   second(NewContext(nil, true, WithKnownSigners([]*btcec.PublicKey{{}, public}))),
		"a key off the curve": second(NewContext(nil, true, WithKnownSigners([]*btcec.PublicKey{offCurve, public}))),
		"nonce for infinity":  second(GenNonces(WithPublicKey(new(btcec.PublicKey)))),
		"nil key":             second(NewContext(nil, true, WithKnownSigners([]*btcec.PublicKey{public, nil}))),
		"nil key, aggregate":  second(AggregateKeys([]*btcec.PublicKey{nil}, false)),
		"session":             second(new(Session).Sign([]byte("message"))),
		"session, nonce":      second(new(Session).RegisterPubNonce(0, [PubNonceSize]byte{})),
		"session, finish":     second(new(Session).FinalSig()),
		"coordinator":         second(new(Coordinator).FinalSig()),
		"context, session":    second(new(Context).NewSession()),
		"context, bytes":      second(new(Context).MarshalBinary()),
		"context, collect":    second(new(Context).NewCoordinator(nil)),
		"context, verify":     new(Context).VerifyPartialSignature(PartialSignature{}, nil, 0, nil),
	} {
		requireKind(t, what, err, ErrInvalidArgument)
	}
	new(Session).Wipe()
	new(Context).Wipe()
	_, err := Sign(&[SecNonceSize]byte{31: 1, 63: 1}, nil, [PubNonceSize]byte{}, []*btcec.PublicKey{public}, nil)
	requireKind(t, "nil secret key", err, ErrInvalidSecretKey)
	if (PartialSignature{}).Verify([PubNonceSize]byte{2}, [PubNonceSize]byte{}, []*btcec.PublicKey{public}, nil, nil) {
		t.Fatal("a nil key verifies")
	}
}
