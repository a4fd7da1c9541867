package musig2

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/brontosig/brontosig/internal/curve"
)

func TestGenNoncesErrors(t *testing.T) {
	rng := newRand(t)
	a, b := randomKey(t, rng), randomKey(t, rng)
	_, err := GenNonces()
	requireKind(t, "no key", err, ErrInvalidArgument)
	_, err = GenNonces(WithPublicKey(curve.PublicKey(b)), WithNonceSecretKeyAux(a))
	requireKind(t, "different keys", err, ErrNonceMismatch)
	a.Zero()
	_, err = GenNonces(WithNonceSecretKeyAux(a))
	requireKind(t, "secret key 0", err, ErrInvalidSecretKey)
	_, err = GenNonces(WithPublicKey(curve.PublicKey(b)), WithCustomRand(strings.NewReader("short")))
	requireKind(t, "short randomness", err, ErrRandom)
	_, err = GenNonces(WithPublicKey(curve.PublicKey(b)), WithCustomRand(iotest.ErrReader(errors.New("broken"))))
	requireKind(t, "broken randomness", err, ErrRandom)
}

// TestNonceInputs: with the same randomness, every optional input changes the
// nonce, and so does leaving it out where an empty one is something else.
func TestNonceInputs(t *testing.T) {
	rng := newRand(t)
	a, b := randomKey(t, rng), randomKey(t, rng)
	base := WithPublicKey(curve.PublicKey(a))
	seen := map[[SecNonceSize]byte]string{}
	for name, options := range map[string][]NonceGenOption{
		"nothing":              {base},
		"another public key":   {WithPublicKey(curve.PublicKey(b))},
		"secret key":           {base, WithNonceSecretKeyAux(a)},
		"aggregate key":        {base, WithNonceCombinedKeyAux([XOnlyPubKeySize]byte{1})},
		"another aggregate":    {base, WithNonceCombinedKeyAux([XOnlyPubKeySize]byte{2})},
		"empty message":        {base, WithNonceMessageAux(nil)},
		"message":              {base, WithNonceMessageAux([]byte{1})},
		"longer message":       {base, WithNonceMessageAux([]byte{1, 0})},
		"extra input":          {base, WithNonceAuxInput([]byte{1})},
		"message, extra input": {base, WithNonceMessageAux([]byte{1}), WithNonceAuxInput([]byte{1})},
	} {
		nonces, err := GenNonces(append(options, WithCustomRand(bytes.NewReader(make([]byte, 32))))...)
		requireOK(t, name, err)
		if other, ok := seen[nonces.SecNonce]; ok {
			t.Errorf("%s and %s give the same nonce", name, other)
		}
		seen[nonces.SecNonce] = name
	}
}

func TestNoncesAreDistinct(t *testing.T) {
	const count = 100_000
	pk := publicKeyOf(randomKey(t, newRand(t)))
	o := nonceGenOptions{rand: systemRand()}
	seen := make(map[[curve.ScalarSize]byte]bool, 2*count)
	for range count {
		secret, err := o.secret(pk)
		requireOK(t, "nonce", err)
		for i := range secret.k {
			b := secret.k[i].Bytes()
			if seen[b] {
				t.Fatalf("the scalar %x came twice", b)
			}
			seen[b] = true
		}
	}
}

func TestPreGeneratedNonce(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 2, false, false, []Tweak{BIP86Tweak()}).start()
	ctx, other := g.contexts[0], g.contexts[1]
	xOnly := ctx.agg.xOnly

	generate := func(options ...NonceGenOption) *Nonces {
		t.Helper()
		nonces, err := GenNonces(append(options, WithPublicKey(ctx.SigningKeys()[0]))...)
		requireOK(t, "nonce", err)
		return nonces
	}
	nonces := generate(WithNonceCombinedKeyAux(xOnly), WithNonceMessageAux(message))
	_, err := other.NewSession(WithPreGeneratedNonce(nonces))
	requireKind(t, "another signer", err, ErrNonceMismatch)
	_, err = ctx.NewSession(WithPreGeneratedNonce(nonces), WithSessionMessage([]byte("other")))
	requireKind(t, "another message", err, ErrNonceMismatch)
	_, err = ctx.NewSession(WithPreGeneratedNonce(nonces), WithSessionExtraInput([]byte{1}))
	requireKind(t, "extra input", err, ErrInvalidArgument)
	// None of these used it up.
	s, err := ctx.NewSession(WithPreGeneratedNonce(nonces))
	requireOK(t, "session", err)
	if s.PublicNonce() != nonces.PubNonce || nonces.SecNonce != [SecNonceSize]byte{} {
		t.Fatal("the nonce was not taken over")
	}
	_, err = ctx.NewSession(WithPreGeneratedNonce(nonces))
	requireKind(t, "a second session", err, ErrNonceUsed)
	_, err = s.RegisterPubNonce(1, g.sessions[1].PublicNonce())
	requireOK(t, "nonce", err)
	_, err = s.Sign([]byte("other"))
	requireKind(t, "another message", err, ErrNonceMismatch)
	if _, err = s.Sign(message); err != nil {
		t.Fatal(err)
	}

	wrongKey := generate(WithNonceCombinedKeyAux([XOnlyPubKeySize]byte{1}))
	_, err = ctx.NewSession(WithPreGeneratedNonce(wrongKey))
	requireKind(t, "another aggregate key", err, ErrNonceMismatch)

	wiped := generate()
	wiped.Wipe()
	_, err = ctx.NewSession(WithPreGeneratedNonce(wiped))
	requireKind(t, "a wiped nonce", err, ErrNonceUsed)

	// Scalars of 0 or above n cannot come from GenNonces, but can be put there.
	for _, fill := range []byte{0, 0xff} {
		for half := range 2 {
			broken := generate()
			copy(broken.SecNonce[half*32:], bytes.Repeat([]byte{fill}, 32))
			_, err = ctx.NewSession(WithPreGeneratedNonce(broken))
			requireKind(t, "a broken nonce", err, ErrInvalidSecNonce)
			if broken.SecNonce != [SecNonceSize]byte{} {
				t.Fatal("a broken nonce is still there")
			}
		}
	}
}

func TestStatelessSign(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 2, false, false, nil)
	keys := g.contexts[0].SigningKeys()
	signers := []*Context{g.contexts[0], g.contexts[1]}
	var nonces []*Nonces
	var public [][PubNonceSize]byte
	fresh := func() [PubNonceSize]byte {
		nonces, public = nil, nil
		for i := range signers {
			n, err := GenNonces(WithPublicKey(keys[i]))
			requireOK(t, "nonce", err)
			nonces, public = append(nonces, n), append(public, n.PubNonce)
		}
		sum, err := AggregateNonces(public)
		requireOK(t, "aggregate", err)
		return sum
	}
	tweaks := WithTweaks(randomTweaks(rng, 3)...)
	for _, options := range [][]SignOption{nil, {WithFastSign()}, {WithSortedKeys(), tweaks}} {
		sum := fresh()
		partials := make([]PartialSignature, 2)
		for i, ctx := range signers {
			partial, err := Sign(&nonces[i].SecNonce, ctx.key, sum, keys, message, options...)
			requireOK(t, "sign", err)
			if !partial.Verify(public[i], sum, keys, keys[i], message, options...) {
				t.Fatal("the partial signature does not verify")
			}
			if partial.Verify(public[1-i], sum, keys, keys[i], message, options...) ||
				partial.Verify(public[i], sum, keys, keys[1-i], message, options...) ||
				partial.Verify([PubNonceSize]byte{}, sum, keys, keys[i], message, options...) ||
				partial.Verify(public[i], [PubNonceSize]byte{4}, keys, keys[i], message, options...) ||
				partial.Verify(public[i], sum, nil, keys[i], message, options...) ||
				partial.Verify(public[i], sum, keys, curve.PublicKey(randomKey(t, rng)), message, options...) {
				t.Fatal("a wrong partial signature verifies")
			}
			partials[i] = partial
			_, err = Sign(&nonces[i].SecNonce, ctx.key, sum, keys, message, options...)
			requireKind(t, "second signature", err, ErrNonceUsed)
		}
		// Sorted, the keys may stand in another order than the partial
		// signatures, which does not matter to their sum.
		_, err := CombineSigs(sum, partials, keys, message, options...)
		requireOK(t, "combine", err)
		_, err = CombineSigs(sum, partials[:1], keys, message, options...)
		requireMissing(t, "one partial signature", err, ContributionPartialSig, 1)
		_, err = CombineSigs(sum, append(partials, partials[0]), keys, message, options...)
		requireKind(t, "three partial signatures", err, ErrInvalidArgument)
		_, err = CombineSigs(sum, []PartialSignature{partials[0], partials[0]}, keys, message, options...)
		requireKind(t, "the wrong partial signatures", err, ErrInvalidSignature)
		_, err = CombineSigs(sum, []PartialSignature{partials[0], PartialSignature(bytes.Repeat([]byte{255}, 32))},
			keys, message, options...)
		requireBlame(t, "not below n", err, 1, ContributionPartialSig)
		_, err = CombineSigs([PubNonceSize]byte{5}, partials, keys, message, options...)
		requireBlame(t, "aggregate nonce", err, NoSigner, ContributionAggNonce)
	}
	// The nonce is gone whatever goes wrong.
	for name, sign := range map[string]func(n *Nonces, sum [PubNonceSize]byte) error{
		"aggregate nonce": func(n *Nonces, _ [PubNonceSize]byte) error {
			return second(Sign(&n.SecNonce, signers[0].key, [PubNonceSize]byte{9}, keys, message))
		},
		"no keys": func(n *Nonces, sum [PubNonceSize]byte) error {
			return second(Sign(&n.SecNonce, signers[0].key, sum, nil, message))
		},
		"key not in list": func(n *Nonces, sum [PubNonceSize]byte) error {
			return second(Sign(&n.SecNonce, signers[0].key, sum, keys[1:], message))
		},
		"another's key": func(n *Nonces, sum [PubNonceSize]byte) error {
			return second(Sign(&n.SecNonce, signers[1].key, sum, keys, message))
		},
	} {
		sum := fresh()
		if err := sign(nonces[0], sum); err == nil {
			t.Errorf("%s: no error", name)
		}
		if nonces[0].SecNonce != [SecNonceSize]byte{} {
			t.Errorf("%s: the nonce is still there", name)
		}
	}
}

func TestDeterministicSign(t *testing.T) {
	rng := newRand(t)
	for range 10 {
		message := randomBytes(rng, rng.IntN(100))
		g := newGroup(t, rng, 3, rng.IntN(2) == 0, false, randomTweaks(rng, rng.IntN(3))).start()
		nonces := g.nonces()
		other, err := AggregateNonces(nonces[1:])
		requireOK(t, "aggregate", err)
		random := [RandSize]byte(randomBytes(rng, RandSize))
		nonce, partial, err := g.contexts[0].DeterministicSign(other, message, &random)
		requireOK(t, "sign", err)
		again, same, err := g.contexts[0].DeterministicSign(other, message, &random)
		requireOK(t, "sign again", err)
		if nonce != again || partial != same {
			t.Fatal("the same input gives another result")
		}
		without, _, err := g.contexts[0].DeterministicSign(other, message, nil)
		requireOK(t, "sign without randomness", err)
		if without == nonce {
			t.Fatal("the randomness has no effect")
		}
		for _, s := range g.sessions[1:] {
			for i, n := range [][PubNonceSize]byte{nonce, nonces[1], nonces[2]} {
				_, err := s.RegisterPubNonce(i, n)
				requireOK(t, "nonce", err)
			}
		}
		partials := append([]PartialSignature{partial}, (&group{t, g.contexts[1:], g.sessions[1:]}).sign(message)...)
		for i, p := range partials {
			_, err := g.sessions[1].CombineSig(i, p)
			requireOK(t, "partial", err)
		}
		signature, err := g.sessions[1].FinalSig()
		requireOK(t, "finish", err)
		requireValid(t, g.contexts[0], signature, message)
	}
}

// TestNonceSums: sums that are infinity in the end, or on the way, are right.
func TestNonceSums(t *testing.T) {
	g := newGroup(t, newRand(t), 3, false, false, nil).start()
	nonces := g.nonces()
	opposite := nonces[0]
	opposite[0] ^= 1
	opposite[33] ^= 1
	sum, err := AggregateNonces([][PubNonceSize]byte{nonces[0], opposite, nonces[1]})
	requireOK(t, "aggregate", err)
	if sum != nonces[1] {
		t.Fatal("a sum that passes through infinity is wrong")
	}
	sum, err = AggregateNonces([][PubNonceSize]byte{nonces[0], opposite})
	requireOK(t, "aggregate", err)
	if sum != [PubNonceSize]byte{} {
		t.Fatalf("a sum at infinity is %x", sum)
	}
	_, err = AggregateNonces(nil)
	requireKind(t, "no nonces", err, ErrNoKeys)

	// Each half of an aggregate nonce may be infinity, and both. Every signer
	// can sign under it, and every partial signature verifies.
	for _, infinite := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		g.start()
		aggregate := g.nonces()[0]
		for half, zero := range infinite {
			if zero {
				clear(aggregate[half*33:][:33])
			}
		}
		for i, s := range g.sessions {
			requireOK(t, "aggregate nonce", s.RegisterCombinedNonce(aggregate))
			partial, err := s.Sign([]byte("message"))
			requireOK(t, "sign", err) // which verifies it
			keys := g.contexts[i].SigningKeys()
			if !partial.Verify(s.PublicNonce(), aggregate, keys, keys[i], []byte("message")) {
				t.Fatal("the partial signature does not verify")
			}
		}
	}
}
