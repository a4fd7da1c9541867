package musig2

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/curve"
)

// Sizes in bytes.
const (
	// PubKeySize is the length of a compressed public key.
	PubKeySize = curve.CompressedSize
	// XOnlyPubKeySize is the length of an x-only public key (BIP-340).
	XOnlyPubKeySize = curve.XOnlySize
	// SecretKeySize is the length of a secret key, big-endian.
	SecretKeySize = curve.ScalarSize
)

// ParsePubKeys decodes compressed public keys of 33 bytes each. A key that is
// not one is an InvalidContributionError that names its index.
func ParsePubKeys(keys [][]byte) ([]*btcec.PublicKey, error) {
	parsed := make([]*btcec.PublicKey, len(keys))
	for i, b := range keys {
		p, err := curve.ParseCompressed(b)
		if err != nil {
			reason := err.Error()
			if len(b) == XOnlyPubKeySize {
				reason = "32 bytes: an x-only key where a compressed one of 33 bytes belongs"
			}
			return nil, blame(i, ContributionPubKey, reason)
		}
		parsed[i] = curve.NewPublicKey(&p)
	}
	return parsed, nil
}

// SortKeys returns the keys in the lexicographical order of their compressed
// form (KeySort of BIP-327). The argument stays as it is. No key may be nil.
func SortKeys(keys []*btcec.PublicKey) []*btcec.PublicKey {
	encoded := make([][PubKeySize]byte, len(keys))
	for i, key := range keys {
		encoded[i] = curve.CompressKey(key)
	}
	return permuted(keys, keyOrder(encoded))
}

// keyOrder returns the positions of the keys in the order of KeySort.
func keyOrder(encoded [][PubKeySize]byte) []int {
	order := make([]int, len(encoded))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return bytes.Compare(encoded[a][:], encoded[b][:])
	})
	return order
}

func permuted[T any](list []T, order []int) []T {
	r := make([]T, len(list))
	for i, from := range order {
		r[i] = list[from]
	}
	return r
}

// AggregateKey is the aggregate of a set of public keys.
type AggregateKey struct {
	// FinalKey is the aggregate key with all tweaks applied.
	FinalKey *btcec.PublicKey
	// PreTweakedKey is the aggregate key before any tweak.
	PreTweakedKey *btcec.PublicKey
}

// AggregateKeys aggregates public keys (KeyAgg of BIP-327), sorted first if
// sort is set, and applies the tweaks in their order (ApplyTweak). It fails
// with ErrNoKeys, ErrInvalidArgument for a key that is nil or not on the curve,
// ErrAggregateInfinity or ErrInvalidTweak.
func AggregateKeys(keys []*btcec.PublicKey, sort bool, tweaks ...Tweak) (*AggregateKey, error) {
	agg, err := aggregate(keys, sort, tweaks)
	if err != nil {
		return nil, err
	}
	return &AggregateKey{
		FinalKey:      curve.NewPublicKey(&agg.point),
		PreTweakedKey: curve.NewPublicKey(&agg.untweaked),
	}, nil
}

// keySet is a list of public keys in their effective order, in three forms.
type keySet struct {
	keys    []*btcec.PublicKey
	encoded [][PubKeySize]byte
	points  []curve.Point
}

func newKeySet(keys []*btcec.PublicKey, sort bool) (*keySet, error) {
	if len(keys) == 0 {
		return nil, fail(ErrNoKeys, "the list of public keys is empty")
	}
	set := &keySet{slices.Clone(keys), make([][PubKeySize]byte, len(keys)), make([]curve.Point, len(keys))}
	for i, key := range keys {
		p, ok := pointOf(key)
		if !ok {
			return nil, fail(ErrInvalidArgument, "public key %d is missing or not on the curve", i)
		}
		set.points[i] = p
		set.encoded[i] = curve.Compress(&p)
	}
	if sort {
		order := keyOrder(set.encoded)
		set.keys = permuted(set.keys, order)
		set.encoded = permuted(set.encoded, order)
		set.points = permuted(set.points, order)
	}
	return set, nil
}

// index returns the first position of a key, or -1.
func (s *keySet) index(encoded [PubKeySize]byte) int {
	return slices.Index(s.encoded, encoded)
}

// pointOf returns the point of a key, and false for one that is nil or not on the
// curve: a key made by hand may be anything, and infinity would be a seat that
// everybody can sign for.
func pointOf(key *btcec.PublicKey) (curve.Point, bool) {
	if key == nil {
		return curve.Point{}, false
	}
	return curve.PointOf(key)
}

// keyAgg is the KeyAgg Context of BIP-327 together with the keys and their
// coefficients. It is public, and does not change once it is made.
type keyAgg struct {
	keySet
	coefficients []curve.Scalar
	tweaks       []Tweak
	untweaked    curve.Point  // Q before the tweaks
	point        curve.Point  // Q
	xOnly        [32]byte     // xbytes(Q)
	negated      bool         // whether gacc is -1
	tacc         curve.Scalar // tacc
}

// aggregate runs KeyAgg and then ApplyTweak for each tweak.
func aggregate(keys []*btcec.PublicKey, sort bool, tweaks []Tweak) (*keyAgg, error) {
	set, err := newKeySet(keys, sort)
	if err != nil {
		return nil, err
	}
	return set.aggregate(set.keyAggCoefficients(), tweaks)
}

func (s *keySet) aggregate(coefficients []curve.Scalar, tweaks []Tweak) (*keyAgg, error) {
	agg := &keyAgg{keySet: *s, coefficients: coefficients, tweaks: slices.Clone(tweaks)}
	terms := make([]curve.Term, 0, len(agg.keys))
	for i := range agg.points {
		if i > 0 && agg.encoded[i] == agg.encoded[i-1] {
			terms[len(terms)-1].Scalar.Add(&coefficients[i])
			continue
		}
		terms = append(terms, curve.Term{Scalar: coefficients[i], Point: agg.points[i]})
	}
	agg.point = curve.MultiMultNonConst(nil, terms...)
	if curve.IsInfinity(&agg.point) {
		return nil, fail(ErrAggregateInfinity, "the aggregate of the public keys is the point at infinity")
	}
	agg.untweaked = agg.point
	for i := range agg.tweaks {
		if err := agg.applyTweak(i); err != nil {
			return nil, err
		}
	}
	agg.xOnly = curve.XOnly(&agg.point)
	return agg, nil
}

// keyAggCoefficients returns KeyAggCoeff for every key. Keys equal to the
// second distinct one have the coefficient 1.
func (s *keySet) keyAggCoefficients() []curve.Scalar {
	h := tagKeyAggList.start()
	for i := range s.encoded {
		h.Write(s.encoded[i][:])
	}
	var list [sha256.Size]byte
	h.Sum(list[:0])
	second := -1
	coefficients := make([]curve.Scalar, len(s.encoded))
	for i := range s.encoded {
		if second < 0 && s.encoded[i] != s.encoded[0] {
			second = i
		}
		switch {
		case second >= 0 && s.encoded[i] == s.encoded[second]:
			coefficients[i].SetInt(1)
		case i > 0 && s.encoded[i] == s.encoded[i-1]:
			coefficients[i] = coefficients[i-1]
		default:
			digest := taggedHash(tagKeyAggCoeff, list[:], s.encoded[i][:])
			coefficients[i] = hashToScalar(&digest)
		}
	}
	return coefficients
}

// negatesKeys returns g·gacc as a flag: whether a signer's key, public or secret, is
// negated when it signs for the x-only form of Q.
func (a *keyAgg) negatesKeys() bool {
	return a.negated == curve.HasEvenY(&a.point)
}
