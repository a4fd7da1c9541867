//go:build js && wasm

package main

import (
	"encoding/binary"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/abi"
	"github.com/brontosig/brontosig/internal/curve"
	"github.com/brontosig/brontosig/musig2"
)

// Memory that an object takes, in bytes: at most this much for each signer, and
// the message if the object keeps one.
const (
	contextCostPerSigner = 512
	sessionCostPerSigner = 1024
)

// contextObject is a musig2.Context behind a handle.
type contextObject struct {
	*musig2.Context
	signers int
}

func newContextObject(ctx *musig2.Context) contextObject {
	return contextObject{ctx, len(ctx.SigningKeys())}
}

func (o contextObject) wipe()     { o.Wipe() }
func (o contextObject) cost() int { return contextCostPerSigner * o.signers }

// musig2SortKeys sorts count compressed keys.
//
//go:wasmexport musig2_sort_keys
func musig2SortKeys(n, count uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		keys, err := in.takePublicKeys(count)
		if err != nil {
			return 0, err
		}
		if err := in.end(); err != nil {
			return 0, err
		}
		return put(encodeKeys(musig2.SortKeys(keys)))
	})
}

// musig2Verify returns 1 for a valid BIP-340 signature and 0 for any other.
// Input: signature, x-only key, message.
//
//go:wasmexport musig2_verify
func musig2Verify(n uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		signature, err := in.take(musig2.SignatureSize)
		if err != nil {
			return 0, err
		}
		key, err := in.take(musig2.XOnlyPubKeySize)
		if err != nil {
			return 0, err
		}
		message, err := in.takeMessage()
		if err != nil {
			return 0, err
		}
		valid := musig2.VerifySignature((*[musig2.SignatureSize]byte)(signature), message,
			(*[musig2.XOnlyPubKeySize]byte)(key))
		return flag(valid), nil
	})
}

// musig2ContextNew makes a context and returns its handle. Input: count
// compressed keys, tweakCount tweaks of one byte for the kind and 32 bytes, and
// with hasSecret the secret key. signer is the own index, or -1.
//
//go:wasmexport musig2_context_new
func musig2ContextNew(n, count, sort, tweakCount, hasSecret uint32, signer int32) int32 {
	return export(n, func(in *input) (int32, error) {
		keys, err := in.takePublicKeys(count)
		if err != nil {
			return 0, err
		}
		tweaks, err := in.takeTweaks(tweakCount)
		if err != nil {
			return 0, err
		}
		key, err := in.takeSecretKey(hasSecret)
		if err != nil {
			return 0, err
		}
		defer zero(key)
		if err := in.end(); err != nil {
			return 0, err
		}
		options := append(signerOption(signer),
			musig2.WithKnownSigners(keys), musig2.WithTweakedContext(tweaks...))
		ctx, err := musig2.NewContext(key, sort != 0, options...)
		if err != nil {
			return 0, err
		}
		return handles.add(newContextObject(ctx))
	})
}

// musig2ContextParse decodes a context and returns its handle. Input: with
// hasSecret the secret key, then the encoded context.
//
//go:wasmexport musig2_context_parse
func musig2ContextParse(n, hasSecret uint32, signer int32) int32 {
	return export(n, func(in *input) (int32, error) {
		key, err := in.takeSecretKey(hasSecret)
		if err != nil {
			return 0, err
		}
		defer zero(key)
		ctx, err := musig2.ParseContext(in.takeAll(), key, signerOption(signer)...)
		if err != nil {
			return 0, err
		}
		return handles.add(newContextObject(ctx))
	})
}

// musig2ContextBytes encodes a context.
//
//go:wasmexport musig2_context_bytes
func musig2ContextBytes(n, context uint32) int32 {
	return withContext(n, context, func(ctx contextObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		encoded, err := ctx.MarshalBinary()
		if err != nil {
			return 0, err
		}
		return put(encoded)
	})
}

// musig2ContextInfo returns what never changes about a context: the tweaked
// aggregate key, compressed; the internal key, compressed; the own index or -1,
// 4 bytes little-endian; the keys in their effective order.
//
//go:wasmexport musig2_context_info
func musig2ContextInfo(n, context uint32) int32 {
	return withContext(n, context, func(ctx contextObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		index := binary.LittleEndian.AppendUint32(nil, uint32(int32(ctx.SignerIndex())))
		return put(ctx.CombinedKey().SerializeCompressed(), ctx.InternalKey().SerializeCompressed(),
			index, encodeKeys(ctx.SigningKeys()))
	})
}

// musig2VerifyPartial checks a partial signature and returns 1 for a valid one
// and 0 for one that is not. Input: partial signature, count public nonces,
// message.
//
//go:wasmexport musig2_verify_partial
func musig2VerifyPartial(n, context, signer, count uint32) int32 {
	return withContext(n, context, func(ctx contextObject, in *input) (int32, error) {
		sig, err := in.take(musig2.PartialSigSize)
		if err != nil {
			return 0, err
		}
		nonces, err := in.takeNonces(count)
		if err != nil {
			return 0, err
		}
		message, err := in.takeMessage()
		if err != nil {
			return 0, err
		}
		err = ctx.VerifyPartialSignature(musig2.PartialSignature(sig), nonces, index(signer), message)
		if wrongPartial(err) {
			return 0, nil
		}
		return 1, err
	})
}

// musig2DeterministicSign returns a public nonce and a partial signature. Input:
// the aggregate nonce of all others, with hasRand 32 random bytes, the message.
//
//go:wasmexport musig2_deterministic_sign
func musig2DeterministicSign(n, context, hasRand uint32) int32 {
	return withContext(n, context, func(ctx contextObject, in *input) (int32, error) {
		aggOther, err := in.take(musig2.PubNonceSize)
		if err != nil {
			return 0, err
		}
		var rand *[musig2.RandSize]byte
		if hasRand != 0 {
			b, err := in.take(musig2.RandSize)
			if err != nil {
				return 0, err
			}
			rand = (*[musig2.RandSize]byte)(b)
		}
		message, err := in.takeMessage()
		if err != nil {
			return 0, err
		}
		nonce, sig, err := ctx.DeterministicSign([musig2.PubNonceSize]byte(aggOther), message, rand)
		if err != nil {
			return 0, err
		}
		return put(nonce[:], sig[:])
	})
}

// musig2AggregateNonces adds count public nonces up.
//
//go:wasmexport musig2_aggregate_nonces
func musig2AggregateNonces(n, count uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		nonces, err := in.takeNonces(count)
		if err != nil {
			return 0, err
		}
		if err := in.end(); err != nil {
			return 0, err
		}
		sum, err := musig2.AggregateNonces(nonces)
		if err != nil {
			return 0, err
		}
		return put(sum[:])
	})
}

// withContext is export with the context of a handle.
func withContext(n, handle uint32, body func(contextObject, *input) (int32, error)) int32 {
	return export(n, func(in *input) (int32, error) {
		o, err := lookup[contextObject](handle)
		if err != nil {
			return 0, err
		}
		return body(o, in)
	})
}

// takeSlots returns count byte strings of the same size.
func (in *input) takeSlots(count, size uint32) ([][]byte, error) {
	if count > abi.MaxSigners {
		return nil, limitError("%d signers, %d are allowed", count, abi.MaxSigners)
	}
	slots := make([][]byte, count)
	for i := range slots {
		slot, err := in.take(int(size))
		if err != nil {
			return nil, err
		}
		slots[i] = slot
	}
	return slots, nil
}

func (in *input) takePublicKeys(count uint32) ([]*btcec.PublicKey, error) {
	slots, err := in.takeSlots(count, musig2.PubKeySize)
	if err != nil {
		return nil, err
	}
	return musig2.ParsePubKeys(slots)
}

func (in *input) takeNonces(count uint32) ([][musig2.PubNonceSize]byte, error) {
	slots, err := in.takeSlots(count, musig2.PubNonceSize)
	if err != nil {
		return nil, err
	}
	nonces := make([][musig2.PubNonceSize]byte, count)
	for i, slot := range slots {
		nonces[i] = [musig2.PubNonceSize]byte(slot)
	}
	return nonces, nil
}

// takeTweaks reads tweaks: the number of the kind, an index into abi.TweakKinds,
// and 32 bytes, which mean nothing for bip86.
func (in *input) takeTweaks(count uint32) ([]musig2.Tweak, error) {
	slots, err := in.takeSlots(count, 1+musig2.TweakSize)
	if err != nil {
		return nil, err
	}
	tweaks := make([]musig2.Tweak, count)
	for i, slot := range slots {
		value := [musig2.TweakSize]byte(slot[1:])
		switch kind := slot[0]; kind {
		case abi.TweakPlain:
			tweaks[i] = musig2.PlainTweak(value)
		case abi.TweakXOnly:
			tweaks[i] = musig2.XOnlyTweak(value)
		case abi.TweakTaproot:
			tweaks[i] = musig2.TaprootTweak(value)
		case abi.TweakBIP86:
			tweaks[i] = musig2.BIP86Tweak()
		default:
			return nil, argumentError("tweak %d is of the unknown kind %d", i, kind)
		}
	}
	return tweaks, nil
}

// takeSecretKey returns nil if present is 0.
func (in *input) takeSecretKey(present uint32) (*btcec.PrivateKey, error) {
	if present == 0 {
		return nil, nil
	}
	b, err := in.take(musig2.SecretKeySize)
	if err != nil {
		return nil, err
	}
	key, err := curve.ParsePrivateKey(b)
	if err != nil {
		return nil, &boundaryError{abi.InvalidSecretKey, "the secret key is " + err.Error()}
	}
	return key, nil
}

// takeMessage returns the rest of the input, as a message that is not nil.
func (in *input) takeMessage() ([]byte, error) {
	message := in.takeAll()
	if len(message) > abi.MaxMessageSize {
		return nil, limitError("the message has %d bytes, %d are allowed", len(message), abi.MaxMessageSize)
	}
	return message, nil
}

func zero(key *btcec.PrivateKey) {
	if key != nil {
		key.Zero()
	}
}

func signerOption(signer int32) []musig2.ContextOption {
	if signer == musig2.NoSigner {
		return nil
	}
	return []musig2.ContextOption{musig2.WithSignerIndex(int(signer))}
}

func encodeKeys(keys []*btcec.PublicKey) []byte {
	encoded := make([]byte, 0, len(keys)*musig2.PubKeySize)
	for _, key := range keys {
		encoded = append(encoded, key.SerializeCompressed()...)
	}
	return encoded
}

// index brings a signer index of the boundary to an int, which is 32 bits wide
// there or not. One that is too large stays out of range.
func index(signer uint32) int { return int(min(signer, abi.MaxSigners)) }

func flag(b bool) int32 {
	if b {
		return 1
	}
	return 0
}
