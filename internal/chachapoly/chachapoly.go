// Package chachapoly is ChaCha20-Poly1305 (RFC 8439) for WebAssembly: the
// dependency's ChaCha20 with a Poly1305 of five limbs of 26 bits.
//
// The dependency's own Poly1305 multiplies words of 64 bits into 128, for which
// WebAssembly has no instruction: there it takes three times as long as this one
// and half of the time of a message. Elsewhere golang.org/x/crypto's
// chacha20poly1305, which has assembly, is the faster one, and brontide uses
// that. No branch and no index here depends on a secret.
package chachapoly

import (
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/crypto/chacha20"
)

// Sizes in bytes.
const (
	KeySize   = chacha20.KeySize
	NonceSize = chacha20.NonceSize
	Overhead  = tagSize
)

var errOpen = errors.New("chachapoly: authentication failed")

type aead struct{ key [KeySize]byte }

// New returns the AEAD under a key of KeySize bytes, of which it keeps a copy.
func New(key []byte) (cipher.AEAD, error) {
	if len(key) != KeySize {
		return nil, errors.New("chachapoly: a key of another length")
	}
	return &aead{[KeySize]byte(key)}, nil
}

func (a *aead) NonceSize() int { return NonceSize }

func (a *aead) Overhead() int { return Overhead }

// Seal implements cipher.AEAD. It panics if the nonce has another length than
// NonceSize, or if plaintext is above 2^38 - 64 bytes.
func (a *aead) Seal(dst, nonce, plaintext, additionalData []byte) []byte {
	stream, err := chacha20.NewUnauthenticatedCipher(a.key[:], nonce)
	if err != nil {
		panic("chachapoly: a nonce of another length")
	}
	var m mac
	m.begin(stream)
	start := len(dst)
	dst = slices.Grow(dst, len(plaintext)+Overhead)[:start+len(plaintext)]
	ciphertext := dst[start:]
	stream.XORKeyStream(ciphertext, plaintext)
	tag := m.sum(additionalData, ciphertext)
	return append(dst, tag[:]...)
}

// Open implements cipher.AEAD. It decrypts nothing before the tag is right.
func (a *aead) Open(dst, nonce, ciphertext, additionalData []byte) ([]byte, error) {
	size := len(ciphertext) - Overhead
	if size < 0 {
		return nil, errOpen
	}
	stream, err := chacha20.NewUnauthenticatedCipher(a.key[:], nonce)
	if err != nil {
		panic("chachapoly: a nonce of another length")
	}
	var m mac
	m.begin(stream)
	tag := m.sum(additionalData, ciphertext[:size])
	if subtle.ConstantTimeCompare(tag[:], ciphertext[size:]) != 1 {
		return nil, errOpen
	}
	start := len(dst)
	dst = slices.Grow(dst, size)[:start+size]
	stream.XORKeyStream(dst[start:], ciphertext[:size])
	return dst, nil
}

// begin takes the one-time key, the first half of the first block of the stream,
// and leaves the stream at its second block (RFC 8439, 2.6).
func (m *mac) begin(stream *chacha20.Cipher) {
	var key [32]byte
	stream.XORKeyStream(key[:], key[:])
	stream.SetCounter(1)
	m.init(&key)
	clear(key[:])
}

// sum returns the tag of the data and wipes m (RFC 8439, 2.8).
func (m *mac) sum(additionalData, ciphertext []byte) [tagSize]byte {
	m.writePadded(additionalData)
	m.writePadded(ciphertext)
	var lengths [blockSize]byte
	binary.LittleEndian.PutUint64(lengths[:8], uint64(len(additionalData)))
	binary.LittleEndian.PutUint64(lengths[8:], uint64(len(ciphertext)))
	m.blocks(lengths[:])
	tag := m.tag()
	*m = mac{}
	return tag
}
