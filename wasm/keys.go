//go:build js && wasm

package main

import "github.com/brontosig/brontosig/internal/curve"

// publicKey returns the compressed public key of a secret key, in time that does
// not depend on it. Input: the secret key.
//
//go:wasmexport public_key
func publicKey(n uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		key, err := in.takeSecretKey(1)
		if err != nil {
			return 0, err
		}
		defer zero(key)
		if err := in.end(); err != nil {
			return 0, err
		}
		return put(curve.PublicKey(key).SerializeCompressed())
	})
}
