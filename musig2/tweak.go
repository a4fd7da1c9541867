package musig2

import "github.com/brontosig/brontosig/internal/curve"

// TweakSize is the length of a tweak and of a merkle root in bytes.
const TweakSize = 32

type tweakKind uint8

const (
	tweakPlain tweakKind = iota
	tweakXOnly
	tweakTaproot
	tweakBIP86
)

// Tweak is one step that changes an aggregate key (ApplyTweak of BIP-327). The
// zero value is the plain tweak by 0.
type Tweak struct {
	kind  tweakKind
	value [TweakSize]byte
}

// PlainTweak adds tweak·G to the key, as for a BIP-32 derivation. tweak is a
// big-endian integer below n.
func PlainTweak(tweak [TweakSize]byte) Tweak { return Tweak{tweakPlain, tweak} }

// XOnlyTweak adds tweak·G to the key with its y made even. tweak is a
// big-endian integer below n.
func XOnlyTweak(tweak [TweakSize]byte) Tweak { return Tweak{tweakXOnly, tweak} }

// TaprootTweak makes the key a taproot output key that commits to a script
// tree: an x-only tweak by hash_TapTweak(x-only key || merkleRoot) (BIP-341).
func TaprootTweak(merkleRoot [TweakSize]byte) Tweak { return Tweak{tweakTaproot, merkleRoot} }

// BIP86Tweak makes the key a taproot output key without scripts: an x-only
// tweak by hash_TapTweak(x-only key) (BIP-86, BIP-341).
func BIP86Tweak() Tweak { return Tweak{kind: tweakBIP86} }

// applyTweak applies the tweak with the given position in the list.
func (a *keyAgg) applyTweak(i int) error {
	tweak := &a.tweaks[i]
	digest := tweak.value
	switch tweak.kind {
	case tweakTaproot, tweakBIP86:
		x := curve.XOnly(&a.point)
		root := tweak.value[:]
		if tweak.kind == tweakBIP86 {
			root = nil
		}
		digest = taggedHash(tagTapTweak, x[:], root)
	}
	var t curve.Scalar
	if overflow := t.SetBytes(&digest); overflow != 0 {
		return fail(ErrInvalidTweak, "tweak %d is not below the group order", i)
	}
	// With g = -1, Q and both accumulators change sign.
	if tweak.kind != tweakPlain && !curve.HasEvenY(&a.point) {
		a.point = curve.Negate(&a.point)
		a.negated = !a.negated
		a.tacc.Negate()
	}
	a.point = curve.MultiMultNonConst(&t, curve.Term{Scalar: scalarOne(), Point: a.point})
	if curve.IsInfinity(&a.point) {
		return fail(ErrAggregateInfinity, "tweak %d makes the aggregate key the point at infinity", i)
	}
	a.tacc.Add(&t)
	return nil
}
