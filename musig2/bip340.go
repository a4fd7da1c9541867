package musig2

import "github.com/brontosig/brontosig/internal/curve"

// SignatureSize is the length of a BIP-340 signature in bytes: the x coordinate
// of R, then s.
const SignatureSize = 64

// VerifySignature reports whether signature is a BIP-340 signature of the
// message, of any length, under the x-only key.
func VerifySignature(signature *[SignatureSize]byte, message []byte, xOnlyKey *[XOnlyPubKeySize]byte) bool {
	p, err := curve.LiftX(xOnlyKey[:])
	if err != nil {
		return false
	}
	r, err := curve.LiftX(signature[:curve.XOnlySize])
	if err != nil {
		return false
	}
	var s curve.Scalar
	if overflow := s.SetByteSlice(signature[curve.XOnlySize:]); overflow {
		return false
	}
	e := challenge(&r, xOnlyKey, message)
	return schnorrHolds(&s, &e, p, r)
}

// schnorrHolds reports whether s·G = R + e·P, the equation of BIP-340. P and R
// have an even y.
func schnorrHolds(s, e *curve.Scalar, p, r curve.Point) bool {
	var negated curve.Scalar
	negated.NegateVal(e)
	return curve.MultiMultIsNonConst(&r, s, curve.Term{Scalar: negated, Point: p})
}
