package musig2

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	peer "github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"

	"github.com/brontosig/brontosig/internal/curve"
)

// peerTweaks brings tweaks to the form of btcec, which has a single script
// tweak for taproot and mixes plain and x-only ones freely otherwise.
func peerTweaks(rng *rand.Rand) (ours []Tweak, sign []peer.SignOption, combine func(msg [32]byte, keys []*btcec.PublicKey, sort bool) []peer.CombineOption) {
	switch rng.IntN(3) {
	case 0:
		return []Tweak{BIP86Tweak()}, []peer.SignOption{peer.WithBip86SignTweak()},
			func(msg [32]byte, keys []*btcec.PublicKey, sort bool) []peer.CombineOption {
				return []peer.CombineOption{peer.WithBip86TweakedCombine(msg, keys, sort)}
			}
	case 1:
		root := [TweakSize]byte(randomBytes(rng, TweakSize))
		return []Tweak{TaprootTweak(root)}, []peer.SignOption{peer.WithTaprootSignTweak(root[:])},
			func(msg [32]byte, keys []*btcec.PublicKey, sort bool) []peer.CombineOption {
				return []peer.CombineOption{peer.WithTaprootTweakedCombine(msg, keys, root[:], sort)}
			}
	}
	var theirs []peer.KeyTweakDesc
	for range rng.IntN(4) {
		value := [TweakSize]byte(randomBytes(rng, TweakSize))
		value[0] &= 0x7f
		xOnly := rng.IntN(2) == 0
		if xOnly {
			ours = append(ours, XOnlyTweak(value))
		} else {
			ours = append(ours, PlainTweak(value))
		}
		theirs = append(theirs, peer.KeyTweakDesc{Tweak: value, IsXOnly: xOnly})
	}
	if len(theirs) == 0 {
		return nil, nil, func([32]byte, []*btcec.PublicKey, bool) []peer.CombineOption { return nil }
	}
	return ours, []peer.SignOption{peer.WithTweaks(theirs...)},
		func(msg [32]byte, keys []*btcec.PublicKey, sort bool) []peer.CombineOption {
			return []peer.CombineOption{peer.WithTweakedCombine(msg, keys, theirs, sort)}
		}
}

// TestAgainstBtcec runs sessions in which each signer is drawn to be ours or
// btcec's. All partial signatures verify on both sides, and both combine to the
// same signature.
func TestAgainstBtcec(t *testing.T) {
	rng := newRand(t)
	sizes := slices.Repeat([]int{1, 2, 2, 3, 3, 5, 5, 16}, 12)
	if !testing.Short() {
		sizes = append(sizes, 100)
	}
	for _, n := range sizes {
		againstBtcec(t, rng, n)
	}
}

func againstBtcec(t *testing.T, rng *rand.Rand, n int) {
	t.Helper()
	sort := rng.IntN(2) == 0
	tweaks, signOptions, combineOptions := peerTweaks(rng)
	if sort {
		signOptions = append(signOptions, peer.WithSortedKeys())
	}
	g := newGroup(t, rng, n, sort, rng.IntN(2) == 0, tweaks)
	keys := g.contexts[0].SigningKeys()
	message := [32]byte(randomBytes(rng, 32))

	// btcec verifies slowly: at most two of many signers are its own.
	theirs := make([]*peer.Nonces, n)
	for i := range n {
		if n < 100 && rng.IntN(2) == 0 || i < 2 && n >= 100 {
			var err error
			theirs[i], err = peer.GenNonces(peer.WithPublicKey(keys[i]), peer.WithNonceSecretKeyAux(g.contexts[i].key))
			requireOK(t, "btcec's nonce", err)
		}
	}
	g.start(WithSessionMessage(message[:]))
	nonces := g.nonces()
	for i, own := range theirs {
		if own != nil {
			nonces[i] = own.PubNonce
		}
	}
	sum, err := AggregateNonces(nonces)
	requireOK(t, "aggregate", err)
	peerSum, err := peer.AggregateNonces(nonces)
	requireOK(t, "btcec's aggregate", err)
	if sum != peerSum {
		t.Fatalf("aggregate nonce %x, btcec has %x", sum, peerSum)
	}

	coordinator, err := g.contexts[0].NewCoordinator(message[:])
	requireOK(t, "coordinator", err)
	for i, nonce := range nonces {
		_, err := coordinator.RegisterPubNonce(i, nonce)
		requireOK(t, "nonce", err)
	}
	var peerPartials []*peer.PartialSignature
	for i := range n {
		var partial PartialSignature
		if own := theirs[i]; own != nil {
			sig, err := peer.Sign(own.SecNonce, g.contexts[i].key, sum, keys, message, signOptions...)
			requireOK(t, "btcec's signature", err)
			partial = sig.S.Bytes()
			peerPartials = append(peerPartials, sig)
		} else {
			requireOK(t, "set", g.sessions[i].RegisterCombinedNonce(sum))
			partial, err = g.sessions[i].Sign(nil)
			requireOK(t, "sign", err)
			s, ok := partial.parse()
			if !ok {
				t.Fatal("our partial signature is not below n")
			}
			r := coordinator.sessionValues().r
			peerPartials = append(peerPartials, &peer.PartialSignature{S: &s, R: curve.NewPublicKey(&r)})
		}
		if n < 100 && !peerPartials[i].Verify(nonces[i], sum, keys, keys[i], message, signOptions...) {
			t.Fatalf("btcec does not accept the partial signature of signer %d", i)
		}
		_, err = coordinator.CombineSig(i, partial)
		requireOK(t, "combine", err)
	}
	signature, err := coordinator.FinalSig()
	requireOK(t, "finish", err)
	requireValid(t, g.contexts[0], signature, message[:])
	combined := peer.CombineSigs(peerPartials[0].R, peerPartials, combineOptions(message, keys, sort)...)
	if !bytes.Equal(combined.Serialize(), signature[:]) {
		t.Fatalf("signature %x, btcec has %x", signature, combined.Serialize())
	}
	xOnly := curve.XOnly(&g.contexts[0].agg.point)
	key, err := schnorr.ParsePubKey(xOnly[:])
	requireOK(t, "key", err)
	if !combined.Verify(message[:], key) {
		t.Fatal("btcec does not accept the signature")
	}
}

// TestVerifySignatureAgainstBtcec compares verdicts on valid and damaged
// signatures.
func TestVerifySignatureAgainstBtcec(t *testing.T) {
	rng := newRand(t)
	for range 200 {
		key := randomKey(t, rng)
		message := [32]byte(randomBytes(rng, 32))
		sig, err := schnorr.Sign(key, message[:])
		requireOK(t, "sign", err)
		signature := [SignatureSize]byte(sig.Serialize())
		xOnly := [XOnlyPubKeySize]byte(schnorr.SerializePubKey(key.PubKey()))
		if !VerifySignature(&signature, message[:], &xOnly) {
			t.Fatal("a valid signature is refused")
		}
		damaged := signature
		damaged[rng.IntN(SignatureSize)] ^= 1 << rng.IntN(8)
		if VerifySignature(&damaged, message[:], &xOnly) {
			t.Fatal("a damaged signature is accepted")
		}
		xOnly[rng.IntN(XOnlyPubKeySize)] ^= 1 << rng.IntN(8)
		if VerifySignature(&signature, message[:], &xOnly) {
			t.Fatal("a signature of another key is accepted")
		}
	}
}
