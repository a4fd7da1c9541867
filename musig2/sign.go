package musig2

import (
	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/curve"
)

// PartialSigSize is the length of a partial signature in bytes.
const PartialSigSize = curve.ScalarSize

// PartialSignature is one signer's share of a signature: the scalar s,
// big-endian.
type PartialSignature [PartialSigSize]byte

// SignOption changes how a partial signature is made or verified.
type SignOption func(*signOptions)

type signOptions struct {
	fast   bool
	sort   bool
	tweaks []Tweak
}

func newSignOptions(options []SignOption) signOptions {
	if len(options) == 0 {
		return signOptions{}
	}
	o := new(signOptions)
	for _, option := range options {
		option(o)
	}
	return *o
}

// WithFastSign leaves out the check of the own partial signature before it is
// returned. BIP-327 recommends the check: it keeps a computation error, perhaps
// a provoked one, from leaking the secret key.
func WithFastSign() SignOption {
	return func(o *signOptions) { o.fast = true }
}

// WithSortedKeys sorts the public keys before they are aggregated.
func WithSortedKeys() SignOption {
	return func(o *signOptions) { o.sort = true }
}

// WithTweaks applies tweaks to the aggregate key, in their order.
func WithTweaks(tweaks ...Tweak) SignOption {
	return func(o *signOptions) { o.tweaks = append(o.tweaks, tweaks...) }
}

// values aggregates the keys and runs GetSessionValues.
func (o signOptions) values(combinedNonce *[PubNonceSize]byte, keys []*btcec.PublicKey,
	message []byte) (*sessionValues, error) {

	agg, err := aggregate(keys, o.sort, o.tweaks)
	if err != nil {
		return nil, err
	}
	points, err := parseAggNonce(combinedNonce)
	if err != nil {
		return nil, blame(NoSigner, ContributionAggNonce, err.Error())
	}
	return newSessionValues(agg, combinedNonce, &points, message), nil
}

// Sign makes a partial signature (Sign of BIP-327). It takes the secret nonce
// from secNonce and leaves zeros there, also when it fails. message has any
// length.
//
// The errors are ErrNonceUsed for a nonce of zeros, ErrInvalidSecNonce,
// ErrNonceMismatch if the nonce belongs to another key, ErrInvalidSecretKey,
// ErrKeyNotInSet, ErrSelfVerify, those of AggregateKeys, and an
// InvalidContributionError for the combined nonce.
//
// A Session does all of this with less to get wrong.
func Sign(secNonce *[SecNonceSize]byte, privKey *btcec.PrivateKey, combinedNonce [PubNonceSize]byte,
	pubKeys []*btcec.PublicKey, message []byte, options ...SignOption) (PartialSignature, error) {

	nonce, err := takeSecNonce(secNonce)
	if err != nil {
		return PartialSignature{}, err
	}
	defer nonce.wipe()
	if err := checkSecretKey(privKey); err != nil {
		return PartialSignature{}, err
	}
	o := newSignOptions(options)
	v, err := o.values(&combinedNonce, pubKeys, message)
	if err != nil {
		return PartialSignature{}, err
	}
	own := publicKeyOf(privKey)
	if nonce.publicKey != own {
		return PartialSignature{}, fail(ErrNonceMismatch, "the secret nonce belongs to another public key")
	}
	signer := v.agg.signers.index(own)
	if signer < 0 {
		return PartialSignature{}, fail(ErrKeyNotInSet, "the own public key is not in the list")
	}
	var public *noncePoints
	if !o.fast {
		points := nonce.public()
		public = &points
	}
	return v.signChecked(nonce, &privKey.Key, signer, public)
}

// signChecked signs, and verifies the result against the public nonce unless
// that is nil.
func (v *sessionValues) signChecked(nonce *secretNonce, key *curve.Scalar, signer int,
	public *noncePoints) (PartialSignature, error) {

	s := v.sign(nonce, key, signer)
	if public != nil && !v.verify(&s, public, signer) {
		return PartialSignature{}, fail(ErrSelfVerify, "the own partial signature does not verify")
	}
	return s.Bytes(), nil
}

// parse reads the scalar; ok tells whether it is below n.
func (p *PartialSignature) parse() (s curve.Scalar, ok bool) {
	overflow := s.SetByteSlice(p[:])
	return s, !overflow
}

// Verify reports whether p is a valid partial signature of the signer with the
// key signingKey and the public nonce pubNonce, in a session with the given
// combined nonce, keys and message (PartialSigVerify of BIP-327). Anything that
// cannot be parsed makes it false. Context.VerifyPartialSignature says whom to
// blame.
func (p PartialSignature) Verify(pubNonce, combinedNonce [PubNonceSize]byte, keySet []*btcec.PublicKey,
	signingKey *btcec.PublicKey, message []byte, options ...SignOption) bool {

	v, err := newSignOptions(options).values(&combinedNonce, keySet, message)
	if err != nil {
		return false
	}
	points, err := parsePubNonce(&pubNonce)
	if err != nil {
		return false
	}
	if signingKey == nil {
		return false
	}
	s, ok := p.parse()
	signer := v.agg.signers.index(curve.CompressKey(signingKey))
	return ok && signer >= 0 && v.verify(&s, &points, signer)
}

// CombineSigs adds the partial signatures of all signers, in the effective
// order of the keys, up to a BIP-340 signature (PartialSigAgg of BIP-327), and
// verifies it. The errors are a MissingError if there are fewer partial
// signatures than keys, ErrInvalidArgument if there are more, an InvalidContributionError
// for a partial signature that is not below n or for the combined nonce, those
// of AggregateKeys, and ErrInvalidSignature.
func CombineSigs(combinedNonce [PubNonceSize]byte, partialSigs []PartialSignature,
	pubKeys []*btcec.PublicKey, message []byte, options ...SignOption) ([SignatureSize]byte, error) {

	v, err := newSignOptions(options).values(&combinedNonce, pubKeys, message)
	if err != nil {
		return [SignatureSize]byte{}, err
	}
	if err := checkCount(ContributionPartialSig, len(partialSigs), len(pubKeys)); err != nil {
		return [SignatureSize]byte{}, err
	}
	scalars := make([]curve.Scalar, len(partialSigs))
	for i := range partialSigs {
		s, ok := partialSigs[i].parse()
		if !ok {
			return [SignatureSize]byte{}, blame(i, ContributionPartialSig, notBelowOrder)
		}
		scalars[i] = s
	}
	signature, valid := v.combineSigs(scalars)
	if !valid {
		return [SignatureSize]byte{}, fail(ErrInvalidSignature, "the combined signature does not verify")
	}
	return signature, nil
}

const (
	notBelowOrder  = "not below the group order"
	doesNotVerify  = "does not verify"
	notSumOfNonces = "not the sum of the signers' public nonces"
)

// checkCount compares the length of a complete list of contributions with the
// number of signers.
func checkCount(what Contribution, got, want int) error {
	if got > want {
		return fail(ErrInvalidArgument, "%d contributions of kind %s for %d signers", got, what, want)
	}
	if got < want {
		missing := make([]int, 0, want-got)
		for i := got; i < want; i++ {
			missing = append(missing, i)
		}
		return &MissingError{Contribution: what, Signers: missing}
	}
	return nil
}
