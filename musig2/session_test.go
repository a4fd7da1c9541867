package musig2

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

func TestSessions(t *testing.T) {
	rng := newRand(t)
	for _, n := range []int{1, 2, 3, 5, 16} {
		for _, length := range []int{0, 1, 31, 32, 33, 1 << 20} {
			for _, repeat := range []bool{false, true} {
				sort := rng.IntN(2) == 0
				t.Run(fmt.Sprintf("n=%d length=%d sort=%v repeat=%v", n, length, sort, repeat), func(t *testing.T) {
					message := randomBytes(rng, length)
					g := newGroup(t, rng, n, sort, repeat, randomTweaks(rng, rng.IntN(5)))
					early := rng.IntN(2) == 0
					if early {
						g.start(WithSessionMessage(message))
					} else {
						g.start()
					}
					g.exchangeNonces(rng)
					partials := g.sign(message)
					for i, s := range g.sessions {
						if got := s.State(); got != StateSigned {
							t.Fatalf("state %s after signing", got)
						}
						for _, j := range rng.Perm(n) {
							_, err := s.CombineSig(j, partials[j])
							requireOK(t, "combine", err)
						}
						requireOK(t, "verify", g.contexts[i].VerifyPartialSignature(partials[i], g.nonces(), i, message))
						signature, err := s.FinalSig()
						requireOK(t, "finish", err)
						requireValid(t, g.contexts[i], signature, message)
						again, err := s.FinalSig()
						requireOK(t, "finish again", err)
						if again != signature || s.State() != StateComplete {
							t.Fatal("the second result differs from the first")
						}
					}
				})
			}
		}
	}
}

func TestHundredSigners(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 100, true, false, []Tweak{BIP86Tweak()}).start()
	coordinator, err := g.contexts[0].NewCoordinator(message)
	requireOK(t, "coordinator", err)
	for i, nonce := range g.nonces() {
		_, err := coordinator.RegisterPubNonce(i, nonce)
		requireOK(t, "nonce", err)
	}
	aggregate, err := coordinator.CombinedNonce()
	requireOK(t, "aggregate", err)
	for i, s := range g.sessions {
		requireOK(t, "set", s.RegisterCombinedNonce(aggregate))
		partial, err := s.Sign(message)
		requireOK(t, "sign", err)
		_, err = coordinator.CombineSig(i, partial)
		requireOK(t, "combine", err)
	}
	signature, err := coordinator.FinalSig()
	requireOK(t, "finish", err)
	requireValid(t, g.contexts[0], signature, message)
}

func TestUsageErrorsKeepTheNonce(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 3, false, false, nil).start()
	s, nonces := g.sessions[0], g.nonces()

	_, err := s.Sign(message)
	requireMissing(t, "no nonces", err, ContributionPubNonce, 1, 2)
	_, err = s.Sign(nil)
	requireMissing(t, "no nonces, no message", err, ContributionPubNonce, 1, 2)
	_, err = s.CombinedNonce()
	requireMissing(t, "aggregate", err, ContributionPubNonce, 1, 2)
	_, err = s.FinalSig()
	requireMissing(t, "finish", err, ContributionPubNonce, 1, 2)
	haveAll, err := s.RegisterPubNonce(2, nonces[2])
	if haveAll || err != nil || !slices.Equal(s.MissingNonces(), []int{1}) {
		t.Fatalf("after one nonce: %v, %v, missing %v", haveAll, err, s.MissingNonces())
	}
	haveAll, err = s.RegisterPubNonce(1, nonces[1])
	if !haveAll || err != nil || s.State() != StateReady {
		t.Fatalf("after all nonces: %v, %v, state %s", haveAll, err, s.State())
	}
	_, err = s.Sign(nil)
	requireKind(t, "no message", err, ErrNoMessage)
	_, err = s.Sign(message, WithSortedKeys())
	requireKind(t, "an option of the context", err, ErrInvalidArgument)
	_, err = s.Sign(message, WithTweaks(BIP86Tweak()))
	requireKind(t, "an option of the context", err, ErrInvalidArgument)
	_, err = s.CombineSig(0, PartialSignature{1})
	requireKind(t, "an own partial signature before signing", err, ErrInvalidArgument)
	first, err := s.Sign(message)
	requireOK(t, "sign", err)

	// From here on the nonce is gone, and the secrets with it.
	for _, m := range [][]byte{nil, message, randomBytes(rng, 32)} {
		_, err = s.Sign(m)
		requireKind(t, "second signature", err, ErrNonceUsed)
	}
	if s.own.SecNonce != [SecNonceSize]byte{} || !s.key.Key.IsZero() {
		t.Fatal("the session still holds secrets")
	}
	_, err = s.FinalSig()
	requireMissing(t, "finish", err, ContributionPartialSig, 1, 2)
	_, err = s.CombineSig(0, first)
	requireOK(t, "the own partial signature by hand", err)
	other := first
	other[31] ^= 1
	_, err = s.CombineSig(0, other)
	requireKind(t, "another own partial signature", err, ErrContributionConflict)
}

func TestMessageConflicts(t *testing.T) {
	rng := newRand(t)
	message, other := randomBytes(rng, 40), randomBytes(rng, 40)
	g := newGroup(t, rng, 2, true, false, nil).start(WithSessionMessage(message)).exchangeNonces(rng)
	s := g.sessions[0]
	_, err := s.Sign(other)
	requireKind(t, "another message", err, ErrMessageConflict)
	if _, err := s.Sign(message); err != nil {
		t.Fatal(err)
	}

	nonces, err := GenNonces(WithPublicKey(g.contexts[0].SigningKeys()[0]))
	requireOK(t, "nonce", err)
	s, err = g.contexts[0].NewSession(WithPreGeneratedNonce(nonces), WithSessionMessage(message))
	requireOK(t, "session", err)
	_, err = s.RegisterPubNonce(1, g.sessions[1].PublicNonce())
	requireOK(t, "nonce", err)
	_, err = s.Sign(other)
	requireKind(t, "another message", err, ErrMessageConflict)
	_, err = s.Sign([]byte{})
	requireKind(t, "an empty message", err, ErrMessageConflict)
	if _, err := s.Sign(nil); err != nil {
		t.Fatal(err)
	}
}

func TestCoordinator(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 5)
	g := newGroup(t, rng, 2, false, false, randomTweaks(rng, 1)).start()
	keyless, err := NewContext(nil, false, WithKnownSigners(g.contexts[0].SigningKeys()), WithTweakedContext(g.contexts[0].agg.tweaks...))
	requireOK(t, "context", err)
	if keyless.SignerIndex() != NoSigner {
		t.Fatal("a signer index without a key")
	}
	_, err = keyless.NewSession()
	requireKind(t, "session", err, ErrNoSecretKey)
	c, err := keyless.NewCoordinator(message)
	requireOK(t, "coordinator", err)
	_, err = c.CombinedNonce()
	requireMissing(t, "aggregate", err, ContributionPubNonce, 0, 1)
	_, err = c.CombineSig(0, PartialSignature{})
	requireMissing(t, "partial", err, ContributionPubNonce, 0, 1)
	for i, nonce := range g.nonces() {
		haveAll, err := c.RegisterPubNonce(i, nonce)
		if err != nil || haveAll != (i == 1) {
			t.Fatalf("nonce %d: %v, %v", i, haveAll, err)
		}
	}
	aggregate, err := c.CombinedNonce()
	requireOK(t, "aggregate", err)
	for i, s := range g.sessions {
		requireOK(t, "aggregate", s.RegisterCombinedNonce(aggregate))
		partial, err := s.Sign(message)
		requireOK(t, "sign", err)
		wrong := partial
		wrong[5] ^= 1
		_, err = c.CombineSig(i, wrong)
		requireBlame(t, "wrong", err, i, ContributionPartialSig)
		_, err = c.FinalSig()
		requireKind(t, "finish", err, ErrMissingContributions)
		_, err = c.CombineSig(i, partial)
		requireOK(t, "partial", err)
	}
	if len(c.MissingNonces()) != 0 || len(c.MissingPartialSigs()) != 0 {
		t.Fatal("something is said to be missing")
	}
	signature, err := c.FinalSig()
	requireOK(t, "finish", err)
	requireValid(t, keyless, signature, message)

	c.Wipe()
	_, err = c.FinalSig()
	requireKind(t, "finish after Wipe", err, ErrWiped)
	_, err = c.RegisterPubNonce(0, aggregate)
	requireKind(t, "nonce after Wipe", err, ErrWiped)
	_, err = c.CombineSig(0, PartialSignature{})
	requireKind(t, "partial after Wipe", err, ErrWiped)
	_, err = c.CombinedNonce()
	requireKind(t, "aggregate after Wipe", err, ErrWiped)
}

func TestWipe(t *testing.T) {
	rng := newRand(t)
	message := randomBytes(rng, 32)
	g := newGroup(t, rng, 2, false, false, nil).start(WithSessionMessage(message)).exchangeNonces(rng)
	ctx, s := g.contexts[0], g.sessions[0]
	ctx.Wipe()
	_, err := ctx.NewSession()
	requireKind(t, "session of a wiped context", err, ErrWiped)
	_, err = ctx.NewCoordinator(nil)
	requireKind(t, "coordinator of a wiped context", err, ErrWiped)
	_, _, err = ctx.DeterministicSign(g.nonces()[1], message, nil)
	requireKind(t, "deterministic signature of a wiped context", err, ErrWiped)
	// The session has its own copy of the key.
	if _, err := s.Sign(nil); err != nil {
		t.Fatal(err)
	}
	s.Wipe()
	for what, err := range map[string]error{
		"sign":      second(s.Sign(nil)),
		"nonce":     second(s.RegisterPubNonce(1, g.nonces()[1])),
		"aggregate": s.RegisterCombinedNonce(g.nonces()[1]),
		"combined":  second(s.CombinedNonce()),
		"partial":   second(s.CombineSig(1, PartialSignature{})),
		"finish":    second(s.FinalSig()),
	} {
		if what == "sign" && errors.Is(err, ErrNonceUsed) {
			continue
		}
		requireKind(t, what, err, ErrWiped)
	}
	unused := g.sessions[1]
	unused.Wipe()
	_, err = unused.Sign(message)
	requireKind(t, "sign after Wipe", err, ErrWiped)
	if unused.State() != StateFailed || unused.own.SecNonce != [SecNonceSize]byte{} || !unused.key.Key.IsZero() {
		t.Fatal("a wiped session still holds secrets")
	}
}

func second[T any](_ T, err error) error { return err }

// TestFailedSelfVerification makes the own public nonce wrong, as a fault would.
func TestFailedSelfVerification(t *testing.T) {
	rng := newRand(t)
	g := newGroup(t, rng, 2, false, false, nil).start().exchangeNonces(rng)
	s := g.sessions[0]
	s.collector.nonces[0].points = s.collector.nonces[1].points
	_, err := s.Sign([]byte("message"))
	requireKind(t, "sign", err, ErrSelfVerify)
	if s.State() != StateFailed || s.own.SecNonce != [SecNonceSize]byte{} || !s.key.Key.IsZero() {
		t.Fatal("a failed session still holds secrets")
	}
	for what, err := range map[string]error{
		"sign":    second(s.Sign([]byte("message"))),
		"nonce":   second(s.RegisterPubNonce(1, g.nonces()[1])),
		"partial": second(s.CombineSig(1, PartialSignature{})),
		"finish":  second(s.FinalSig()),
	} {
		requireKind(t, what, err, ErrSessionFailed)
	}
}

func TestConcurrentSign(t *testing.T) {
	rng := newRand(t)
	for range 50 {
		g := newGroup(t, rng, 2, false, false, nil).start().exchangeNonces(rng)
		// The same secret nonce in two sessions would be the worst case; here
		// it is one Nonces value that many goroutines try to take.
		results := make(chan error, 8)
		for range cap(results) {
			go func() {
				_, err := g.sessions[0].own.take()
				results <- err
			}()
		}
		taken := 0
		for range cap(results) {
			if err := <-results; err == nil {
				taken++
			} else {
				requireKind(t, "take", err, ErrNonceUsed)
			}
		}
		if taken != 1 {
			t.Fatalf("the nonce was taken %d times", taken)
		}
	}
}
