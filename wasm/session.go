//go:build js && wasm

package main

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/brontosig/brontosig/internal/abi"
	"github.com/brontosig/brontosig/musig2"
)

// nonceObject is a musig2.Nonces behind a handle.
type nonceObject struct {
	*musig2.Nonces
	size int
}

func (o nonceObject) wipe()     { o.Wipe() }
func (o nonceObject) cost() int { return o.size }

// collectorObject is a musig2.Session or musig2.Coordinator behind a handle.
type collectorObject interface {
	object
	RegisterPubNonce(signer int, nonce [musig2.PubNonceSize]byte) (bool, error)
	CombinedNonce() ([musig2.PubNonceSize]byte, error)
	CombineSig(signer int, sig musig2.PartialSignature) (bool, error)
	FinalSig() ([musig2.SignatureSize]byte, error)
	MissingNonces() []int
	MissingPartialSigs() []int
}

type sessionObject struct {
	*musig2.Session
	size int
}

func (o sessionObject) wipe()     { o.Wipe() }
func (o sessionObject) cost() int { return o.size }

type coordinatorObject struct {
	*musig2.Coordinator
	size int
}

func (o coordinatorObject) wipe()     { o.Wipe() }
func (o coordinatorObject) cost() int { return o.size }

// collectorSize is the cost of a session or coordinator.
func collectorSize(ctx contextObject, message []byte) int {
	return sessionCostPerSigner*ctx.signers + len(message)
}

// musig2NonceNew draws a nonce and returns its handle. Input: the public key,
// with hasSecret the secret key, with hasAggregate the x-only aggregate key,
// extraSize bytes of extra input, and with hasMessage the message.
//
//go:wasmexport musig2_nonce_new
func musig2NonceNew(n, hasSecret, hasAggregate, extraSize, hasMessage uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		keys, err := in.takePublicKeys(1)
		if err != nil {
			return 0, err
		}
		options := []musig2.NonceGenOption{musig2.WithPublicKey(keys[0])}
		key, err := in.takeSecretKey(hasSecret)
		if err != nil {
			return 0, err
		}
		defer zero(key)
		if key != nil {
			options = append(options, musig2.WithNonceSecretKeyAux(key))
		}
		if hasAggregate != 0 {
			aggregate, err := in.take(musig2.XOnlyPubKeySize)
			if err != nil {
				return 0, err
			}
			options = append(options, musig2.WithNonceCombinedKeyAux([musig2.XOnlyPubKeySize]byte(aggregate)))
		}
		extra, err := in.take(int(min(extraSize, abi.MaxInputSize)))
		if err != nil {
			return 0, err
		}
		options = append(options, musig2.WithNonceAuxInput(extra))
		message, err := in.takeOptionalMessage(hasMessage)
		if err != nil {
			return 0, err
		}
		if message != nil {
			options = append(options, musig2.WithNonceMessageAux(message))
		}
		nonces, err := musig2.GenNonces(options...)
		if err != nil {
			return 0, err
		}
		return handles.add(nonceObject{nonces, sessionCostPerSigner + len(message)})
	})
}

// musig2NoncePublic returns the public half of a nonce.
//
//go:wasmexport musig2_nonce_public
func musig2NoncePublic(n, nonce uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		o, err := lookup[nonceObject](nonce)
		if err != nil {
			return 0, err
		}
		if err := in.end(); err != nil {
			return 0, err
		}
		return put(o.PubNonce[:])
	})
}

// musig2SessionNew starts a session and returns its handle. nonce is the handle
// of a nonce, or 0 for a fresh one. Input: extraSize bytes of extra input, and
// with hasMessage the message.
//
//go:wasmexport musig2_session_new
func musig2SessionNew(n, context, nonce, extraSize, hasMessage uint32) int32 {
	return withContext(n, context, func(ctx contextObject, in *input) (int32, error) {
		var options []musig2.SessionOption
		if nonce != 0 {
			o, err := lookup[nonceObject](nonce)
			if err != nil {
				return 0, err
			}
			options = append(options, musig2.WithPreGeneratedNonce(o.Nonces))
		}
		if extraSize != 0 {
			extra, err := in.take(int(min(extraSize, abi.MaxInputSize)))
			if err != nil {
				return 0, err
			}
			options = append(options, musig2.WithSessionExtraInput(extra))
		}
		message, err := in.takeOptionalMessage(hasMessage)
		if err != nil {
			return 0, err
		}
		if message != nil {
			options = append(options, musig2.WithSessionMessage(message))
		}
		session, err := ctx.NewSession(options...)
		if err != nil {
			return 0, err
		}
		return handles.add(sessionObject{session, collectorSize(ctx, message)})
	})
}

// musig2SessionPublicNonce returns the own public nonce.
//
//go:wasmexport musig2_session_public_nonce
func musig2SessionPublicNonce(n, session uint32) int32 {
	return withObject(n, session, func(s sessionObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		nonce := s.PublicNonce()
		return put(nonce[:])
	})
}

// musig2SessionState returns the number of the state, an index into
// abi.SessionStates.
//
//go:wasmexport musig2_session_state
func musig2SessionState(n, session uint32) int32 {
	return withObject(n, session, func(s sessionObject, in *input) (int32, error) {
		return int32(slices.Index(abi.SessionStates[:], s.State())), in.end()
	})
}

// musig2SetAggregateNonce takes an aggregate nonce.
//
//go:wasmexport musig2_set_aggregate_nonce
func musig2SetAggregateNonce(n, session uint32) int32 {
	return withObject(n, session, func(s sessionObject, in *input) (int32, error) {
		nonce, err := in.takeLast(musig2.PubNonceSize)
		if err != nil {
			return 0, err
		}
		return 0, s.RegisterCombinedNonce([musig2.PubNonceSize]byte(nonce))
	})
}

// musig2Sign returns the own partial signature. Input: with hasMessage the
// message.
//
//go:wasmexport musig2_sign
func musig2Sign(n, session, hasMessage uint32) int32 {
	return withObject(n, session, func(s sessionObject, in *input) (int32, error) {
		message, err := in.takeOptionalMessage(hasMessage)
		if err != nil {
			return 0, err
		}
		sig, err := s.Sign(message)
		if err != nil {
			return 0, err
		}
		return put(sig[:])
	})
}

// musig2CoordinatorNew starts a coordinator and returns its handle. Input: the
// message.
//
//go:wasmexport musig2_coordinator_new
func musig2CoordinatorNew(n, context uint32) int32 {
	return withContext(n, context, func(ctx contextObject, in *input) (int32, error) {
		message, err := in.takeMessage()
		if err != nil {
			return 0, err
		}
		coordinator, err := ctx.NewCoordinator(message)
		if err != nil {
			return 0, err
		}
		return handles.add(coordinatorObject{coordinator, collectorSize(ctx, message)})
	})
}

// musig2AddNonce gives a session or coordinator the public nonce of a signer.
//
//go:wasmexport musig2_add_nonce
func musig2AddNonce(n, collector, signer uint32) int32 {
	return withObject(n, collector, func(c collectorObject, in *input) (int32, error) {
		nonce, err := in.takeLast(musig2.PubNonceSize)
		if err != nil {
			return 0, err
		}
		_, err = c.RegisterPubNonce(index(signer), [musig2.PubNonceSize]byte(nonce))
		return 0, err
	})
}

// musig2AggregateNonce returns the aggregate nonce of a session or coordinator.
//
//go:wasmexport musig2_aggregate_nonce
func musig2AggregateNonce(n, collector uint32) int32 {
	return withObject(n, collector, func(c collectorObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		nonce, err := c.CombinedNonce()
		if err != nil {
			return 0, err
		}
		return put(nonce[:])
	})
}

// musig2AddPartial gives a session or coordinator the partial signature of a
// signer.
//
//go:wasmexport musig2_add_partial
func musig2AddPartial(n, collector, signer uint32) int32 {
	return withObject(n, collector, func(c collectorObject, in *input) (int32, error) {
		sig, err := in.takeLast(musig2.PartialSigSize)
		if err != nil {
			return 0, err
		}
		_, err = c.CombineSig(index(signer), musig2.PartialSignature(sig))
		return 0, err
	})
}

// musig2Finish returns the signature of a session or coordinator.
//
//go:wasmexport musig2_finish
func musig2Finish(n, collector uint32) int32 {
	return withObject(n, collector, func(c collectorObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		signature, err := c.FinalSig()
		if err != nil {
			return 0, err
		}
		return put(signature[:])
	})
}

// musig2Missing returns the indices of the signers whose nonce (what = 0) or
// partial signature (what = 1) is missing, 4 bytes little-endian each.
//
//go:wasmexport musig2_missing
func musig2Missing(n, collector, what uint32) int32 {
	return withObject(n, collector, func(c collectorObject, in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		signers := c.MissingNonces
		if what != 0 {
			signers = c.MissingPartialSigs
		}
		var out []byte
		for _, signer := range signers() {
			out = binary.LittleEndian.AppendUint32(out, uint32(signer))
		}
		return put(out)
	})
}

// withObject is export with the object of a handle.
func withObject[T object](n, handle uint32, body func(T, *input) (int32, error)) int32 {
	return export(n, func(in *input) (int32, error) {
		o, err := lookup[T](handle)
		if err != nil {
			return 0, err
		}
		return body(o, in)
	})
}

// takeLast returns size bytes, which must be all that are left.
func (in *input) takeLast(size int) ([]byte, error) {
	b, err := in.take(size)
	if err != nil {
		return nil, err
	}
	return b, in.end()
}

// takeOptionalMessage returns the rest of the input, not nil, or nil if present
// is 0.
func (in *input) takeOptionalMessage(present uint32) ([]byte, error) {
	if present == 0 {
		return nil, in.end()
	}
	return in.takeMessage()
}

// wrongPartial reports whether err says that a partial signature is wrong, and
// not that something else prevented the check.
func wrongPartial(err error) bool {
	invalid, ok := errors.AsType[*musig2.InvalidContributionError](err)
	return ok && invalid.Contribution == musig2.ContributionPartialSig
}
