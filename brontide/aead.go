//go:build !wasm

package brontide

import (
	"crypto/cipher"

	"golang.org/x/crypto/chacha20poly1305"
)

func newChaChaPoly(key []byte) (cipher.AEAD, error) { return chacha20poly1305.New(key) }
