package musig2

import (
	"bytes"
	"slices"

	"github.com/brontosig/brontosig/internal/curve"
)

// collector gathers what the signers of one session contribute, in any order,
// and turns it into a signature. Session and Coordinator are built on it. All of
// it is public data.
//
// Nothing that is refused changes it, with two exceptions: a partial signature
// that had to wait for its signer's nonce, and turns out to be wrong when the
// nonce comes, is dropped; and so is one that finish finds to be wrong.
type collector struct {
	agg *keyAgg
	// message is nil until it is known, and stays so if it comes with Sign:
	// then values hold what is needed of it.
	message  *[]byte
	nonces   []*pubNonce
	partials []*partialSig
	aggNonce *aggNonce
	values   *sessionValues
	// frozen forbids to replace the aggregate nonce: something was signed
	// under it.
	frozen    bool
	signature *[SignatureSize]byte
}

type pubNonce struct {
	encoded [PubNonceSize]byte
	points  noncePoints
}

type aggNonce struct {
	pubNonce
	external bool // given, not computed
}

type partialSig struct {
	encoded  PartialSignature
	s        curve.Scalar
	verified bool
}

func newCollector(agg *keyAgg, message *[]byte) collector {
	return collector{
		agg:      agg,
		message:  message,
		nonces:   make([]*pubNonce, len(agg.signers)),
		partials: make([]*partialSig, len(agg.signers)),
	}
}

// missing returns the positions of a list that hold nothing.
func missing[T any](list []*T) []int {
	positions := []int{}
	for i, item := range list {
		if item == nil {
			positions = append(positions, i)
		}
	}
	return positions
}

func (c *collector) addNonce(signer int, encoded [PubNonceSize]byte) error {
	if err := c.agg.signers.checkIndex(signer); err != nil {
		return err
	}
	have := c.nonces[signer]
	if have != nil && have.encoded == encoded {
		return nil
	}
	points, err := parsePubNonce(&encoded)
	if err != nil {
		return blame(signer, ContributionPubNonce, err.Error())
	}
	if have != nil {
		return fail(ErrContributionConflict, "signer %d has another public nonce already", signer)
	}
	return c.addParsedNonce(signer, &pubNonce{encoded, points})
}

// addParsedNonce takes the first nonce of a signer.
func (c *collector) addParsedNonce(signer int, nonce *pubNonce) error {
	c.nonces[signer] = nonce
	var sum pubNonce
	complete := false
	if !c.frozen {
		// Later the aggregate nonce stays, whatever their sum is.
		sum, complete = c.sumNonces()
	}
	if complete && c.aggNonce != nil && c.aggNonce.encoded != sum.encoded {
		c.nonces[signer] = nil
		return blame(NoSigner, ContributionAggNonce, notSumOfNonces)
	}
	if p := c.partials[signer]; p != nil && !c.check(p, signer) {
		err := c.wrongPartial(signer)
		c.nonces[signer], c.partials[signer] = nil, nil
		return err
	}
	if complete && c.aggNonce == nil {
		c.aggNonce = &aggNonce{pubNonce: sum}
	}
	return nil
}

// sumNonces aggregates the nonces if all are known.
func (c *collector) sumNonces() (sum pubNonce, complete bool) {
	if slices.Contains(c.nonces, nil) {
		return pubNonce{}, false
	}
	points := make([]*noncePoints, len(c.nonces))
	for i, nonce := range c.nonces {
		points[i] = &nonce.points
	}
	total := sumNonces(points)
	return pubNonce{total.encode(), total}, true
}

func (c *collector) setAggregateNonce(encoded [PubNonceSize]byte) error {
	points, err := parseAggNonce(&encoded)
	if err != nil {
		return blame(NoSigner, ContributionAggNonce, err.Error())
	}
	if c.aggNonce != nil && c.aggNonce.encoded == encoded {
		return nil
	}
	if c.frozen {
		return fail(ErrContributionConflict, "another aggregate nonce was signed under already")
	}
	if sum, complete := c.sumNonces(); complete && sum.encoded != encoded {
		return blame(NoSigner, ContributionAggNonce, notSumOfNonces)
	}
	if c.aggNonce != nil {
		// What was signed under the old one is wrong under the new one, and
		// nobody's fault.
		clear(c.partials)
	}
	c.aggNonce = &aggNonce{pubNonce{encoded, points}, true}
	c.values = nil
	return nil
}

func (c *collector) combinedNonce() ([PubNonceSize]byte, error) {
	if c.aggNonce == nil {
		return [PubNonceSize]byte{}, &MissingError{ContributionPubNonce, missing(c.nonces)}
	}
	return c.aggNonce.encoded, nil
}

// ready reports whether everything is known that a signature depends on.
func (c *collector) ready() bool {
	return c.requireReady() == nil
}

// requireReady says what is missing for a signature.
func (c *collector) requireReady() error {
	if c.aggNonce == nil {
		return &MissingError{Contribution: ContributionPubNonce, Signers: missing(c.nonces)}
	}
	if c.message == nil && c.values == nil {
		return fail(ErrNoMessage, "the session has no message")
	}
	return nil
}

// sessionValues is for a collector that is ready.
func (c *collector) sessionValues() *sessionValues {
	if c.values == nil {
		c.values = newSessionValues(c.agg, &c.aggNonce.encoded, &c.aggNonce.points, *c.message)
	}
	return c.values
}

// checkMessage compares a message with the one that the session has.
func (c *collector) checkMessage(message []byte) error {
	switch {
	case c.message == nil && c.values == nil:
		return nil
	case c.message == nil || !bytes.Equal(*c.message, message):
		return fail(ErrMessageConflict, "the session has another message")
	}
	return nil
}

// setMessage takes the message, which has been checked, of a collector that has
// its nonces, and freezes them.
func (c *collector) setMessage(message []byte) {
	if c.message == nil && c.values == nil {
		c.values = newSessionValues(c.agg, &c.aggNonce.encoded, &c.aggNonce.points, message)
	}
	c.frozen = true
}

func (c *collector) addPartial(signer int, encoded PartialSignature) error {
	if err := c.agg.signers.checkIndex(signer); err != nil {
		return err
	}
	s, ok := encoded.parse()
	if !ok {
		return blame(signer, ContributionPartialSig, notBelowOrder)
	}
	if have := c.partials[signer]; have != nil {
		if have.encoded != encoded {
			return fail(ErrContributionConflict, "signer %d has another partial signature already", signer)
		}
		return nil
	}
	p := &partialSig{encoded: encoded, s: s}
	if !c.check(p, signer) {
		return c.wrongPartial(signer)
	}
	c.partials[signer] = p
	return nil
}

// check verifies a partial signature if that can be done yet. It returns false
// for one that is wrong.
func (c *collector) check(p *partialSig, signer int) bool {
	nonce := c.nonces[signer]
	if p.verified || nonce == nil || !c.ready() {
		return true
	}
	p.verified = c.sessionValues().verify(&p.s, &nonce.points, signer)
	return p.verified
}

// wrongPartial says whose fault it is that a partial signature does not verify. The
// signer's, if the aggregate nonce is known to be the right one: an aggregator may
// have given the signer, who then signed as it should, another one than this side.
func (c *collector) wrongPartial(signer int) error {
	if c.aggNonce.external {
		if absent := missing(c.nonces); len(absent) > 0 {
			return fail(ErrInvalidSignature, "the partial signature of signer %d does not verify, and without the "+
				"public nonces of %d signers nothing says whether it or the aggregate nonce is wrong", signer, len(absent))
		}
		if sum, _ := c.sumNonces(); sum.encoded != c.aggNonce.encoded {
			return blame(NoSigner, ContributionAggNonce, notSumOfNonces)
		}
	}
	return blame(signer, ContributionPartialSig, doesNotVerify)
}

// finish combines the partial signatures and verifies the result.
func (c *collector) finish() ([SignatureSize]byte, error) {
	if c.signature != nil {
		return *c.signature, nil
	}
	if err := c.requireReady(); err != nil {
		return [SignatureSize]byte{}, err
	}
	if absent := missing(c.partials); len(absent) > 0 {
		return [SignatureSize]byte{}, &MissingError{Contribution: ContributionPartialSig, Signers: absent}
	}
	scalars := make([]curve.Scalar, len(c.partials))
	for i, p := range c.partials {
		if !c.check(p, i) {
			c.partials[i] = nil
			return [SignatureSize]byte{}, c.wrongPartial(i)
		}
		scalars[i] = p.s
	}
	signature, valid := c.sessionValues().combineSigs(scalars)
	if !valid {
		return [SignatureSize]byte{}, c.blameUnknown()
	}
	c.signature = &signature
	return signature, nil
}

// blameUnknown is for a signature that is invalid though no partial signature
// is known to be wrong. If all nonces are known, all partial signatures have
// been verified, so the aggregate nonce that was given is not their sum.
func (c *collector) blameUnknown() error {
	absent := missing(c.nonces)
	if len(absent) == 0 {
		return blame(NoSigner, ContributionAggNonce, notSumOfNonces)
	}
	return fail(ErrInvalidSignature, "the combined signature does not verify, and without the "+
		"public nonces of %d signers nothing says whose contribution is wrong", len(absent))
}
