package curve

import (
	"encoding/binary"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// projective is a point in homogeneous coordinates: x = X/Z, y = Y/Z, and
// infinity is (0 : 1 : 0). The magnitudes of its coordinates, in the sense of
// secp256k1.FieldVal, are at most 3, 2 and 2; add and double keep them so.
type projective struct {
	x, y, z secp256k1.FieldVal
}

// b3 is three times the constant of the curve equation y² = x³ + 7.
const b3 = 21

func (p *projective) setInfinity() {
	p.x.Zero()
	p.y.SetInt(1)
	p.z.Zero()
}

// timesB3 multiplies f, of magnitude at most 32, by b3 and leaves it normalized.
func timesB3(f *secp256k1.FieldVal) {
	f.Normalize().MulInt(b3).Normalize()
}

// sub sets r = a - b, where b has at most the given magnitude. The result has
// the magnitude of a plus magnitude plus one.
func sub(r, a, b *secp256k1.FieldVal, magnitude uint32) {
	var neg secp256k1.FieldVal
	neg.NegateVal(b, magnitude)
	r.Add2(a, &neg)
}

// add sets p = a + b with the complete formulas for curves with a = 0 of Renes,
// Costello and Batina, "Complete addition formulas for prime order elliptic
// curves", algorithm 7. They hold for every pair of points, equal, opposite or
// infinite, so there is no case to branch on. p may be a or b.
func (p *projective) add(a, b *projective) {
	var xx, yy, zz, xy, yz, xz, s, t secp256k1.FieldVal
	xx.Mul2(&a.x, &b.x)
	yy.Mul2(&a.y, &b.y)
	zz.Mul2(&a.z, &b.z)

	// The mixed products x1·y2 + x2·y1, y1·z2 + y2·z1 and x1·z2 + x2·z1,
	// each at magnitude 4.
	s.Add2(&a.x, &a.y)
	t.Add2(&b.x, &b.y)
	xy.Mul2(&s, &t)
	t.Add2(&xx, &yy)
	sub(&xy, &xy, &t, 2)
	s.Add2(&a.y, &a.z)
	t.Add2(&b.y, &b.z)
	yz.Mul2(&s, &t)
	t.Add2(&yy, &zz)
	sub(&yz, &yz, &t, 2)
	s.Add2(&a.x, &a.z)
	t.Add2(&b.x, &b.z)
	xz.Mul2(&s, &t)
	t.Add2(&xx, &zz)
	sub(&xz, &xz, &t, 2)

	xx.MulInt(3)
	timesB3(&zz)
	timesB3(&xz)
	s.Add2(&yy, &zz)     // magnitude 2
	sub(&t, &yy, &zz, 1) // magnitude 3

	var u secp256k1.FieldVal
	p.x.Mul2(&xy, &t)
	u.Mul2(&yz, &xz)
	sub(&p.x, &p.x, &u, 1)
	p.y.Mul2(&t, &s)
	u.Mul2(&xz, &xx)
	p.y.Add(&u)
	p.z.Mul2(&s, &yz)
	u.Mul2(&xx, &xy)
	p.z.Add(&u)
}

// double sets p = 2·a with algorithm 9 of the same paper. p may be a.
func (p *projective) double(a *projective) {
	var yy, y8, yz, zz, xy, s, t secp256k1.FieldVal
	yy.SquareVal(&a.y)
	y8.Set(&yy).MulInt(8)
	yz.Mul2(&a.y, &a.z)
	zz.SquareVal(&a.z)
	timesB3(&zz)
	xy.Mul2(&a.x, &a.y)

	s.Add2(&yy, &zz)
	t.Set(&zz).MulInt(3)
	sub(&t, &yy, &t, 3) // magnitude 5
	p.x.Mul2(&t, &xy).MulInt(2)
	p.y.Mul2(&t, &s)
	t.Mul2(&zz, &y8)
	p.y.Add(&t)
	p.z.Mul2(&yz, &y8)
}

// setAffine sets p to a finite or infinite affine point.
func (p *projective) setAffine(a *Point) {
	if IsInfinity(a) {
		p.setInfinity()
		return
	}
	p.x, p.y, p.z = a.X, a.Y, a.Z
}

// affine returns p in affine form. Its time does not depend on p.
func (p *projective) affine() Point {
	var r Point
	var inv secp256k1.FieldVal
	p.z.Normalize()
	// The inverse of 0 comes out as 0, and so do all coordinates.
	inv.Set(&p.z).Inverse()
	r.X.Mul2(&p.x, &inv).Normalize()
	r.Y.Mul2(&p.y, &inv).Normalize()
	r.Z.SetInt(uint16(1 - p.z.IsZeroBit()))
	return r
}

func (p *projective) wipe() {
	p.x.Zero()
	p.y.Zero()
	p.z.Zero()
}

// words is a normalized field element as four machine words, a form that can be
// selected from a table with masks.
type words [4]uint64

func packField(f *secp256k1.FieldVal) words {
	var b [32]byte
	f.PutBytes(&b)
	var w words
	for i := range w {
		w[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return w
}

func (w *words) unpack(f *secp256k1.FieldVal) {
	var b [32]byte
	for i, word := range w {
		binary.BigEndian.PutUint64(b[8*i:], word)
	}
	f.SetBytes(&b)
}

// accumulate adds v to w under a mask of all zeros or all ones.
func (w *words) accumulate(v *words, mask uint64) {
	w[0] |= v[0] & mask
	w[1] |= v[1] & mask
	w[2] |= v[2] & mask
	w[3] |= v[3] & mask
}

// maskEq returns all ones if a equals b, and zero otherwise.
func maskEq(a, b uint64) uint64 {
	d := a ^ b
	return ((d | -d) >> 63) - 1
}
