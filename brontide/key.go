package brontide

import (
	"github.com/brontosig/brontosig/internal/curve"
	"github.com/btcsuite/btcd/btcec/v2"
)

// SingleKeyECDH is a static key that can do a Diffie-Hellman operation. A
// hardware signer can implement it, so that the secret never enters the
// process.
type SingleKeyECDH interface {
	// PubKey returns the public key.
	PubKey() *btcec.PublicKey
	// ECDH returns SHA256 of the 33-byte compressed form of the product of
	// the secret key and pub, as BOLT-8 defines it. pub is on the curve.
	ECDH(pub *btcec.PublicKey) ([32]byte, error)
}

// PrivKeyECDH is a SingleKeyECDH whose secret key is in memory.
type PrivKeyECDH struct {
	key btcec.PrivateKey
	pub *btcec.PublicKey
}

// NewPrivKeyECDH returns a SingleKeyECDH that keeps its own copy of key, which
// is not nil.
func NewPrivKeyECDH(key *btcec.PrivateKey) *PrivKeyECDH {
	p := &PrivKeyECDH{pub: curve.PublicKey(key)}
	p.key.Key.Set(&key.Key)
	return p
}

// PubKey returns the public key. It is known after Wipe too.
func (p *PrivKeyECDH) PubKey() *btcec.PublicKey { return p.pub }

// ECDH returns SHA256 of the compressed product of the secret key and pub, in
// time that does not depend on the key. It fails with ErrKeyWiped after Wipe, and
// with ErrArgument for a key that is missing or not on the curve. It may be called
// from several goroutines.
func (p *PrivKeyECDH) ECDH(pub *btcec.PublicKey) ([32]byte, error) {
	if p.key.Key.IsZeroBit() == 1 {
		return [32]byte{}, newError(ErrKeyWiped, "the static key was wiped")
	}
	if !validKey(pub) {
		return [32]byte{}, newError(ErrArgument, "the other side's key is missing or not on the curve")
	}
	return curve.ECDH(&p.key, pub), nil
}

// Wipe overwrites the secret key. No other method may be running.
func (p *PrivKeyECDH) Wipe() { p.key.Zero() }
