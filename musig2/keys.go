package musig2

import (
	"bytes"
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
		parsed[i] = btcec.NewPublicKey(&p.X, &p.Y)
	}
	return parsed, nil
}

// SortKeys returns the keys in the lexicographical order of their compressed
// form (KeySort of BIP-327). The argument stays as it is. No key may be nil.
func SortKeys(keys []*btcec.PublicKey) []*btcec.PublicKey {
	set := newKeySet(keys, true)
	return set.keys
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
		FinalKey:      btcec.NewPublicKey(&agg.point.X, &agg.point.Y),
		PreTweakedKey: btcec.NewPublicKey(&agg.untweaked.X, &agg.untweaked.Y),
	}, nil
}

// keySet is a list of public keys in their effective order, in both forms.
type keySet struct {
	keys    []*btcec.PublicKey
	encoded [][PubKeySize]byte
}

func newKeySet(keys []*btcec.PublicKey, sort bool) keySet {
	set := keySet{make([]*btcec.PublicKey, len(keys)), make([][PubKeySize]byte, len(keys))}
	for i, key := range keys {
		set.encoded[i] = encodeKey(key)
	}
	order := make([]int, len(keys))
	for i := range order {
		order[i] = i
	}
	if sort {
		unsorted := slices.Clone(set.encoded)
		slices.SortStableFunc(order, func(a, b int) int {
			return bytes.Compare(unsorted[a][:], unsorted[b][:])
		})
		for i, from := range order {
			set.encoded[i] = unsorted[from]
		}
	}
	for i, from := range order {
		set.keys[i] = keys[from]
	}
	return set
}

// index returns the first position of a key, or -1.
func (s *keySet) index(encoded [PubKeySize]byte) int {
	return slices.Index(s.encoded, encoded)
}

func validKey(key *btcec.PublicKey) bool { return key != nil && key.IsOnCurve() }

func encodeKey(key *btcec.PublicKey) [PubKeySize]byte {
	return [PubKeySize]byte(key.SerializeCompressed())
}

func pointOf(key *btcec.PublicKey) curve.Point {
	var p curve.Point
	key.AsJacobian(&p)
	return p
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
	if len(keys) == 0 {
		return nil, fail(ErrNoKeys, "the list of public keys is empty")
	}
	for i, key := range keys {
		// A key made by hand may be anything; infinity would be a seat that
		// everybody can sign for.
		if !validKey(key) {
			return nil, fail(ErrInvalidArgument, "public key %d is missing or not on the curve", i)
		}
	}
	set := newKeySet(keys, sort)
	return set.aggregate(set.keyAggCoefficients(), tweaks)
}

func (s *keySet) aggregate(coefficients []curve.Scalar, tweaks []Tweak) (*keyAgg, error) {
	agg := &keyAgg{keySet: *s, coefficients: coefficients, tweaks: slices.Clone(tweaks)}
	terms := make([]curve.Term, len(agg.keys))
	for i, key := range agg.keys {
		terms[i] = curve.Term{Scalar: coefficients[i], Point: pointOf(key)}
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
	h := newTagged(tagKeyAggList)
	for i := range s.encoded {
		h.Write(s.encoded[i][:])
	}
	list := h.Sum(nil)
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
			digest := taggedHash(tagKeyAggCoeff, list, s.encoded[i][:])
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
