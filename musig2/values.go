package musig2

import "github.com/brontosig/brontosig/internal/curve"

// sessionValues are the values of GetSessionValues of BIP-327 that the keys,
// the aggregate nonce and the message determine. They are public.
type sessionValues struct {
	agg *keyAgg
	b   curve.Scalar // nonce coefficient
	e   curve.Scalar // challenge
	r   curve.Point  // final nonce
}

// newSessionValues runs GetSessionValues, with points the parsed form of
// aggNonce.
func newSessionValues(agg *keyAgg, aggNonce *[PubNonceSize]byte, points *noncePoints,
	message []byte) *sessionValues {

	v := &sessionValues{agg: agg}
	digest := taggedHash(tagNonceCoeff, aggNonce[:], agg.xOnly[:], message)
	v.b = hashToScalar(&digest)
	v.r = v.combine(points)
	if curve.IsInfinity(&v.r) {
		v.r = curve.Generator()
	}
	v.e = challenge(&v.r, &agg.xOnly, message)
	return v
}

// challenge is the e of BIP-340.
func challenge(r *curve.Point, xOnlyKey *[XOnlyPubKeySize]byte, message []byte) curve.Scalar {
	x := curve.XOnly(r)
	digest := taggedHash(tagChallenge, x[:], xOnlyKey[:], message)
	return hashToScalar(&digest)
}

// combine returns R1 + b·R2.
func (v *sessionValues) combine(points *noncePoints) curve.Point {
	return curve.MultiMultNonConst(nil,
		curve.Term{Scalar: scalarOne(), Point: points[0]},
		curve.Term{Scalar: v.b, Point: points[1]})
}

// sign computes a partial signature (Sign of BIP-327) and wipes the nonce. key
// is the secret key of the signer with the given index.
func (v *sessionValues) sign(nonce *secretNonce, key *curve.Scalar, signer int) curve.Scalar {
	defer nonce.wipe()
	k1, k2 := nonce.k[0], nonce.k[1]
	// Which of the values are negated depends on public points alone.
	if !curve.HasEvenY(&v.r) {
		k1.Negate()
		k2.Negate()
	}
	var s, d curve.Scalar
	d.Set(key)
	if v.agg.negatesKeys() {
		d.Negate()
	}
	s.Mul2(&v.e, &v.agg.signers[signer].coefficient).Mul(&d)
	k2.Mul(&v.b)
	s.Add(&k1).Add(&k2)
	k1.Zero()
	k2.Zero()
	d.Zero()
	return s
}

// verify reports whether s is the partial signature of the signer whose public
// nonce is given (PartialSigVerifyInternal of BIP-327).
func (v *sessionValues) verify(s *curve.Scalar, nonce *noncePoints, signer int) bool {
	// s·G = ±(R1 + b·R2) + e·a·g·P with the sign that makes the final nonce even,
	// in the form s·G - e·a·g·P ∓ b·R2 = ±R1.
	var e curve.Scalar
	e.Mul2(&v.e, &v.agg.signers[signer].coefficient)
	if !v.agg.negatesKeys() {
		e.Negate()
	}
	b, first := v.b, nonce[0]
	if curve.HasEvenY(&v.r) {
		b.Negate()
	} else {
		first = curve.Negate(&first)
	}
	return curve.MultiMultIsNonConst(&first, s,
		curve.Term{Scalar: e, Point: v.agg.signers[signer].point},
		curve.Term{Scalar: b, Point: nonce[1]})
}

// combineSigs adds the partial signatures of all signers up to a BIP-340
// signature (PartialSigAgg of BIP-327), and verifies it.
func (v *sessionValues) combineSigs(partials []curve.Scalar) (signature [SignatureSize]byte, valid bool) {
	var s curve.Scalar
	s.Mul2(&v.e, &v.agg.tacc)
	if !curve.HasEvenY(&v.agg.point) {
		s.Negate()
	}
	for i := range partials {
		s.Add(&partials[i])
	}
	x := curve.XOnly(&v.r)
	copy(signature[:], x[:])
	s.PutBytesUnchecked(signature[curve.XOnlySize:])
	return signature, schnorrHolds(&s, &v.e, withEvenY(&v.agg.point), withEvenY(&v.r))
}

// withEvenY returns p or -p, whichever has an even y (with_even_y of BIP-327).
func withEvenY(p *curve.Point) curve.Point {
	if curve.HasEvenY(p) {
		return *p
	}
	return curve.Negate(p)
}
