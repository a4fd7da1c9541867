package curve

import (
	"crypto/sha256"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// ParsePrivateKey decodes a 32-byte big-endian secret key and refuses 0 and
// everything from n on, as the specifications ask. The dependency's own parser
// takes such a key modulo n.
func ParsePrivateKey(b []byte) (*secp256k1.PrivateKey, error) {
	if len(b) != ScalarSize {
		return nil, ErrLength
	}
	key := new(secp256k1.PrivateKey)
	overflow := key.Key.SetByteSlice(b)
	if overflow || key.Key.IsZero() {
		key.Zero()
		return nil, ErrScalarRange
	}
	return key, nil
}

// PublicKey returns the public key of key, in time that does not depend on it.
func PublicKey(key *secp256k1.PrivateKey) *secp256k1.PublicKey {
	p := BaseMult(&key.Key)
	return NewPublicKey(&p)
}

// NewPublicKey returns a finite point as a public key.
func NewPublicKey(p *Point) *secp256k1.PublicKey {
	var x, y secp256k1.FieldVal
	b := p.x.bytes()
	x.SetBytes(&b)
	b = p.y.bytes()
	y.SetBytes(&b)
	return secp256k1.NewPublicKey(&x, &y)
}

// CompressKey encodes a public key as Compress does a point.
func CompressKey(pub *secp256k1.PublicKey) (b [CompressedSize]byte) {
	var p secp256k1.JacobianPoint
	pub.AsJacobian(&p)
	b[0] = byte(2 | p.Y.IsOddBit())
	p.X.PutBytesUnchecked(b[1:])
	return b
}

// PointOf returns the point of a public key, and whether it is one: a key that
// was made by hand, and not parsed, may have any coordinates.
func PointOf(pub *secp256k1.PublicKey) (Point, bool) {
	var theirs secp256k1.JacobianPoint
	pub.AsJacobian(&theirs)
	var x, y [32]byte
	theirs.X.PutBytes(&x)
	theirs.Y.PutBytes(&y)
	var p Point
	if !p.x.setBytesNonConst(&x) || !p.y.setBytesNonConst(&y) {
		return Point{}, false
	}
	var left element
	square(&left, &p.y)
	right := rightSide(&p.x)
	return p, equalNonConst(&left, &right)
}

// ECDH returns the SHA-256 of the compressed point key·pub, the shared secret
// of BOLT-8, in time that does not depend on key. pub is on the curve.
func ECDH(key *secp256k1.PrivateKey, pub *secp256k1.PublicKey) [sha256.Size]byte {
	p, _ := PointOf(pub)
	shared := Mult(&key.Key, &p)
	b := Compress(&shared)
	secret := sha256.Sum256(b[:])
	clear(b[:])
	shared = Point{}
	return secret
}
