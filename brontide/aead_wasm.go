package brontide

import (
	"crypto/cipher"

	"github.com/brontosig/brontosig/internal/chachapoly"
)

// The dependency's cipher has no assembly for WebAssembly, where its Poly1305 is
// slow.
func newChaChaPoly(key []byte) (cipher.AEAD, error) { return chachapoly.New(key) }
