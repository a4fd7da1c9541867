package musig2

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"io"
	"sync/atomic"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/curve"
)

// Sizes in bytes.
const (
	// PubNonceSize is the length of a public nonce and of an aggregate nonce:
	// two compressed points.
	PubNonceSize = 2 * curve.CompressedSize
	// SecNonceSize is the length of a secret nonce: two big-endian scalars and
	// the compressed public key that it belongs to.
	SecNonceSize = 2*curve.ScalarSize + PubKeySize
)

// Nonces is a signer's pair of secret and public nonce for one signature.
type Nonces struct {
	// PubNonce goes to the other signers.
	PubNonce [PubNonceSize]byte
	// SecNonce signs once. Sign and NewSession take it from here and leave
	// zeros; a copy defeats that, so make none.
	SecNonce [SecNonceSize]byte

	// The points of PubNonce as it was generated.
	points *noncePoints
	// What the nonce was generated for, where that was given.
	aggregateKey []byte
	message      *[]byte

	taken atomic.Bool
}

// Wipe makes the nonce unusable.
func (n *Nonces) Wipe() {
	n.taken.Store(true)
	clear(n.SecNonce[:])
}

// NonceGenOption is an optional input of GenNonces.
type NonceGenOption func(*nonceGenOptions)

type nonceGenOptions struct {
	rand         io.Reader
	secretKey    *btcec.PrivateKey
	publicKey    *btcec.PublicKey
	aggregateKey []byte
	message      *[]byte
	extraInput   []byte
}

// WithCustomRand replaces the system's source of randomness, for tests. 32
// bytes are read from it. A source that repeats itself gives the secret key
// away.
func WithCustomRand(r io.Reader) NonceGenOption {
	return func(o *nonceGenOptions) { o.rand = r }
}

// WithPublicKey names the individual public key that the nonce is for. It is
// needed unless WithNonceSecretKeyAux is given.
func WithPublicKey(key *btcec.PublicKey) NonceGenOption {
	return func(o *nonceGenOptions) { o.publicKey = key }
}

// WithNonceSecretKeyAux mixes the secret key into the nonce, a protection
// against weak randomness.
func WithNonceSecretKeyAux(key *btcec.PrivateKey) NonceGenOption {
	return func(o *nonceGenOptions) { o.secretKey = key }
}

// WithNonceCombinedKeyAux mixes the x-only form of the final aggregate key into
// the nonce and binds the nonce to it.
func WithNonceCombinedKeyAux(xOnlyKey [XOnlyPubKeySize]byte) NonceGenOption {
	return func(o *nonceGenOptions) { o.aggregateKey = xOnlyKey[:] }
}

// WithNonceMessageAux mixes the message, of any length, into the nonce and
// binds the nonce to it. An empty message is not the same as none.
func WithNonceMessageAux(message []byte) NonceGenOption {
	return func(o *nonceGenOptions) {
		own := append([]byte{}, message...)
		o.message = &own
	}
}

// WithNonceAuxInput mixes further input, of less than 2^32 bytes, into the
// nonce.
func WithNonceAuxInput(extraInput []byte) NonceGenOption {
	return func(o *nonceGenOptions) { o.extraInput = extraInput }
}

// GenNonces draws a fresh nonce (NonceGen of BIP-327). It fails with ErrRandom
// if the source of randomness does, with ErrInvalidSecretKey, with
// ErrNonceMismatch if the secret key is not that of the public key, and with
// ErrInvalidArgument if neither key is given.
func GenNonces(options ...NonceGenOption) (*Nonces, error) {
	o := nonceGenOptions{rand: systemRand()}
	for _, option := range options {
		option(&o)
	}
	if o.secretKey != nil {
		if err := checkSecretKey(o.secretKey); err != nil {
			return nil, err
		}
		own := publicKeyOf(o.secretKey)
		if o.publicKey != nil && curve.CompressKey(o.publicKey) != own {
			return nil, fail(ErrNonceMismatch, "the secret key is not that of the public key")
		}
		return o.generate(own)
	}
	p, ok := pointOf(o.publicKey)
	if !ok {
		return nil, fail(ErrInvalidArgument, "the public key that the nonce is for is missing or not on the curve")
	}
	return o.generate(curve.Compress(&p))
}

func systemRand() io.Reader { return rand.Reader }

// generate runs NonceGen for a public key, which is that of the secret key if
// there is one.
func (o *nonceGenOptions) generate(pk [PubKeySize]byte) (*Nonces, error) {
	secret, err := o.secret(pk)
	if err != nil {
		return nil, err
	}
	defer secret.wipe()
	points := secret.public()
	return &Nonces{
		PubNonce:     points.encode(),
		SecNonce:     secret.encode(),
		points:       &points,
		aggregateKey: o.aggregateKey,
		message:      o.message,
	}, nil
}

// secret draws the secret half.
func (o *nonceGenOptions) secret(pk [PubKeySize]byte) (*secretNonce, error) {
	var seed [32]byte
	defer clear(seed[:])
	if _, err := io.ReadFull(o.rand, seed[:]); err != nil {
		return nil, fail(ErrRandom, "the source of randomness failed: %v", err)
	}
	if o.secretKey != nil {
		maskSecretKey(&seed, o.secretKey)
	}
	var hasMessage [1]byte
	var messageLength, message []byte
	if o.message != nil {
		hasMessage[0], message = 1, *o.message
		length := putUint64(len(message))
		messageLength = length[:]
	}
	var extraLength [4]byte
	binary.BigEndian.PutUint32(extraLength[:], uint32(len(o.extraInput)))
	return deriveNonce(tagNonce, pk, seed[:],
		[]byte{PubKeySize}, pk[:],
		[]byte{byte(len(o.aggregateKey))}, o.aggregateKey,
		hasMessage[:], messageLength, message,
		extraLength[:], o.extraInput)
}

// maskSecretKey replaces randomness by the secret key xor the MuSig/aux hash of
// the randomness.
func maskSecretKey(random *[32]byte, key *btcec.PrivateKey) {
	mask := taggedHash(tagNonceAux, random[:])
	secret := key.Key.Bytes()
	subtle.XORBytes(random[:], secret[:], mask[:])
	clear(secret[:])
	clear(mask[:])
}

// deriveNonce makes a secret nonce: each scalar is the hash of the parts and the
// scalar's number.
func deriveNonce(t tag, pk [PubKeySize]byte, parts ...[]byte) (*secretNonce, error) {
	secret := &secretNonce{publicKey: pk}
	var digests [len(secret.k)][sha256.Size]byte
	hashSecret(t, digests[:], parts...)
	for i := range digests {
		secret.k[i] = hashToScalar(&digests[i])
		clear(digests[i][:])
	}
	if err := secret.check(); err != nil {
		return nil, err
	}
	return secret, nil
}

// take moves the secret half out of n. It succeeds once, whatever happens next,
// also when two goroutines try at the same time.
func (n *Nonces) take() (*secretNonce, error) {
	if n.taken.Swap(true) {
		return nil, errNonceUsed()
	}
	return takeSecNonce(&n.SecNonce)
}

func errNonceUsed() error {
	return fail(ErrNonceUsed, "the nonce has been used")
}

// checkMessage compares a message with the one that the nonce is bound to.
func (n *Nonces) checkMessage(message []byte) error {
	if n.message != nil && !bytes.Equal(*n.message, message) {
		return fail(ErrNonceMismatch, "the nonce was generated for another message")
	}
	return nil
}

// takeSecNonce moves the secret out of its encoding and leaves zeros there.
func takeSecNonce(b *[SecNonceSize]byte) (*secretNonce, error) {
	defer clear(b[:])
	if *b == [SecNonceSize]byte{} {
		return nil, errNonceUsed()
	}
	s := new(secretNonce)
	for i := range s.k {
		if overflow := s.k[i].SetByteSlice(b[i*curve.ScalarSize:][:curve.ScalarSize]); overflow {
			s.wipe()
			return nil, fail(ErrInvalidSecNonce, "secret nonce scalar %d is not below the group order", i+1)
		}
	}
	s.publicKey = [PubKeySize]byte(b[2*curve.ScalarSize:])
	if err := s.check(); err != nil {
		s.wipe()
		return nil, err
	}
	return s, nil
}

// secretNonce is a secret nonce in the form in which it signs.
type secretNonce struct {
	k         [2]curve.Scalar
	publicKey [PubKeySize]byte
}

func (s *secretNonce) check() error {
	for i := range s.k {
		if s.k[i].IsZero() {
			return fail(ErrInvalidSecNonce, "secret nonce scalar %d is 0", i+1)
		}
	}
	return nil
}

func (s *secretNonce) public() (points noncePoints) {
	for i := range s.k {
		points[i] = curve.BaseMult(&s.k[i])
	}
	return points
}

func (s *secretNonce) encode() (b [SecNonceSize]byte) {
	for i := range s.k {
		s.k[i].PutBytesUnchecked(b[i*curve.ScalarSize:])
	}
	copy(b[2*curve.ScalarSize:], s.publicKey[:])
	return b
}

func (s *secretNonce) wipe() {
	for i := range s.k {
		s.k[i].Zero()
	}
}

// publicKeyOf returns the compressed public key of a secret key.
func publicKeyOf(key *btcec.PrivateKey) [PubKeySize]byte {
	p := curve.BaseMult(&key.Key)
	return curve.Compress(&p)
}

func checkSecretKey(key *btcec.PrivateKey) error {
	if key == nil || key.Key.IsZero() {
		return fail(ErrInvalidSecretKey, "the secret key is 0 or missing")
	}
	return nil
}
