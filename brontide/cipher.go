package brontide

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

const (
	// MACSize is the length in bytes of the Poly1305 tag that ends an act, a
	// header and a body.
	MACSize = chacha20poly1305.Overhead

	// rotationInterval is the number of operations that one key does, two
	// for each message (BOLT-8, "Lightning Message Key Rotation").
	rotationInterval = 1000
)

// hkdf2 is the HKDF of BOLT-8: RFC 5869 with SHA-256, no info, and 64 bytes of
// output, which it returns as two keys.
func hkdf2(salt *[32]byte, secret []byte) (first, second [32]byte, err error) {
	out, err := hkdf.Key(sha256.New, secret, salt[:], "", 64)
	if err != nil {
		return first, second, fmt.Errorf("HKDF: %w", err)
	}
	copy(first[:], out[:32])
	copy(second[:], out[32:])
	clear(out)
	return first, second, nil
}

// newAEAD returns ChaCha20-Poly1305 under key. It fails only where the process
// forbids the cipher (FIPS 140-only mode).
func newAEAD(key *[32]byte) (cipher.AEAD, error) {
	aead, err := newChaChaPoly(key[:])
	if err != nil {
		return nil, fmt.Errorf("cipher: %w", err)
	}
	return aead, nil
}

// nonceBytes encodes n as BOLT-8 asks: 32 zero bits, then 64 bits in
// little-endian order.
func nonceBytes(n uint64) (b [chacha20poly1305.NonceSize]byte) {
	binary.LittleEndian.PutUint64(b[4:], n)
	return b
}

// cipherState encrypts or decrypts the messages of one direction. Each
// direction has its own chaining key: were it shared, the first rotation of one
// direction would change the second key of the other.
type cipherState struct {
	aead        cipher.AEAD
	chainingKey [32]byte
	key         [32]byte
	nonce       uint64

	// nonceBuf is nonce as nonceBytes encodes it. It is here because an array
	// passed to an interface method would go to the heap on every call.
	nonceBuf [chacha20poly1305.NonceSize]byte
}

func (c *cipherState) init(chainingKey, key *[32]byte) error {
	aead, err := newAEAD(key)
	if err != nil {
		return err
	}
	*c = cipherState{aead: aead, chainingKey: *chainingKey, key: *key}
	return nil
}

// seal appends the ciphertext and the tag of plaintext to dst.
func (c *cipherState) seal(dst, plaintext []byte) ([]byte, error) {
	binary.LittleEndian.PutUint64(c.nonceBuf[4:], c.nonce)
	dst = c.aead.Seal(dst, c.nonceBuf[:], plaintext, nil)
	return dst, c.advance()
}

// open appends the plaintext of ciphertext, shorter by MACSize, to dst, which
// may be ciphertext[:0].
func (c *cipherState) open(dst, ciphertext []byte) ([]byte, error) {
	binary.LittleEndian.PutUint64(c.nonceBuf[4:], c.nonce)
	dst, err := c.aead.Open(dst, c.nonceBuf[:], ciphertext, nil)
	if err != nil {
		return nil, newError(ErrMAC, "authentication failed")
	}
	return dst, c.advance()
}

// advance counts one operation and rotates the key when it has done its last.
// It does so at once, so that an old key is never kept longer than it is used.
func (c *cipherState) advance() error {
	c.nonce++
	if c.nonce < rotationInterval {
		return nil
	}
	chainingKey, key, err := hkdf2(&c.chainingKey, c.key[:])
	if err != nil {
		return err
	}
	err = c.init(&chainingKey, &key)
	clear(chainingKey[:])
	clear(key[:])
	return err
}
