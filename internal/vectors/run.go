package vectors

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/curve"
	"github.com/brontosig/brontosig/musig2"
)

// RunBIP327 runs one case through the musig2 package, in every way in which the
// package can express it.
func RunBIP327(t *testing.T, c *BIP327Case) {
	t.Helper()
	run, ok := map[string]func(*testing.T, *BIP327Case) (Hex, error){
		"keySort": keySort, "keyAgg": keyAgg, "nonceGen": nonceGen, "nonceAgg": nonceAgg,
		"sign": sign, "verify": verify, "sigAgg": sigAgg, "detSign": detSign,
	}[c.Operation]
	if !ok {
		t.Fatalf("unknown operation %q", c.Operation)
	}
	got, err := run(t, c)
	if c.Error != nil {
		checkFailure(t, c.Error, err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, c.Expected) {
		t.Fatalf("got %x, want %x", got, c.Expected)
	}
}

func checkFailure(t *testing.T, want *Failure, err error) {
	t.Helper()
	if !errors.Is(err, musig2.ErrorKind(want.Kind)) {
		t.Fatalf("got error %v, want %s", err, want.Kind)
	}
	if want.Contribution == "" {
		return
	}
	signer := musig2.NoSigner
	if want.Signer != nil {
		signer = *want.Signer
	}
	var invalid *musig2.InvalidContributionError
	if !errors.As(err, &invalid) || invalid.Signer != signer || string(invalid.Contribution) != want.Contribution {
		t.Fatalf("got error %v, want signer %d to be blamed for %s", err, signer, want.Contribution)
	}
}

func (c *BIP327Case) keys() ([]*btcec.PublicKey, error) {
	encoded := make([][]byte, len(c.PublicKeys))
	for i := range encoded {
		encoded[i] = c.PublicKeys[i]
	}
	return musig2.ParsePubKeys(encoded)
}

func (c *BIP327Case) tweaks() []musig2.Tweak {
	var tweaks []musig2.Tweak
	for _, tweak := range c.Tweaks {
		if value := [musig2.TweakSize]byte(tweak.Tweak); tweak.XOnly {
			tweaks = append(tweaks, musig2.XOnlyTweak(value))
		} else {
			tweaks = append(tweaks, musig2.PlainTweak(value))
		}
	}
	return tweaks
}

// context makes a Context, with the secret key of the case if withKey is set.
func (c *BIP327Case) context(t *testing.T, withKey bool) (*musig2.Context, error) {
	t.Helper()
	keys, err := c.keys()
	if err != nil {
		return nil, err
	}
	var key *btcec.PrivateKey
	if withKey {
		key = secretKey(t, c.SecretKey)
	}
	return musig2.NewContext(key, false, musig2.WithKnownSigners(keys), musig2.WithTweakedContext(c.tweaks()...))
}

func secretKey(t *testing.T, b Hex) *btcec.PrivateKey {
	t.Helper()
	key, err := curve.ParsePrivateKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func pubNonces(list []Hex) [][musig2.PubNonceSize]byte {
	nonces := make([][musig2.PubNonceSize]byte, len(list))
	for i := range list {
		nonces[i] = [musig2.PubNonceSize]byte(list[i])
	}
	return nonces
}

func keySort(t *testing.T, c *BIP327Case) (Hex, error) {
	keys, err := c.keys()
	if err != nil {
		return nil, err
	}
	before := slices.Clone(keys)
	sorted := musig2.SortKeys(keys)
	if !slices.Equal(keys, before) {
		t.Fatal("sorting changed the caller's list")
	}
	for i, key := range sorted {
		if !bytes.Equal(key.SerializeCompressed(), c.Sorted[i]) {
			t.Fatalf("key %d: got %x, want %x", i, key.SerializeCompressed(), c.Sorted[i])
		}
	}
	return nil, nil
}

func keyAgg(_ *testing.T, c *BIP327Case) (Hex, error) {
	keys, err := c.keys()
	if err != nil {
		return nil, err
	}
	agg, err := musig2.AggregateKeys(keys, false, c.tweaks()...)
	if err != nil {
		return nil, err
	}
	return agg.FinalKey.SerializeCompressed()[1:], nil
}

func nonceGen(t *testing.T, c *BIP327Case) (Hex, error) {
	publicKeys, err := musig2.ParsePubKeys([][]byte{c.PublicKey})
	if err != nil {
		return nil, err
	}
	options := []musig2.NonceGenOption{
		musig2.WithCustomRand(bytes.NewReader(c.Rand)),
		musig2.WithPublicKey(publicKeys[0]),
	}
	if c.SecretKey != nil {
		options = append(options, musig2.WithNonceSecretKeyAux(secretKey(t, c.SecretKey)))
	}
	if c.AggregateKey != nil {
		options = append(options, musig2.WithNonceCombinedKeyAux([musig2.XOnlyPubKeySize]byte(c.AggregateKey)))
	}
	if c.Message != nil {
		options = append(options, musig2.WithNonceMessageAux(c.Message))
	}
	if c.ExtraInput != nil {
		options = append(options, musig2.WithNonceAuxInput(c.ExtraInput))
	}
	nonces, err := musig2.GenNonces(options...)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(nonces.SecNonce[:], c.ExpectedSecret) {
		t.Fatalf("secret nonce: got %x, want %x", nonces.SecNonce, c.ExpectedSecret)
	}
	return nonces.PubNonce[:], nil
}

func nonceAgg(_ *testing.T, c *BIP327Case) (Hex, error) {
	aggregate, err := musig2.AggregateNonces(pubNonces(c.PublicNonces))
	return aggregate[:], err
}

// sign makes the partial signature, and where that succeeds checks the figures
// of the other signers with it: the aggregate nonce and the verification.
func sign(t *testing.T, c *BIP327Case) (Hex, error) {
	keys, err := c.keys()
	if err != nil {
		return nil, err
	}
	aggNonce := [musig2.PubNonceSize]byte(c.AggregateNonce)
	secNonce := [musig2.SecNonceSize]byte(c.SecretNonce)
	sig, err := musig2.Sign(&secNonce, secretKey(t, c.SecretKey), aggNonce, keys, c.Message,
		musig2.WithTweaks(c.tweaks()...))
	if secNonce != [musig2.SecNonceSize]byte{} {
		t.Fatal("the secret nonce is still there after Sign")
	}
	if err != nil {
		return nil, err
	}
	nonces := pubNonces(c.PublicNonces)
	sum, err := musig2.AggregateNonces(nonces)
	if err != nil {
		return nil, err
	}
	if sum != aggNonce {
		t.Fatalf("aggregate nonce: got %x, want %x", sum, aggNonce)
	}
	if !sig.Verify(nonces[c.Signer], aggNonce, keys, keys[c.Signer], c.Message, musig2.WithTweaks(c.tweaks()...)) {
		t.Fatal("the partial signature does not verify")
	}
	ctx, err := c.context(t, true)
	if err != nil {
		return nil, err
	}
	if ctx.SignerIndex() != c.Signer {
		t.Fatalf("signer index: got %d, want %d", ctx.SignerIndex(), c.Signer)
	}
	if err := ctx.VerifyPartialSignature(sig, nonces, c.Signer, c.Message); err != nil {
		t.Fatalf("through the context: %v", err)
	}
	return sig[:], nil
}

func verify(t *testing.T, c *BIP327Case) (Hex, error) {
	ctx, err := c.context(t, false)
	if err != nil {
		return nil, err
	}
	err = ctx.VerifyPartialSignature(musig2.PartialSignature(c.PartialSignature),
		pubNonces(c.PublicNonces), c.Signer, c.Message)
	if !c.Invalid {
		return nil, err
	}
	signer := c.Signer
	checkFailure(t, &Failure{Kind: "ErrInvalidContribution", Signer: &signer, Contribution: "psig"}, err)
	return nil, nil
}

// sigAgg combines twice: with the aggregate nonce given, and through a
// Coordinator that verifies each partial signature.
func sigAgg(t *testing.T, c *BIP327Case) (Hex, error) {
	keys, err := c.keys()
	if err != nil {
		return nil, err
	}
	partials := make([]musig2.PartialSignature, len(c.PartialSignatures))
	for i := range partials {
		partials[i] = musig2.PartialSignature(c.PartialSignatures[i])
	}
	signature, err := musig2.CombineSigs([musig2.PubNonceSize]byte(c.AggregateNonce), partials, keys, c.Message,
		musig2.WithTweaks(c.tweaks()...))
	if err != nil {
		return nil, err
	}
	ctx, err := c.context(t, false)
	if err != nil {
		return nil, err
	}
	coordinator, err := ctx.NewCoordinator(c.Message)
	if err != nil {
		return nil, err
	}
	for i, nonce := range pubNonces(c.PublicNonces) {
		if _, err := coordinator.RegisterPubNonce(i, nonce); err != nil {
			return nil, err
		}
	}
	for i := range partials {
		if _, err := coordinator.CombineSig(i, partials[i]); err != nil {
			return nil, err
		}
	}
	again, err := coordinator.FinalSig()
	if err != nil {
		return nil, err
	}
	if again != signature {
		t.Fatalf("through a coordinator: got %x, want %x", again, signature)
	}
	return signature[:], nil
}

// detSign returns the public nonce followed by the partial signature.
func detSign(t *testing.T, c *BIP327Case) (Hex, error) {
	ctx, err := c.context(t, true)
	if err != nil {
		return nil, err
	}
	var random *[musig2.RandSize]byte
	if c.Rand != nil {
		random = (*[musig2.RandSize]byte)(c.Rand)
	}
	nonce, sig, err := ctx.DeterministicSign([musig2.PubNonceSize]byte(c.AggregateNonce), c.Message, random)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(nonce[:], c.ExpectedNonce) {
		t.Fatalf("public nonce: got %s, want %s", hex.EncodeToString(nonce[:]), hex.EncodeToString(c.ExpectedNonce))
	}
	return sig[:], nil
}
