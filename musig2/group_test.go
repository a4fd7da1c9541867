package musig2

import (
	"errors"
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
		byKey[curve.CompressKey(public[i])] = secret[i]
	}
	order := public
	if sort {
		order = SortKeys(public)
	}
	g := &group{t: t}
	for i := range order {
		ctx, err := NewContext(byKey[curve.CompressKey(order[i])], sort, WithKnownSigners(public),
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
