package musig2

import (
	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/curve"
)

// Context is a set of signers with their aggregate key, and the secret key of
// at most one of them. It is made once for any number of sessions, holds
// nothing that changes but whether it has been wiped, and may be used by
// several goroutines as long as none of them wipes it. The zero value serves
// UnmarshalBinary only.
type Context struct {
	agg    *keyAgg
	key    *btcec.PrivateKey // nil without a secret key, and after Wipe
	signer int               // own index, or NoSigner
	wiped  bool
}

// ContextOption is an optional input of NewContext.
type ContextOption func(*contextOptions)

type contextOptions struct {
	keys   []*btcec.PublicKey
	tweaks []Tweak
	signer *int
}

// WithKnownSigners gives the public keys of all signers, the own one among
// them. The list may hold a key more than once.
func WithKnownSigners(signers []*btcec.PublicKey) ContextOption {
	return func(o *contextOptions) { o.keys = signers }
}

// WithTweakedContext applies tweaks to the aggregate key, in their order.
func WithTweakedContext(tweaks ...Tweak) ContextOption {
	return func(o *contextOptions) { o.tweaks = append(o.tweaks, tweaks...) }
}

// WithTaprootTweakCtx is WithTweakedContext(TaprootTweak(scriptRoot)).
func WithTaprootTweakCtx(scriptRoot [TweakSize]byte) ContextOption {
	return WithTweakedContext(TaprootTweak(scriptRoot))
}

// WithBip86TweakCtx is WithTweakedContext(BIP86Tweak()).
func WithBip86TweakCtx() ContextOption {
	return WithTweakedContext(BIP86Tweak())
}

// WithSignerIndex says at which position of the list, in its effective order,
// the signer of this Context stands. It is needed when the own key stands there
// more than once.
func WithSignerIndex(index int) ContextOption {
	return func(o *contextOptions) { o.signer = &index }
}

// NewContext aggregates the keys of WithKnownSigners, sorted first if
// shouldSort is set. signingKey is copied; nil makes a Context that verifies and
// combines but does not sign.
//
// The errors are those of AggregateKeys, ErrInvalidSecretKey, ErrKeyNotInSet if
// the own key is not in the list, ErrSignerIndex if the index of WithSignerIndex
// does not name the own key or is needed and missing, and ErrInvalidArgument if it is
// given without a signing key.
func NewContext(signingKey *btcec.PrivateKey, shouldSort bool, options ...ContextOption) (*Context, error) {
	var o contextOptions
	for _, option := range options {
		option(&o)
	}
	agg, err := aggregate(o.keys, shouldSort, o.tweaks)
	if err != nil {
		return nil, err
	}
	return newContext(agg, signingKey, o.signer)
}

func newContext(agg *keyAgg, signingKey *btcec.PrivateKey, index *int) (*Context, error) {
	if signingKey == nil {
		if index != nil {
			return nil, fail(ErrInvalidArgument, "a signer index without a secret key")
		}
		return &Context{agg: agg, signer: NoSigner}, nil
	}
	if err := checkSecretKey(signingKey); err != nil {
		return nil, err
	}
	signer, err := agg.signers.ownIndex(publicKeyOf(signingKey), index)
	if err != nil {
		return nil, err
	}
	own := *signingKey
	return &Context{agg: agg, key: &own, signer: signer}, nil
}

// ownIndex finds the own key in the list, or checks the position that the
// caller says it has.
func (s keySet) ownIndex(own [PubKeySize]byte, index *int) (int, error) {
	first, count := NoSigner, 0
	for i := range s {
		if s[i].encoded == own {
			if count == 0 {
				first = i
			}
			count++
		}
	}
	switch {
	case count == 0:
		return 0, fail(ErrKeyNotInSet, "the own public key is not in the list")
	case index == nil && count > 1:
		return 0, fail(ErrSignerIndex, "the own public key stands %d times in the list: a signer index is needed", count)
	case index == nil:
		return first, nil
	case *index < 0 || *index >= len(s):
		return 0, s.indexError(*index)
	case s[*index].encoded != own:
		return 0, fail(ErrSignerIndex, "signer %d has another public key than the own one", *index)
	}
	return *index, nil
}

func (s keySet) indexError(index int) error {
	return fail(ErrSignerIndex, "signer index %d is not in the range 0 to %d", index, len(s)-1)
}

func (s keySet) checkIndex(index int) error {
	if index < 0 || index >= len(s) {
		return s.indexError(index)
	}
	return nil
}

// SigningKeys returns the public keys in their effective order.
func (c *Context) SigningKeys() []*btcec.PublicKey {
	return c.agg.signers.keys()
}

// SignerIndex returns the own index in the effective order of the keys, or
// NoSigner without a secret key.
func (c *Context) SignerIndex() int { return c.signer }

// OutputKey returns the x-only aggregate key with all tweaks applied, 32 bytes:
// the key that signatures verify under, and with a taproot or BIP-86 tweak the
// output key of BIP-341.
func (c *Context) OutputKey() [XOnlyPubKeySize]byte { return c.agg.xOnly }

// CombinedKey returns the aggregate key with all tweaks applied.
func (c *Context) CombinedKey() *btcec.PublicKey {
	return curve.NewPublicKey(&c.agg.point)
}

// InternalKey returns the aggregate key before any tweak; for a taproot output
// it is the internal key of BIP-341.
func (c *Context) InternalKey() *btcec.PublicKey {
	return curve.NewPublicKey(&c.agg.untweaked)
}

// VerifyPartialSignature checks the partial signature of one signer
// (PartialSigVerify of BIP-327). pubNonces are the public nonces of all signers
// in the effective order of the keys. It returns nil for a valid one, and
// otherwise an InvalidContributionError, a MissingError or ErrInvalidArgument for a wrong
// number of nonces, or ErrSignerIndex.
func (c *Context) VerifyPartialSignature(sig PartialSignature, pubNonces [][PubNonceSize]byte,
	signer int, message []byte) error {

	if c.agg == nil {
		return errZeroContext()
	}
	if err := c.agg.signers.checkIndex(signer); err != nil {
		return err
	}
	if err := checkCount(ContributionPubNonce, len(pubNonces), len(c.agg.signers)); err != nil {
		return err
	}
	nonces, err := parsePubNonces(pubNonces)
	if err != nil {
		return err
	}
	sum := sumNonces(nonces)
	aggNonce := sum.encode()
	s, ok := sig.parse()
	if !ok {
		return blame(signer, ContributionPartialSig, notBelowOrder)
	}
	if !newSessionValues(c.agg, &aggNonce, &sum, message).verify(&s, nonces[signer], signer) {
		return blame(signer, ContributionPartialSig, doesNotVerify)
	}
	return nil
}

// Wipe removes the secret key. Sessions that the Context has made keep their
// own copy; NewSession and DeterministicSign fail with ErrWiped from then on.
func (c *Context) Wipe() {
	c.wiped = true
	if c.key != nil {
		c.key.Zero()
		c.key = nil
	}
}

// signingKey returns the secret key, or an error that says why there is none.
func (c *Context) signingKey() (*btcec.PrivateKey, error) {
	if c.agg == nil {
		return nil, errZeroContext()
	}
	if c.wiped {
		return nil, fail(ErrWiped, "the context has been wiped")
	}
	if c.key == nil {
		return nil, fail(ErrNoSecretKey, "the context has no secret key")
	}
	return c.key, nil
}

func errZeroContext() error {
	return fail(ErrInvalidArgument, "the context is a zero value: make one with NewContext or ParseContext")
}
