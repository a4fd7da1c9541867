// Package curve is the group arithmetic of secp256k1 that the musig2 and
// brontide packages share.
//
// Keys and scalars are the types of github.com/decred/dcrd/dcrec/secp256k1/v4
// (the same types that btcec names). Field elements and points are its own, and
// so is everything that multiplies points: it is faster than what the dependency
// has, above all in wasm, and does not branch on secrets. BaseMult, Mult and
// what is built on them (PublicKey, ECDH) are for secrets. A function that may
// take time that depends on its arguments has NonConst in its name and is for
// public data alone.
//
// What is straight code, the arithmetic of elements and the formulas of points,
// is written by the generator in the folder gen, which proves while it writes
// that no sum overflows.
package curve

import (
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Scalar is an integer modulo the group order n.
type Scalar = secp256k1.ModNScalar

// Point is a point of the curve in affine coordinates, both canonical. The zero
// value is the point at infinity: no point of the curve has the coordinates 0
// and 0. Points are equal if they are equal with ==, which takes time that
// depends on them: see EqualNonConst.
type Point struct{ x, y element }

// generator is the base point G of SEC 2, section 2.4.1.
var generator = Point{
	elementOf(words{0x59f2815b16f81798, 0x029bfcdb2dce28d9, 0x55a06295ce870b07, 0x79be667ef9dcbbac}),
	elementOf(words{0x9c47d08ffb10d4b8, 0xfd17b448a6855419, 0x5da4fbfc0e1108a8, 0x483ada7726a3c465}),
}

// Sizes of the encodings, in bytes.
const (
	// ScalarSize is the length of a big-endian scalar.
	ScalarSize = 32
	// CompressedSize is the length of a point as 0x02 or 0x03 followed by
	// its big-endian x coordinate (SEC 1, section 2.3.3).
	CompressedSize = 33
	// XOnlySize is the length of a big-endian x coordinate (BIP-340).
	XOnlySize = 32
)

// Errors of the parsers. They are wrapped by the packages that know which
// argument was wrong.
var (
	// ErrLength is returned for an encoding of the wrong length.
	ErrLength = errors.New("wrong length")
	// ErrPrefix is returned for a compressed point whose first byte is
	// neither 0x02 nor 0x03.
	ErrPrefix = errors.New("the first byte is neither 0x02 nor 0x03")
	// ErrFieldRange is returned for a coordinate that is not below p.
	ErrFieldRange = errors.New("the x coordinate is not below the field size")
	// ErrNotOnCurve is returned for an x coordinate that no point has.
	ErrNotOnCurve = errors.New("no point of the curve has this x coordinate")
	// ErrScalarRange is returned for a secret key that is 0 or not below n.
	ErrScalarRange = errors.New("not in the range 1 to n-1")
)

// Generator returns the base point G.
func Generator() Point { return generator }

// IsInfinity reports whether p is the point at infinity. Its time does not
// depend on p.
func IsInfinity(p *Point) bool {
	var all limb
	for i := range p.x {
		all |= p.x[i] | p.y[i]
	}
	return all == 0
}

// HasEvenY reports whether the y coordinate of p is even (has_even_y of
// BIP-340). p is finite.
func HasEvenY(p *Point) bool { return p.y[0]&1 == 0 }

// Negate returns -p.
func Negate(p *Point) Point {
	r := Point{x: p.x}
	negate(&r.y, &p.y)
	normalize(&r.y, &r.y)
	return r
}

// ParseCompressed decodes the 33-byte compressed form of a finite point
// (cpoint of BIP-327). The 65-byte forms are refused.
func ParseCompressed(b []byte) (Point, error) {
	if len(b) != CompressedSize {
		return Point{}, ErrLength
	}
	if b[0] != 2 && b[0] != 3 {
		return Point{}, ErrPrefix
	}
	return decompress(b[1:], b[0] == 3)
}

// LiftX decodes a 32-byte x coordinate to the point with an even y (lift_x of
// BIP-340).
func LiftX(b []byte) (Point, error) {
	if len(b) != XOnlySize {
		return Point{}, ErrLength
	}
	return decompress(b, false)
}

func decompress(x []byte, odd bool) (Point, error) {
	var p Point
	if !p.x.setBytesNonConst((*[32]byte)(x)) {
		return Point{}, ErrFieldRange
	}
	p.y = rightSide(&p.x)
	if !rootNonConst(&p.y, &p.y) {
		return Point{}, ErrNotOnCurve
	}
	normalize(&p.y, &p.y)
	if HasEvenY(&p) == odd {
		return Negate(&p), nil
	}
	return p, nil
}

// rightSide returns x³ + 7.
func rightSide(x *element) (r element) {
	square(&r, x)
	mul(&r, &r, x)
	addSmall(&r, &r, 7)
	return r
}

// Compress encodes a finite point as 33 bytes (cbytes of BIP-327).
func Compress(p *Point) [CompressedSize]byte {
	var b [CompressedSize]byte
	b[0] = byte(2 | p.y[0]&1)
	*(*[XOnlySize]byte)(b[1:]) = p.x.bytes()
	return b
}

// XOnly encodes the x coordinate of a finite point as 32 bytes (xbytes of
// BIP-340).
func XOnly(p *Point) [XOnlySize]byte { return p.x.bytes() }
