// Package curve is the group arithmetic of secp256k1 that the musig2 and
// brontide packages share.
//
// Keys, scalars and field elements are the types of
// github.com/decred/dcrd/dcrec/secp256k1/v4 (the same types that btcec names),
// and this is the only package that reaches below its keys. What that package
// offers for multiplication branches on the scalar, so this one brings its own
// for every secret: BaseMult, Mult, and what is built on them (PublicKey,
// ECDH). A function that may take time that depends on its arguments has
// NonConst in its name and is for public data alone.
package curve

import (
	"errors"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Scalar is an integer modulo the group order n.
type Scalar = secp256k1.ModNScalar

// Point is a point of the curve in Jacobian coordinates. The functions of this
// package return points in affine form (Z = 1, all coordinates normalized), or
// the point at infinity as X = Y = Z = 0, unless their comment says otherwise.
type Point = secp256k1.JacobianPoint

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

// The base point of SEC 2, section 2.4.1, in big-endian order.
var (
	generatorX = [32]byte{
		0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07,
		0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98,
	}
	generatorY = [32]byte{
		0x48, 0x3a, 0xda, 0x77, 0x26, 0xa3, 0xc4, 0x65, 0x5d, 0xa4, 0xfb, 0xfc, 0x0e, 0x11, 0x08, 0xa8,
		0xfd, 0x17, 0xb4, 0x48, 0xa6, 0x85, 0x54, 0x19, 0x9c, 0x47, 0xd0, 0x8f, 0xfb, 0x10, 0xd4, 0xb8,
	}
)

// Generator returns the base point G.
func Generator() Point {
	var g Point
	g.X.SetByteSlice(generatorX[:])
	g.Y.SetByteSlice(generatorY[:])
	g.Z.SetInt(1)
	return g
}

// IsInfinity reports whether p is the point at infinity. Its time does not
// depend on a finite p.
func IsInfinity(p *Point) bool {
	return (p.X.IsZero() && p.Y.IsZero()) || p.Z.IsZero()
}

// HasEvenY reports whether the y coordinate of p is even (has_even_y of
// BIP-340). p is finite and affine.
func HasEvenY(p *Point) bool {
	return !p.Y.IsOdd()
}

// Negate returns -p. p is affine.
func Negate(p *Point) Point {
	r := *p
	r.Y.Negate(1).Normalize()
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
	if overflow := p.X.SetByteSlice(x); overflow {
		return Point{}, ErrFieldRange
	}
	if !secp256k1.DecompressY(&p.X, odd, &p.Y) {
		return Point{}, ErrNotOnCurve
	}
	p.Y.Normalize()
	p.Z.SetInt(1)
	return p, nil
}

// Compress encodes a finite affine point as 33 bytes (cbytes of BIP-327).
func Compress(p *Point) [CompressedSize]byte {
	var b [CompressedSize]byte
	b[0] = byte(2 | p.Y.IsOddBit())
	p.X.PutBytesUnchecked(b[1:])
	return b
}

// XOnly encodes the x coordinate of a finite affine point as 32 bytes (xbytes
// of BIP-340).
func XOnly(p *Point) [XOnlySize]byte {
	var b [XOnlySize]byte
	p.X.PutBytesUnchecked(b[:])
	return b
}
