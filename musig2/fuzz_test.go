package musig2

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/curve"
)

// byteSource turns the bytes of a fuzzer into the decisions of a random test:
// each byte is the most significant one of a random number. The other bits
// change with every call, for rand draws again until it likes them.
type byteSource struct {
	rest  []byte
	calls uint64
}

func (s *byteSource) Uint64() uint64 {
	s.calls++
	low := s.calls * 0x9e3779b97f4a7c15 >> 8
	if len(s.rest) == 0 {
		return low
	}
	b := s.rest[0]
	s.rest = s.rest[1:]
	return uint64(b)<<56 | low
}

// fixedGroup makes signers whose keys never change.
func fixedGroup(t testing.TB, n int, tweaks ...Tweak) *group {
	t.Helper()
	return newGroup(t, rand.New(rand.NewPCG(1, uint64(n))), n, true, false, tweaks)
}

func FuzzSession(f *testing.F) {
	groups := []*group{fixedGroup(f, 1), fixedGroup(f, 2, BIP86Tweak()), fixedGroup(f, 3)}
	f.Add([]byte{0, 0, 0, 0, 0})
	f.Add([]byte{200, 200, 0, 100, 120, 180, 220, 10, 250, 130, 0, 255, 60, 60, 60, 190, 190})
	f.Fuzz(func(t *testing.T, decisions []byte) {
		source := &byteSource{rest: decisions[:min(len(decisions), 200)]}
		rng := rand.New(source)
		m := newModel(t, rng, groups[rng.IntN(len(groups))])
		for len(source.rest) > 0 {
			m.check(m.step())
		}
	})
}

func FuzzUnmarshalContext(f *testing.F) {
	for _, g := range []*group{fixedGroup(f, 1), fixedGroup(f, 2, BIP86Tweak(), PlainTweak([TweakSize]byte{1}))} {
		encoded, err := g.contexts[0].MarshalBinary()
		requireOK(f, "marshal", err)
		f.Add(encoded[:len(encoded)-contextChecksumSize])
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var ctx Context
		if err := ctx.UnmarshalBinary(body); err != nil {
			requireKind(t, "unmarshal", err, ErrMalformedContext)
		}
		// With a checksum, which no fuzzer finds.
		sum := taggedHash(tagContext, body)
		data := append(bytes.Clone(body), sum[:contextChecksumSize]...)
		if err := ctx.UnmarshalBinary(data); err != nil {
			requireKind(t, "unmarshal", err, ErrMalformedContext)
			return
		}
		again, err := ctx.MarshalBinary()
		requireOK(t, "marshal", err)
		if !bytes.Equal(again, data) {
			t.Fatalf("%x came back as %x", data, again)
		}
	})
}

func FuzzParsePubKeys(f *testing.F) {
	key := fixedGroup(f, 1).contexts[0].agg.signers[0].encoded
	f.Add(key[:])
	f.Add(key[1:])
	f.Fuzz(func(t *testing.T, b []byte) {
		keys, err := ParsePubKeys([][]byte{b})
		if err != nil {
			requireBlame(t, "parse", err, 0, ContributionPubKey)
			return
		}
		if encoded := curve.CompressKey(keys[0]); !bytes.Equal(encoded[:], b) {
			t.Fatalf("%x came back as %x", b, encoded)
		}
		agg, err := AggregateKeys([]*btcec.PublicKey{keys[0], keys[0]}, true)
		requireOK(t, "aggregate", err)
		if !agg.FinalKey.IsOnCurve() {
			t.Fatal("the aggregate is not on the curve")
		}
	})
}

func FuzzNonces(f *testing.F) {
	g := fixedGroup(f, 2).start()
	nonces := g.nonces()
	f.Add(nonces[0][:], nonces[1][:])
	opposite := nonces[0]
	opposite[0] ^= 1
	f.Add(nonces[0][:], opposite[:])
	f.Add(make([]byte, PubNonceSize), nonces[1][:])
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if len(a) != PubNonceSize || len(b) != PubNonceSize {
			return
		}
		pair := [][PubNonceSize]byte{[PubNonceSize]byte(a), [PubNonceSize]byte(b)}
		sum, err := AggregateNonces(pair)
		if err != nil {
			requireKind(t, "aggregate", err, ErrInvalidContribution)
			// An aggregate nonce may have halves at infinity; parsing must
			// agree with encoding.
			if points, err := parseAggNonce(&pair[0]); err == nil && points.encode() != pair[0] {
				t.Fatalf("%x came back as %x", a, points.encode())
			}
			return
		}
		slices.Reverse(pair)
		swapped, err := AggregateNonces(pair)
		requireOK(t, "aggregate", err)
		if swapped != sum {
			t.Fatal("the sum depends on the order")
		}
		s, err := g.contexts[0].NewSession(WithSessionMessage(nil))
		requireOK(t, "session", err)
		requireOK(t, "aggregate nonce", s.RegisterCombinedNonce(sum))
		if _, err := s.Sign(nil); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzPartialSignature(f *testing.F) {
	g := fixedGroup(f, 2).start(WithSessionMessage(nil)).exchangeNonces(rand.New(rand.NewPCG(1, 1)))
	partials, nonces := g.sign(nil), g.nonces()
	f.Add(partials[0][:])
	f.Add(bytes.Repeat([]byte{0xff}, PartialSigSize))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) != PartialSigSize {
			return
		}
		sig := PartialSignature(b)
		err := g.contexts[1].VerifyPartialSignature(sig, nonces, 0, nil)
		if sig == partials[0] {
			requireOK(t, "verify", err)
		} else {
			requireBlame(t, "verify", err, 0, ContributionPartialSig)
		}
	})
}

func FuzzVerifySignature(f *testing.F) {
	// The same signature in every process of the fuzzer.
	g := fixedGroup(f, 1)
	nonces, err := GenNonces(WithNonceSecretKeyAux(g.contexts[0].key), WithCustomRand(bytes.NewReader(make([]byte, 32))))
	requireOK(f, "nonce", err)
	g.start(WithPreGeneratedNonce(nonces), WithSessionMessage([]byte("message"))).sign(nil)
	signature, err := g.sessions[0].FinalSig()
	requireOK(f, "finish", err)
	xOnly := curve.XOnly(&g.contexts[0].agg.point)
	f.Add(signature[:], []byte("message"), xOnly[:])
	f.Fuzz(func(t *testing.T, sig, message, key []byte) {
		if len(sig) != SignatureSize || len(key) != XOnlyPubKeySize {
			return
		}
		valid := VerifySignature((*[SignatureSize]byte)(sig), message, (*[XOnlyPubKeySize]byte)(key))
		genuine := bytes.Equal(sig, signature[:]) && bytes.Equal(key, xOnly[:]) && string(message) == "message"
		if genuine && !valid {
			t.Fatal("the genuine signature is refused")
		}
		if valid && bytes.Equal(key, xOnly[:]) && !genuine {
			t.Fatal("a forgery")
		}
	})
}
