package musig2

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"

	"github.com/brontosig/brontosig/internal/curve"
)

func newRand(t testing.TB) *rand.Rand {
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

func randomKey(t testing.TB, rng *rand.Rand) *btcec.PrivateKey {
	t.Helper()
	key, err := curve.ParsePrivateKey(randomBytes(rng, SecretKeySize))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func randomTweaks(rng *rand.Rand, n int) []Tweak {
	tweaks := make([]Tweak, n)
	for i := range tweaks {
		value := [TweakSize]byte(randomBytes(rng, TweakSize))
		value[0] &= 0x7f // below the group order
		switch rng.IntN(4) {
		case 0:
			tweaks[i] = PlainTweak(value)
		case 1:
			tweaks[i] = XOnlyTweak(value)
		case 2:
			tweaks[i] = TaprootTweak(value)
		default:
			tweaks[i] = BIP86Tweak()
		}
	}
	return tweaks
}

// group is a set of signers who know each other.
type group struct {
	t        testing.TB
	contexts []*Context // by signer index
	sessions []*Session
}

// newGroup makes n signers; with repeat, keys may be the same.
func newGroup(t testing.TB, rng *rand.Rand, n int, sort, repeat bool, tweaks []Tweak) *group {
	t.Helper()
	secret := make([]*btcec.PrivateKey, n)
	public := make([]*btcec.PublicKey, n)
	for i := range secret {
		secret[i] = randomKey(t, rng)
		if repeat && i > 0 && rng.IntN(2) == 0 {
			secret[i] = secret[rng.IntN(i)]
		}
		public[i] = curve.PublicKey(secret[i])
	}
	byKey := map[[PubKeySize]byte]*btcec.PrivateKey{}
	for i := range secret {
		byKey[encodeKey(public[i])] = secret[i]
	}
	order := public
	if sort {
		order = SortKeys(public)
	}
	g := &group{t: t}
	for i := range order {
		ctx, err := NewContext(byKey[encodeKey(order[i])], sort, WithKnownSigners(public),
			WithTweakedContext(tweaks...), WithSignerIndex(i))
		if err != nil {
			t.Fatal(err)
		}
		g.contexts = append(g.contexts, ctx)
	}
	return g
}

func (g *group) start(options ...SessionOption) *group {
	g.t.Helper()
	g.sessions = nil
	for _, ctx := range g.contexts {
		s, err := ctx.NewSession(options...)
		if err != nil {
			g.t.Fatal(err)
		}
		g.sessions = append(g.sessions, s)
	}
	return g
}

func (g *group) nonces() [][PubNonceSize]byte {
	nonces := make([][PubNonceSize]byte, len(g.sessions))
	for i, s := range g.sessions {
		nonces[i] = s.PublicNonce()
	}
	return nonces
}

// exchangeNonces gives every session every nonce, in a random order.
func (g *group) exchangeNonces(rng *rand.Rand) *group {
	g.t.Helper()
	nonces := g.nonces()
	for _, s := range g.sessions {
		for _, i := range rng.Perm(len(nonces)) {
			if _, err := s.RegisterPubNonce(i, nonces[i]); err != nil {
				g.t.Fatal(err)
			}
		}
	}
	return g
}

func (g *group) sign(message []byte) []PartialSignature {
	g.t.Helper()
	partials := make([]PartialSignature, len(g.sessions))
	for i, s := range g.sessions {
		var err error
		if partials[i], err = s.Sign(message); err != nil {
			g.t.Fatal(err)
		}
	}
	return partials
}

// requireValid checks a signature with an implementation that is not ours.
func requireValid(t testing.TB, ctx *Context, signature [SignatureSize]byte, message []byte) {
	t.Helper()
	xOnly := curve.XOnly(&ctx.agg.point)
	if !VerifySignature(&signature, message, &xOnly) {
		t.Fatal("the signature does not verify")
	}
	if len(message) != 32 {
		return // btcec verifies digests only
	}
	parsed, err := schnorr.ParseSignature(signature[:])
	if err != nil {
		t.Fatal(err)
	}
	key, err := schnorr.ParsePubKey(xOnly[:])
	if err != nil {
		t.Fatal(err)
	}
	if !parsed.Verify(message, key) {
		t.Fatal("btcec does not accept the signature")
	}
}

func requireKind(t testing.TB, what string, err error, kind ErrorKind) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("%s: got error %v, want %s", what, err, kind)
	}
	var own *Error
	var invalid *InvalidContributionError
	var absent *MissingError
	if !errors.As(err, &own) && !errors.As(err, &invalid) && !errors.As(err, &absent) {
		t.Fatalf("%s: error of an unknown type %T", what, err)
	}
}

func requireBlame(t testing.TB, what string, err error, signer int, contribution Contribution) {
	t.Helper()
	var invalid *InvalidContributionError
	if !errors.As(err, &invalid) || invalid.Signer != signer || invalid.Contribution != contribution {
		t.Fatalf("%s: got error %v, want signer %d to be blamed for %s", what, err, signer, contribution)
	}
}

func requireMissing(t testing.TB, what string, err error, contribution Contribution, signers ...int) {
	t.Helper()
	var absent *MissingError
	if !errors.As(err, &absent) || absent.Contribution != contribution || !slices.Equal(absent.Signers, signers) {
		t.Fatalf("%s: got error %v, want %s of %v to be missing", what, err, contribution, signers)
	}
}

func requireOK(t testing.TB, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

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
	requireKind(t, "another message", err, ErrNonceMismatch) // the nonce is bound to the first
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
	// The nonce brings it out, and makes room for the right one.
	_, err = s.RegisterPubNonce(2, nonces[2])
	requireBlame(t, "nonce", err, 2, ContributionPartialSig)
	_, err = s.RegisterPubNonce(2, nonces[2])
	requireOK(t, "nonce again", err)
	_, err = s.CombineSig(2, wrong)
	requireBlame(t, "wrong partial again", err, 2, ContributionPartialSig)
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
