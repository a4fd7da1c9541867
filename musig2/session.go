package musig2

import (
	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/internal/curve"
)

// SessionState is where a Session stands.
type SessionState string

// The states of a Session, in the order in which it passes through them. A
// session that starts with all nonces, that of a single signer, starts ready.
const (
	// StateNonces: neither all public nonces nor an aggregate nonce are known.
	StateNonces = SessionState("nonces")
	// StateReady: Sign may be called.
	StateReady = SessionState("ready")
	// StateSigned: Sign has succeeded; the secret nonce and the copy of the
	// secret key are gone.
	StateSigned = SessionState("signed")
	// StateComplete: FinalSig has succeeded.
	StateComplete = SessionState("complete")
	// StateFailed: Sign failed after it had read the secret nonce, or the
	// session was wiped. Nothing more can be done with it.
	StateFailed = SessionState("failed")
)

// Session makes one signature, once. It owns a secret nonce and a copy of the
// secret key until it signs, so it outlives its Context; call Wipe if it is
// given up before that. Its methods are for one goroutine at a time, except that
// even concurrent calls of Sign never use the nonce twice.
type Session struct {
	collector
	signer int
	key    btcec.PrivateKey
	own    *Nonces
	public [PubNonceSize]byte
	state  SessionState // Signed, Complete, Failed, or empty before
	wiped  bool
}

// SessionOption is an optional input of NewSession.
type SessionOption func(*sessionOptions)

type sessionOptions struct {
	nonces     *Nonces
	message    *[]byte
	extraInput []byte
}

// WithPreGeneratedNonce uses a nonce of GenNonces instead of a new one, and
// takes its secret half away.
func WithPreGeneratedNonce(nonces *Nonces) SessionOption {
	return func(o *sessionOptions) { o.nonces = nonces }
}

// WithSessionMessage gives the message, of any length, before the nonces are
// exchanged, which lets it protect the nonce against weak randomness.
func WithSessionMessage(message []byte) SessionOption {
	return func(o *sessionOptions) {
		own := append([]byte{}, message...)
		o.message = &own
	}
}

// WithSessionExtraInput mixes further input, of less than 2^32 bytes, into the
// nonce that the session generates.
func WithSessionExtraInput(extraInput []byte) SessionOption {
	return func(o *sessionOptions) { o.extraInput = extraInput }
}

// NewSession starts a session with a fresh nonce, or with that of
// WithPreGeneratedNonce. The errors are ErrNoSecretKey, ErrWiped, ErrRandom, and
// for a nonce that was given ErrNonceMismatch if it was generated for another
// key, aggregate key or message (it then stays usable), ErrNonceUsed,
// ErrInvalidSecNonce or an InvalidContributionError if its fields were changed,
// and ErrInvalidArgument together with WithSessionExtraInput.
func (c *Context) NewSession(options ...SessionOption) (*Session, error) {
	key, err := c.signingKey()
	if err != nil {
		return nil, err
	}
	var o sessionOptions
	for _, option := range options {
		option(&o)
	}
	nonces, err := c.sessionNonce(key, &o)
	if err != nil {
		return nil, err
	}
	s := &Session{
		collector: newCollector(c.agg, o.message),
		signer:    c.signer,
		key:       *key,
		own:       nonces,
		public:    nonces.PubNonce,
	}
	if err := s.addOwnNonce(); err != nil {
		s.Wipe()
		return nil, err
	}
	return s, nil
}

// addOwnNonce adds the own nonce, which is parsed only if it is not what was
// generated.
func (s *Session) addOwnNonce() error {
	if points := s.own.points; points != nil && points.encode() == s.public {
		return s.addParsedNonce(s.signer, &pubNonce{s.public, *points})
	}
	return s.addNonce(s.signer, s.public)
}

func (c *Context) sessionNonce(key *btcec.PrivateKey, o *sessionOptions) (*Nonces, error) {
	if o.nonces == nil {
		generation := nonceGenOptions{
			rand:         systemRand(),
			secretKey:    key,
			aggregateKey: c.agg.xOnly[:],
			message:      o.message,
			extraInput:   o.extraInput,
		}
		return generation.generate(c.agg.signers[c.signer].encoded)
	}
	if o.extraInput != nil {
		return nil, fail(ErrInvalidArgument, "extra input for a nonce that is generated already")
	}
	return o.nonces.moveTo(c.agg, c.signer, o.message)
}

// moveTo checks that a nonce may sign for a signer and moves it.
func (n *Nonces) moveTo(agg *keyAgg, signer int, message *[]byte) (*Nonces, error) {
	if n.taken.Load() {
		return nil, errNonceUsed()
	}
	if n.SecNonce != [SecNonceSize]byte{} &&
		[PubKeySize]byte(n.SecNonce[2*curve.ScalarSize:]) != agg.signers[signer].encoded {
		return nil, fail(ErrNonceMismatch, "the nonce was generated for another public key")
	}
	if n.aggregateKey != nil && [XOnlyPubKeySize]byte(n.aggregateKey) != agg.xOnly {
		return nil, fail(ErrNonceMismatch, "the nonce was generated for another aggregate key")
	}
	if message != nil {
		if err := n.checkMessage(*message); err != nil {
			return nil, err
		}
	}
	secret, err := n.take()
	if err != nil {
		return nil, err
	}
	defer secret.wipe()
	return &Nonces{
		PubNonce:     n.PubNonce,
		SecNonce:     secret.encode(),
		points:       n.points,
		aggregateKey: n.aggregateKey,
		message:      n.message,
	}, nil
}

// PublicNonce returns the own public nonce, for the other signers.
func (s *Session) PublicNonce() [PubNonceSize]byte { return s.public }

// SignerIndex returns the own index in the effective order of the keys.
func (s *Session) SignerIndex() int { return s.signer }

// State returns where the session stands.
func (s *Session) State() SessionState {
	switch {
	case s.state != "":
		return s.state
	case s.aggNonce != nil:
		return StateReady
	}
	return StateNonces
}

// MissingNonces returns the indices of the signers whose nonce is not known.
func (s *Session) MissingNonces() []int { return missing(s.nonces) }

// MissingPartialSigs returns the indices of the signers whose partial signature
// is not known.
func (s *Session) MissingPartialSigs() []int { return missing(s.partials) }

// RegisterPubNonce takes the public nonce of another signer and reports whether
// the session is ready to sign. The same nonce again is no error; the own one is
// known. Once the session has signed under an aggregate nonce it was given, all
// nonces together serve to find out whose contribution is wrong.
//
// The errors are ErrSignerIndex, ErrContributionConflict for a second, different
// nonce, ErrSessionFailed, ErrWiped, and an InvalidContributionError: for the
// nonce; for the aggregate nonce, if this was the last nonce and the sum is
// another; or that of CombineSig for a partial signature of this signer that had
// waited for the nonce, which is then dropped, and the nonce with it. Otherwise
// an error leaves the session as it was.
func (s *Session) RegisterPubNonce(signer int, nonce [PubNonceSize]byte) (haveAll bool, err error) {
	if err := s.alive(); err != nil {
		return false, err
	}
	err = s.addNonce(signer, nonce)
	return s.aggNonce != nil, err
}

// RegisterCombinedNonce takes the aggregate nonce of a coordinator, whose halves
// may be infinity, in place of the other signers' nonces. It may be replaced
// until the session signs, which drops the partial signatures that were made
// under the old one; after that another one is ErrContributionConflict. An
// InvalidContributionError without a signer tells that it cannot be parsed, or
// that all nonces are known and have another sum.
func (s *Session) RegisterCombinedNonce(nonce [PubNonceSize]byte) error {
	if err := s.alive(); err != nil {
		return err
	}
	return s.setAggregateNonce(nonce)
}

// CombinedNonce returns the aggregate nonce, or a MissingError as long as nonces
// are missing.
func (s *Session) CombinedNonce() ([PubNonceSize]byte, error) {
	if err := s.alive(); err != nil {
		return [PubNonceSize]byte{}, err
	}
	return s.combinedNonce()
}

// Sign returns the own partial signature (Sign of BIP-327), which it verifies
// first unless WithFastSign is given. A nil message stands for that of
// WithSessionMessage; an empty one that is not nil is a message.
//
// Errors of usage leave the session as it was: a MissingError, ErrNoMessage,
// ErrMessageConflict, ErrNonceMismatch for a nonce that is bound to another
// message, ErrInvalidArgument for an option that belongs to the Context. From the
// first step that reads the secret nonce, it is gone, and with an error
// (ErrSelfVerify) the session has failed. The second call is ErrNonceUsed.
func (s *Session) Sign(message []byte, options ...SignOption) (PartialSignature, error) {
	if s.state == StateSigned || s.state == StateComplete {
		return PartialSignature{}, errNonceUsed()
	}
	if err := s.alive(); err != nil {
		return PartialSignature{}, err
	}
	o := newSignOptions(options)
	if o.sort || o.tweaks != nil {
		return PartialSignature{}, fail(ErrInvalidArgument, "the order of the keys and the tweaks are the context's")
	}
	if err := s.readyFor(message); err != nil {
		return PartialSignature{}, err
	}
	nonce, err := s.own.take()
	if err != nil {
		return PartialSignature{}, err
	}
	var public *noncePoints
	if !o.fast {
		public = &s.nonces[s.signer].points
	}
	sig, err := s.sessionValues().signChecked(nonce, &s.key.Key, s.signer, public)
	s.wipeSecrets()
	if err != nil {
		s.state = StateFailed
		return PartialSignature{}, err
	}
	s.state = StateSigned
	scalar, _ := sig.parse() // below n, since it comes from a scalar
	s.partials[s.signer] = &partialSig{encoded: sig, s: scalar, verified: !o.fast}
	return sig, nil
}

// readyFor checks everything that can be wrong with a call of Sign, and takes
// the message when nothing is.
func (s *Session) readyFor(message []byte) error {
	if message == nil {
		if err := s.requireReady(); err != nil {
			return err
		}
		if s.message == nil {
			// Another call of Sign brought a message of its own.
			return errNonceUsed()
		}
		message = *s.message
	}
	if s.aggNonce == nil {
		return s.requireReady()
	}
	if err := s.checkMessage(message); err != nil {
		return err
	}
	if err := s.own.checkMessage(message); err != nil {
		return err
	}
	s.setMessage(message)
	return nil
}

// CombineSig takes the partial signature of another signer and reports whether
// all are known. It is verified now if the message, the aggregate nonce and that
// signer's nonce are known, and otherwise when the nonce comes or by FinalSig. The
// same one again is no error, nor is the own one once the session has signed.
//
// Under an aggregate nonce that was given, a partial signature that does not verify
// is its signer's fault only if all nonces are known, and their sum is that nonce:
// an aggregator may have given the signer another one. If the sum is another, the
// InvalidContributionError is for the aggregate nonce, and as long as nonces are
// missing the error is ErrInvalidSignature.
//
// The errors are ErrSignerIndex, an InvalidContributionError, ErrInvalidSignature,
// ErrContributionConflict for a second, different one, ErrInvalidArgument for an
// own one before Sign, ErrSessionFailed and ErrWiped; none of them changes the
// session.
func (s *Session) CombineSig(signer int, sig PartialSignature) (haveAll bool, err error) {
	if err := s.alive(); err != nil {
		return false, err
	}
	if signer == s.signer && s.partials[signer] == nil {
		return false, fail(ErrInvalidArgument, "the own partial signature comes from Sign, which has not been called")
	}
	err = s.addPartial(signer, sig)
	return len(missing(s.partials)) == 0, err
}

// FinalSig combines the partial signatures (PartialSigAgg of BIP-327) and
// returns the BIP-340 signature, verified. The errors are a MissingError;
// ErrNoMessage; that of CombineSig for a partial signature that could not be
// verified before, which is then dropped so that the right one may follow; an
// InvalidContributionError for the aggregate nonce; ErrInvalidSignature if
// nothing says who is to blame; ErrSessionFailed and ErrWiped.
func (s *Session) FinalSig() ([SignatureSize]byte, error) {
	if err := s.alive(); err != nil {
		return [SignatureSize]byte{}, err
	}
	signature, err := s.finish()
	if err == nil {
		s.state = StateComplete
	}
	return signature, err
}

// Wipe ends the session and removes its secrets.
func (s *Session) Wipe() {
	s.wiped = true
	s.state = StateFailed
	s.wipeSecrets()
}

func (s *Session) wipeSecrets() {
	if s.own != nil {
		s.own.Wipe()
	}
	s.key.Zero()
}

func (s *Session) alive() error {
	switch {
	case s.agg == nil:
		return fail(ErrInvalidArgument, "the session is a zero value: make one with NewSession")
	case s.wiped:
		return fail(ErrWiped, "the session has been wiped")
	case s.state == StateFailed:
		return fail(ErrSessionFailed, "signing failed: only a new session can sign")
	}
	return nil
}
