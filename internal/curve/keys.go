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
	return secp256k1.NewPublicKey(&p.X, &p.Y)
}

// ECDH returns the SHA-256 of the compressed point key·pub, the shared secret
// of BOLT-8, in time that does not depend on key.
func ECDH(key *secp256k1.PrivateKey, pub *secp256k1.PublicKey) [sha256.Size]byte {
	var p Point
	pub.AsJacobian(&p)
	shared := Mult(&key.Key, &p)
	b := Compress(&shared)
	secret := sha256.Sum256(b[:])
	clear(b[:])
	shared.X.Zero()
	shared.Y.Zero()
	return secret
}
