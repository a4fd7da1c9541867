package musig2

import "bytes"

// Coordinator gathers the contributions of one signing session and combines
// them, without a key of its own. It can make a session fail but cannot forge.
// Its methods are for one goroutine at a time.
type Coordinator struct {
	collector
	wiped bool
}

// NewCoordinator starts a session for one message of any length, which is
// copied. The Context needs no secret key.
func (c *Context) NewCoordinator(message []byte) (*Coordinator, error) {
	if c.agg == nil {
		return nil, errZeroContext()
	}
	if c.wiped {
		return nil, fail(ErrWiped, "the context has been wiped")
	}
	own := bytes.Clone(message)
	return &Coordinator{collector: newCollector(c.agg, &own)}, nil
}

// RegisterPubNonce takes the public nonce of one signer and reports whether all
// are known. The same nonce again is no error. The errors are ErrSignerIndex, an
// InvalidContributionError, ErrContributionConflict for a second, different
// nonce, and ErrWiped; none of them changes the Coordinator.
func (c *Coordinator) RegisterPubNonce(signer int, nonce [PubNonceSize]byte) (haveAll bool, err error) {
	if err := c.alive(); err != nil {
		return false, err
	}
	err = c.addNonce(signer, nonce)
	return c.aggNonce != nil, err
}

// CombinedNonce returns the aggregate nonce for the signers, or a MissingError
// as long as nonces are missing.
func (c *Coordinator) CombinedNonce() ([PubNonceSize]byte, error) {
	if err := c.alive(); err != nil {
		return [PubNonceSize]byte{}, err
	}
	return c.combinedNonce()
}

// CombineSig takes the partial signature of one signer, verifies it, and reports
// whether all are known. The same one again is no error. The errors are those of
// RegisterPubNonce, and a MissingError as long as nonces are missing; none of
// them changes the Coordinator.
func (c *Coordinator) CombineSig(signer int, sig PartialSignature) (haveAll bool, err error) {
	if err := c.alive(); err != nil {
		return false, err
	}
	if err := c.requireReady(); err != nil {
		return false, err
	}
	err = c.addPartial(signer, sig)
	return len(missing(c.partials)) == 0, err
}

// FinalSig returns the BIP-340 signature, verified, or a MissingError as long as
// contributions are missing.
func (c *Coordinator) FinalSig() ([SignatureSize]byte, error) {
	if err := c.alive(); err != nil {
		return [SignatureSize]byte{}, err
	}
	return c.finish()
}

// MissingNonces returns the indices of the signers whose nonce is not known.
func (c *Coordinator) MissingNonces() []int { return missing(c.nonces) }

// MissingPartialSigs returns the indices of the signers whose partial signature
// is not known.
func (c *Coordinator) MissingPartialSigs() []int { return missing(c.partials) }

// Wipe ends the session.
func (c *Coordinator) Wipe() { c.wiped = true }

func (c *Coordinator) alive() error {
	if c.agg == nil {
		return fail(ErrInvalidArgument, "the coordinator is a zero value: make one with NewCoordinator")
	}
	if c.wiped {
		return fail(ErrWiped, "the coordinator has been wiped")
	}
	return nil
}
