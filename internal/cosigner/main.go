//go:build !(js && wasm)

// Command cosigner lets a test in another language sign together with this
// package's musig2 and with btcec's. It reads one JSON request a line and answers
// each with one line. It is for tests: it takes secret keys.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	peer "github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"

	"github.com/brontosig/brontosig/internal/vectors"
	"github.com/brontosig/brontosig/musig2"
)

type request struct {
	Operation string `json:"operation"`
	// Implementation is ours or btcec.
	Implementation   string          `json:"implementation"`
	SecretKey        vectors.Hex     `json:"secretKey"`
	PublicKeys       []vectors.Hex   `json:"publicKeys"`
	Tweaks           []vectors.Tweak `json:"tweaks"`
	Message          vectors.Hex     `json:"message"`
	Nonce            int             `json:"nonce"`
	PublicNonces     []vectors.Hex   `json:"publicNonces"`
	AggregateNonce   vectors.Hex     `json:"aggregateNonce"`
	Signer           int             `json:"signer"`
	PartialSignature vectors.Hex     `json:"partialSignature"`
	Signature        vectors.Hex     `json:"signature"`
	OutputKey        vectors.Hex     `json:"outputKey"`
}

type response struct {
	Nonce            int         `json:"nonce,omitempty"`
	PublicNonce      vectors.Hex `json:"publicNonce,omitempty"`
	PartialSignature vectors.Hex `json:"partialSignature,omitempty"`
	Valid            bool        `json:"valid"`
	Error            string      `json:"error,omitempty"`
}

func main() {
	d, e := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	s := new(server)
	for {
		var r request
		if err := d.Decode(&r); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		answer, err := s.serve(&r)
		if err != nil {
			answer = response{Error: err.Error()}
		}
		if err := e.Encode(answer); err != nil {
			log.Fatal(err)
		}
	}
}

// server keeps the secret nonces that it has handed the public halves of out.
type server struct {
	secretNonces [][musig2.SecNonceSize]byte
}

func (s *server) serve(r *request) (response, error) {
	switch r.Operation {
	case "nonce":
		return s.nonce(r)
	case "sign":
		return s.sign(r)
	case "verifyPartial":
		return r.verifyPartial()
	case "verify":
		return r.verify()
	}
	return response{}, fmt.Errorf("unknown operation %q", r.Operation)
}

func (s *server) nonce(r *request) (response, error) {
	key, public := btcec.PrivKeyFromBytes(r.SecretKey)
	var secret [musig2.SecNonceSize]byte
	var out [musig2.PubNonceSize]byte
	if r.Implementation == "btcec" {
		nonces, err := peer.GenNonces(peer.WithPublicKey(public), peer.WithNonceSecretKeyAux(key))
		if err != nil {
			return response{}, err
		}
		secret, out = nonces.SecNonce, nonces.PubNonce
	} else {
		nonces, err := musig2.GenNonces(musig2.WithNonceSecretKeyAux(key))
		if err != nil {
			return response{}, err
		}
		secret, out = nonces.SecNonce, nonces.PubNonce
	}
	s.secretNonces = append(s.secretNonces, secret)
	return response{Nonce: len(s.secretNonces) - 1, PublicNonce: out[:]}, nil
}

func (r *request) keys() ([]*btcec.PublicKey, error) {
	encoded := make([][]byte, len(r.PublicKeys))
	for i := range encoded {
		encoded[i] = r.PublicKeys[i]
	}
	return musig2.ParsePubKeys(encoded)
}

func (r *request) ourTweaks() musig2.SignOption {
	var tweaks []musig2.Tweak
	for _, tweak := range r.Tweaks {
		if value := [musig2.TweakSize]byte(tweak.Tweak); tweak.XOnly {
			tweaks = append(tweaks, musig2.XOnlyTweak(value))
		} else {
			tweaks = append(tweaks, musig2.PlainTweak(value))
		}
	}
	return musig2.WithTweaks(tweaks...)
}

func (r *request) peerTweaks() []peer.SignOption {
	if len(r.Tweaks) == 0 {
		return nil
	}
	var tweaks []peer.KeyTweakDesc
	for _, tweak := range r.Tweaks {
		tweaks = append(tweaks, peer.KeyTweakDesc{Tweak: [32]byte(tweak.Tweak), IsXOnly: tweak.XOnly})
	}
	return []peer.SignOption{peer.WithTweaks(tweaks...)}
}

func (s *server) sign(r *request) (response, error) {
	keys, err := r.keys()
	if err != nil {
		return response{}, err
	}
	key, _ := btcec.PrivKeyFromBytes(r.SecretKey)
	secret := &s.secretNonces[r.Nonce]
	sum := [musig2.PubNonceSize]byte(r.AggregateNonce)
	if r.Implementation == "btcec" {
		sig, err := peer.Sign(*secret, key, sum, keys, [32]byte(r.Message), r.peerTweaks()...)
		if err != nil {
			return response{}, err
		}
		clear(secret[:])
		b := sig.S.Bytes()
		return response{PartialSignature: b[:]}, nil
	}
	sig, err := musig2.Sign(secret, key, sum, keys, r.Message, r.ourTweaks())
	return response{PartialSignature: sig[:]}, err
}

func (r *request) verifyPartial() (response, error) {
	keys, err := r.keys()
	if err != nil {
		return response{}, err
	}
	nonce, sum := [musig2.PubNonceSize]byte(r.PublicNonces[r.Signer]), [musig2.PubNonceSize]byte(r.AggregateNonce)
	if r.Implementation == "btcec" {
		var s btcec.ModNScalar
		if overflow := s.SetByteSlice(r.PartialSignature); overflow {
			return response{}, nil
		}
		sig := &peer.PartialSignature{S: &s}
		return response{Valid: sig.Verify(nonce, sum, keys, keys[r.Signer], [32]byte(r.Message), r.peerTweaks()...)}, nil
	}
	sig := musig2.PartialSignature(r.PartialSignature)
	return response{Valid: sig.Verify(nonce, sum, keys, keys[r.Signer], r.Message, r.ourTweaks())}, nil
}

func (r *request) verify() (response, error) {
	if r.Implementation == "btcec" {
		sig, err := schnorr.ParseSignature(r.Signature)
		if err != nil {
			return response{}, err
		}
		key, err := schnorr.ParsePubKey(r.OutputKey)
		if err != nil {
			return response{}, err
		}
		return response{Valid: sig.Verify(r.Message, key)}, nil
	}
	return response{Valid: musig2.VerifySignature((*[musig2.SignatureSize]byte)(r.Signature), r.Message,
		(*[musig2.XOnlyPubKeySize]byte)(r.OutputKey))}, nil
}
