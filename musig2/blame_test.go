package musig2

import (
	"bytes"
	"slices"
	"testing"
)

func TestNonceContributions(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 3, false, false, nil).start(WithSessionMessage(message))
	s, nonces := g.sessions[0], g.nonces()

	for _, signer := range []int{-1, 3, 1 << 30} {
		_, err := s.RegisterPubNonce(signer, nonces[1])
		requireKind(t, "index", err, ErrSignerIndex)
		_, err = s.CombineSig(signer, PartialSignature{})
		requireKind(t, "index", err, ErrSignerIndex)
	}
	infinity, garbage, first, second := nonces[1], nonces[1], nonces[1], nonces[1]
	clear(infinity[:33])
	garbage[0] = 0
	first[0] = 4
	second[33] = 5
	for name, bad := range map[string][PubNonceSize]byte{
		"infinity": infinity, "zero prefix": garbage, "first half": first, "second half": second, "zeros": {},
	} {
		_, err := s.RegisterPubNonce(1, bad)
		requireBlame(t, name, err, 1, ContributionPubNonce)
	}
	// None of that keeps the right one out.
	_, err := s.RegisterPubNonce(1, nonces[1])
	requireOK(t, "the right nonce", err)
	_, err = s.RegisterPubNonce(1, nonces[1])
	requireOK(t, "the same again", err)
	_, err = s.RegisterPubNonce(1, nonces[2])
	requireKind(t, "a different one", err, ErrContributionConflict)
	_, err = s.RegisterPubNonce(0, nonces[2])
	requireKind(t, "a different own one", err, ErrContributionConflict)
	_, err = s.RegisterPubNonce(0, nonces[0])
	requireOK(t, "the own one", err)
	_, err = s.RegisterPubNonce(2, nonces[2])
	requireOK(t, "the last one", err)
	if _, err := s.Sign(nil); err != nil {
		t.Fatal(err)
	}
}

func TestPartialSignatureContributions(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 3, false, false, randomTweaks(rng, 2)).start(WithSessionMessage(message)).exchangeNonces(rng)
	others := (&group{t, g.contexts[1:], g.sessions[1:]}).sign(nil)

	// Before the own signature, and in both orders of blame.
	s := g.sessions[0]
	wrong := others[0]
	wrong[31] ^= 1
	_, err := s.CombineSig(1, wrong)
	requireBlame(t, "wrong", err, 1, ContributionPartialSig)
	_, err = s.CombineSig(1, others[1])
	requireBlame(t, "that of another signer", err, 1, ContributionPartialSig)
	order := PartialSignature(bytes.Repeat([]byte{0xff}, PartialSigSize))
	_, err = s.CombineSig(2, order)
	requireBlame(t, "not below n", err, 2, ContributionPartialSig)
	haveAll, err := s.CombineSig(1, others[0])
	requireOK(t, "right", err)
	if haveAll {
		t.Fatal("all partial signatures are said to be there")
	}
	_, err = s.CombineSig(1, others[0])
	requireOK(t, "the same again", err)
	_, err = s.CombineSig(1, wrong)
	requireKind(t, "a different one", err, ErrContributionConflict)
	if _, err = s.Sign(nil); err != nil {
		t.Fatal(err)
	}
	if missing := s.MissingPartialSigs(); !slices.Equal(missing, []int{2}) {
		t.Fatalf("missing: %v", missing)
	}
	haveAll, err = s.CombineSig(2, others[1])
	if !haveAll || err != nil {
		t.Fatalf("the last one: %v, %v", haveAll, err)
	}
	signature, err := s.FinalSig()
	requireOK(t, "finish", err)
	requireValid(t, g.contexts[0], signature, message)
}

// TestAggregateNonceMode runs a signer who sees only what a coordinator sends.
func TestAggregateNonceMode(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 3, false, false, nil).start()
	nonces := g.nonces()
	aggregate, err := AggregateNonces(nonces)
	requireOK(t, "aggregate", err)

	bad := aggregate
	bad[0] = 7
	requireBlame(t, "malformed", g.sessions[0].RegisterCombinedNonce(bad), NoSigner, ContributionAggNonce)
	// Replaced before signing, also by one with a half at infinity.
	infinity := aggregate
	clear(infinity[33:])
	requireOK(t, "infinity", g.sessions[0].RegisterCombinedNonce(infinity))
	requireOK(t, "replaced", g.sessions[0].RegisterCombinedNonce(aggregate))
	for _, s := range g.sessions[1:] {
		requireOK(t, "aggregate", s.RegisterCombinedNonce(aggregate))
	}
	partials := g.sign(message)
	s := g.sessions[0]
	requireKind(t, "replaced after signing", s.RegisterCombinedNonce(infinity), ErrContributionConflict)
	requireOK(t, "the same after signing", s.RegisterCombinedNonce(aggregate))

	// A wrong partial signature cannot be told at once, since its signer's
	// nonce is not known.
	wrong := partials[2]
	wrong[0] ^= 1
	_, err = s.CombineSig(1, partials[1])
	requireOK(t, "partial", err)
	_, err = s.CombineSig(2, wrong)
	requireOK(t, "wrong partial, not known to be wrong", err)
	_, err = s.FinalSig()
	requireKind(t, "finish", err, ErrInvalidSignature)
	// The nonce brings it out, and makes room for the right one. Whose fault it
	// is, all nonces together tell.
	_, err = s.RegisterPubNonce(2, nonces[2])
	requireKind(t, "nonce", err, ErrInvalidSignature)
	_, err = s.RegisterPubNonce(2, nonces[2])
	requireOK(t, "nonce again", err)
	_, err = s.CombineSig(2, wrong)
	requireKind(t, "wrong partial again", err, ErrInvalidSignature)
	_, err = s.RegisterPubNonce(1, nonces[1])
	requireOK(t, "the last nonce", err)
	_, err = s.CombineSig(2, wrong)
	requireBlame(t, "wrong partial, with all nonces", err, 2, ContributionPartialSig)
	_, err = s.CombineSig(2, partials[2])
	requireOK(t, "right partial", err)
	signature, err := s.FinalSig()
	requireOK(t, "finish", err)
	requireValid(t, g.contexts[0], signature, message)
}

// TestFinishBlames covers partial signatures that arrive before anything is
// known to check them with.
func TestFinishBlames(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 2, false, false, nil).start().exchangeNonces(rng)
	right, err := g.sessions[1].Sign(message)
	requireOK(t, "sign", err)
	wrong := right
	wrong[31] ^= 1
	s := g.sessions[0] // has no message yet
	_, err = s.CombineSig(1, wrong)
	requireOK(t, "early", err)
	if _, err := s.Sign(message); err != nil {
		t.Fatal(err)
	}
	_, err = s.FinalSig()
	requireBlame(t, "finish", err, 1, ContributionPartialSig)
	_, err = s.FinalSig()
	requireMissing(t, "finish after the wrong one was dropped", err, ContributionPartialSig, 1)
	_, err = s.CombineSig(1, right)
	requireOK(t, "right", err)
	if _, err = s.FinalSig(); err != nil {
		t.Fatal(err)
	}
}

// TestDishonestAggregator: every partial signature is right for the aggregate
// nonce that was given, which is not the sum.
func TestDishonestAggregator(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 2, false, false, nil).start()
	nonces := g.nonces()
	false1, err := AggregateNonces([][PubNonceSize]byte{nonces[0], nonces[0]})
	requireOK(t, "aggregate", err)
	for _, s := range g.sessions {
		requireOK(t, "false aggregate", s.RegisterCombinedNonce(false1))
	}
	// Before signing, the last nonce shows it.
	_, err = g.sessions[0].RegisterPubNonce(1, nonces[1])
	requireBlame(t, "last nonce", err, NoSigner, ContributionAggNonce)
	if got := g.sessions[0].MissingNonces(); !slices.Equal(got, []int{1}) {
		t.Fatalf("the session has changed: missing %v", got)
	}
	partials := g.sign(message)
	s := g.sessions[0]
	_, err = s.CombineSig(1, partials[1])
	requireOK(t, "partial", err)
	_, err = s.FinalSig()
	requireKind(t, "finish without nonces", err, ErrInvalidSignature)
	_, err = s.RegisterPubNonce(1, nonces[1])
	requireOK(t, "nonce, for blame", err)
	_, err = s.FinalSig()
	requireBlame(t, "finish", err, NoSigner, ContributionAggNonce)

	// With all nonces known, a false aggregate is refused at once.
	g.start().exchangeNonces(rng)
	requireBlame(t, "set", g.sessions[0].RegisterCombinedNonce(false1), NoSigner, ContributionAggNonce)
}

// TestTwoAggregateNonces: an aggregator who gives this signer another aggregate
// nonce than the others gets none of them blamed, in whatever order things come.
func TestTwoAggregateNonces(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	for _, early := range []bool{false, true} {
		g := newGroup(t, rng, 3, false, false, nil).start()
		nonces := g.nonces()
		honest, err := AggregateNonces(nonces)
		requireOK(t, "aggregate", err)
		other, err := AggregateNonces([][PubNonceSize]byte{nonces[0], nonces[1], nonces[1]})
		requireOK(t, "aggregate", err)
		s := g.sessions[0]
		requireOK(t, "the other aggregate nonce", s.RegisterCombinedNonce(other))
		for _, s := range g.sessions[1:] {
			requireOK(t, "aggregate nonce", s.RegisterCombinedNonce(honest))
		}
		partials := (&group{t, g.contexts[1:], g.sessions[1:]}).sign(message)
		if early {
			_, err = s.CombineSig(1, partials[0])
			requireOK(t, "partial, which nothing can check yet", err)
		}
		if _, err = s.Sign(message); err != nil {
			t.Fatal(err)
		}
		_, err = s.RegisterPubNonce(1, nonces[1])
		if early {
			requireKind(t, "the nonce of that partial", err, ErrInvalidSignature)
			_, err = s.RegisterPubNonce(1, nonces[1])
		}
		requireOK(t, "a nonce", err)
		_, err = s.CombineSig(1, partials[0])
		requireKind(t, "partial, with a nonce missing", err, ErrInvalidSignature)
		if early {
			_, err = s.CombineSig(2, partials[1])
			requireOK(t, "partial, which nothing can check yet", err)
			_, err = s.RegisterPubNonce(2, nonces[2])
			requireBlame(t, "the nonce of that partial", err, NoSigner, ContributionAggNonce)
		}
		_, err = s.RegisterPubNonce(2, nonces[2])
		requireOK(t, "the last nonce", err)
		for i, partial := range partials {
			_, err = s.CombineSig(1+i, partial)
			requireBlame(t, "partial, with all nonces", err, NoSigner, ContributionAggNonce)
		}
	}
}

// TestRefusedNonceVerifiesNothing: a nonce that is refused, because the sum is
// not the aggregate nonce, must leave nothing behind, not even that a partial
// signature fits it.
func TestRefusedNonceVerifiesNothing(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 2, false, false, nil).start(WithSessionMessage(message))
	right := g.nonces()
	aggregate, err := AggregateNonces(right)
	requireOK(t, "aggregate", err)
	// Signer 1 signs with another nonce than the one that was aggregated.
	other, err := g.contexts[1].NewSession(WithSessionMessage(message))
	requireOK(t, "session", err)
	requireOK(t, "aggregate nonce", other.RegisterCombinedNonce(aggregate))
	partial, err := other.Sign(nil)
	requireOK(t, "sign", err)

	s := g.sessions[0]
	requireOK(t, "aggregate nonce", s.RegisterCombinedNonce(aggregate))
	_, err = s.CombineSig(1, partial)
	requireOK(t, "partial, which nothing can check yet", err)
	_, err = s.RegisterPubNonce(1, other.PublicNonce())
	requireBlame(t, "the nonce that it fits", err, NoSigner, ContributionAggNonce)
	_, err = s.RegisterPubNonce(1, right[1])
	requireBlame(t, "the right nonce", err, 1, ContributionPartialSig)
	_, err = s.RegisterPubNonce(1, right[1])
	requireOK(t, "the right nonce, once the partial signature is gone", err)
	requireOK(t, "aggregate nonce", g.sessions[1].RegisterCombinedNonce(aggregate))
	partial, err = g.sessions[1].Sign(nil)
	requireOK(t, "sign", err)
	_, err = s.CombineSig(1, partial)
	requireOK(t, "the right partial", err)
	if _, err := s.Sign(nil); err != nil {
		t.Fatal(err)
	}
	signature, err := s.FinalSig()
	requireOK(t, "finish", err)
	requireValid(t, g.contexts[0], signature, message)
}
