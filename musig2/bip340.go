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
	// s·G - e·P must be the R with an even y that the signature names.
	e := challenge(&r, xOnlyKey, message)
	e.Negate()
	got := curve.MultiMultNonConst(&s, curve.Term{Scalar: e, Point: p})
	return curve.EqualNonConst(&got, &r)
}
