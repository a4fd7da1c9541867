package musig2

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	peer "github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"

	"github.com/brontosig/brontosig/internal/curve"
)

// The benchmarks come in pairs, ours and btcec's, under names that differ in
// their last part only.

var benchSizes = []int{10, 100}

func benchGroup(b *testing.B, n int) *group {
	b.Helper()
	return newGroup(b, rand.New(rand.NewPCG(7, uint64(n))), n, false, false, nil)
}

func eachSize(b *testing.B, run func(b *testing.B, n int)) {
	for _, n := range benchSizes {
		b.Run(fmt.Sprintf("signers=%d", n), func(b *testing.B) { run(b, n) })
	}
}

func eachSort(b *testing.B, run func(b *testing.B, n int, sort bool)) {
	eachSize(b, func(b *testing.B, n int) {
		for _, sort := range []bool{false, true} {
			b.Run(fmt.Sprintf("sort=%v", sort), func(b *testing.B) { run(b, n, sort) })
		}
	})
}

func BenchmarkAggregateKeys(b *testing.B) {
	eachSort(b, func(b *testing.B, n int, sort bool) {
		keys := benchGroup(b, n).contexts[0].SigningKeys()
		b.Run("ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := AggregateKeys(keys, sort); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("btcec", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, _, err := peer.AggregateKeys(keys, sort); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

func BenchmarkAggregateNonces(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		nonces := benchGroup(b, n).start().nonces()
		b.Run("ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := AggregateNonces(nonces); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("btcec", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := peer.AggregateNonces(nonces); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}

// signing is what a benchmark of signing needs.
type signing struct {
	g      *group
	keys   []*btcec.PublicKey
	nonces *Nonces
	sum    [PubNonceSize]byte
	secret [SecNonceSize]byte
	msg    [32]byte
}

func newSigning(b *testing.B, n int) *signing {
	b.Helper()
	s := &signing{g: benchGroup(b, n).start()}
	s.keys = s.g.contexts[0].SigningKeys()
	var err error
	s.nonces, err = GenNonces(WithPublicKey(s.keys[0]))
	requireOK(b, "nonce", err)
	s.secret = s.nonces.SecNonce
	all := s.g.nonces()
	all[0] = s.nonces.PubNonce
	s.sum, err = AggregateNonces(all)
	requireOK(b, "aggregate", err)
	return s
}

// BenchmarkPartialSign signs the same message with the same nonce over and over,
// which only a benchmark may do.
func BenchmarkPartialSign(b *testing.B) {
	eachSort(b, func(b *testing.B, n int, sort bool) {
		for _, fast := range []bool{false, true} {
			var options []SignOption
			var theirs []peer.SignOption
			if sort {
				options, theirs = append(options, WithSortedKeys()), append(theirs, peer.WithSortedKeys())
			}
			if fast {
				options, theirs = append(options, WithFastSign()), append(theirs, peer.WithFastSign())
			}
			s := newSigning(b, n)
			key := s.g.contexts[0].key
			b.Run(fmt.Sprintf("fast=%v/ours", fast), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					secret := s.secret
					if _, err := Sign(&secret, key, s.sum, s.keys, s.msg[:], options...); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("fast=%v/btcec", fast), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := peer.Sign(s.secret, key, s.sum, s.keys, s.msg, theirs...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

// BenchmarkContextSign signs through a Context, which has aggregated the keys.
func BenchmarkContextSign(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		for _, fast := range []bool{false, true} {
			var options []SignOption
			if fast {
				options = append(options, WithFastSign())
			}
			s := newSigning(b, n)
			b.Run(fmt.Sprintf("fast=%v/ours", fast), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					nonces := &Nonces{PubNonce: s.nonces.PubNonce, SecNonce: s.secret}
					session, err := s.g.contexts[0].NewSession(WithPreGeneratedNonce(nonces))
					if err != nil {
						b.Fatal(err)
					}
					if err := session.RegisterCombinedNonce(s.sum); err != nil {
						b.Fatal(err)
					}
					if _, err := session.Sign(s.msg[:], options...); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}

func BenchmarkPartialVerify(b *testing.B) {
	eachSort(b, func(b *testing.B, n int, sort bool) {
		var options []SignOption
		var theirs []peer.SignOption
		if sort {
			options, theirs = append(options, WithSortedKeys()), append(theirs, peer.WithSortedKeys())
		}
		s := newSigning(b, n)
		secret := s.secret
		sig, err := Sign(&secret, s.g.contexts[0].key, s.sum, s.keys, s.msg[:], options...)
		requireOK(b, "sign", err)
		scalar, _ := sig.parse()
		theirSig := &peer.PartialSignature{S: &scalar}
		signer := s.keys[0] // btcec sorts the list that it is given
		b.Run("ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !sig.Verify(s.nonces.PubNonce, s.sum, s.keys, signer, s.msg[:], options...) {
					b.Fatal("invalid")
				}
			}
		})
		b.Run("btcec", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if !theirSig.Verify(s.nonces.PubNonce, s.sum, s.keys, signer, s.msg, theirs...) {
					b.Fatal("invalid")
				}
			}
		})
	})
}

// BenchmarkCombineSigs combines and, ours alone, verifies.
func BenchmarkCombineSigs(b *testing.B) {
	eachSize(b, func(b *testing.B, n int) {
		message := make([]byte, 32)
		g := benchGroup(b, n).start().exchangeNonces(rand.New(rand.NewPCG(1, 1)))
		partials := g.sign(message)
		sum, err := g.sessions[0].CombinedNonce()
		requireOK(b, "aggregate", err)
		r := g.sessions[0].sessionValues().r
		final := curve.NewPublicKey(&r)
		theirs := make([]*peer.PartialSignature, n)
		for i := range partials {
			scalar, _ := partials[i].parse()
			theirs[i] = &peer.PartialSignature{S: &scalar, R: final}
		}
		keys := g.contexts[0].SigningKeys()
		b.Run("ours", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := CombineSigs(sum, partials, keys, message); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run("btcec", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				peer.CombineSigs(final, theirs)
			}
		})
	})
}

func BenchmarkGenNonces(b *testing.B) {
	g := benchGroup(b, 2)
	key := g.contexts[0].key
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := GenNonces(WithNonceSecretKeyAux(key)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("btcec", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := peer.GenNonces(peer.WithPublicKey(g.contexts[0].agg.signers[0].key), peer.WithNonceSecretKeyAux(key)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
