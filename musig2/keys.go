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
	set := make(keySet, len(keys))
	for i, key := range keys {
		set[i].key, set[i].encoded = key, curve.CompressKey(key)
	}
	set.sort()
	return set.keys()
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

// keySet is a list of public keys in their effective order.
type keySet []signer

// signer is a signer's public key in three forms, and its coefficient.
type signer struct {
	key         *btcec.PublicKey
	encoded     [PubKeySize]byte
	point       curve.Point
	coefficient curve.Scalar
}

// newKeySet checks the keys. The coefficients are missing yet.
func newKeySet(keys []*btcec.PublicKey, sort bool) (keySet, error) {
	if len(keys) == 0 {
		return nil, fail(ErrNoKeys, "the list of public keys is empty")
	}
	set := make(keySet, len(keys))
	for i, key := range keys {
		p, ok := pointOf(key)
		if !ok {
			return nil, fail(ErrInvalidArgument, "public key %d is missing or not on the curve", i)
		}
		set[i] = signer{key: key, encoded: curve.Compress(&p), point: p}
	}
	if sort {
		set.sort()
	}
	return set, nil
}

// sort brings the keys to the order of KeySort. Equal ones are the same key, so
// that their order does not matter.
func (s keySet) sort() {
	slices.SortFunc(s, func(a, b signer) int { return bytes.Compare(a.encoded[:], b.encoded[:]) })
}

func (s keySet) keys() []*btcec.PublicKey {
	keys := make([]*btcec.PublicKey, len(s))
	for i := range s {
		keys[i] = s[i].key
	}
	return keys
}

// index returns the first position of a key, or -1.
func (s keySet) index(encoded [PubKeySize]byte) int {
	return slices.IndexFunc(s, func(own signer) bool { return own.encoded == encoded })
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

// keyAgg is the KeyAgg Context of BIP-327 together with the signers. It is
// public, and does not change once it is made.
type keyAgg struct {
	signers   keySet
	tweaks    []Tweak
	untweaked curve.Point  // Q before the tweaks
	point     curve.Point  // Q
	xOnly     [32]byte     // xbytes(Q)
	negated   bool         // whether gacc is -1
	tacc      curve.Scalar // tacc
}

// aggregate runs KeyAgg and then ApplyTweak for each tweak.
func aggregate(keys []*btcec.PublicKey, sort bool, tweaks []Tweak) (*keyAgg, error) {
	set, err := newKeySet(keys, sort)
	if err != nil {
		return nil, err
	}
	set.setCoefficients()
	return set.aggregate(tweaks)
}

// aggregate is for signers that have their coefficients.
func (s keySet) aggregate(tweaks []Tweak) (*keyAgg, error) {
	agg := &keyAgg{signers: s, tweaks: slices.Clone(tweaks)}
	terms := make([]curve.Term, 0, len(s))
	for i := range s {
		if i > 0 && s[i].encoded == s[i-1].encoded {
			terms[len(terms)-1].Scalar.Add(&s[i].coefficient)
			continue
		}
		terms = append(terms, curve.Term{Scalar: s[i].coefficient, Point: s[i].point})
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

// setCoefficients sets KeyAggCoeff for every key. Keys equal to the second
// distinct one have the coefficient 1.
func (s keySet) setCoefficients() {
	h := sha256.New()
	loadHash(h, tagKeyAggList)
	for i := range s {
		h.Write(s[i].encoded[:])
	}
	var list [sha256.Size]byte
	h.Sum(list[:0])
	second := -1
	for i := range s {
		if second < 0 && s[i].encoded != s[0].encoded {
			second = i
		}
		switch {
		case second >= 0 && s[i].encoded == s[second].encoded:
			s[i].coefficient.SetInt(1)
		case i > 0 && s[i].encoded == s[i-1].encoded:
			s[i].coefficient = s[i-1].coefficient
		default:
			digest := taggedHash(tagKeyAggCoeff, list[:], s[i].encoded[:])
			s[i].coefficient = hashToScalar(&digest)
		}
	}
}

// negatesKeys returns g·gacc as a flag: whether a signer's key, public or secret, is
// negated when it signs for the x-only form of Q.
func (a *keyAgg) negatesKeys() bool {
	return a.negated == curve.HasEvenY(&a.point)
}
