package musig2

import (
	"fmt"
	"strings"
)

// ErrorKind is a kind of error of this package. Every error that the package
// returns matches exactly one of its constants with errors.Is.
type ErrorKind string

// Error returns the name of the kind.
func (k ErrorKind) Error() string { return string(k) }

// The kinds of error.
const (
	// ErrInvalidContribution is the kind of every InvalidContributionError:
	// what another signer, or the aggregator of nonces, has sent is invalid.
	ErrInvalidContribution = ErrorKind("ErrInvalidContribution")
	// ErrNoKeys: the list of public keys, or of public nonces, is empty.
	ErrNoKeys = ErrorKind("ErrNoKeys")
	// ErrKeyNotInSet: the public key of the signing key is not in the list of
	// public keys.
	ErrKeyNotInSet = ErrorKind("ErrKeyNotInSet")
	// ErrSignerIndex: a signer index is out of range, or names a position of
	// the list that holds another key than the own one.
	ErrSignerIndex = ErrorKind("ErrSignerIndex")
	// ErrInvalidSecretKey: a secret key is not in the range 1 to n-1.
	ErrInvalidSecretKey = ErrorKind("ErrInvalidSecretKey")
	// ErrNoSecretKey: the operation signs and the Context has no secret key.
	ErrNoSecretKey = ErrorKind("ErrNoSecretKey")
	// ErrAggregateInfinity: the public keys, or an aggregate key and a tweak,
	// add up to the point at infinity.
	ErrAggregateInfinity = ErrorKind("ErrAggregateInfinity")
	// ErrInvalidTweak: a tweak is not below n.
	ErrInvalidTweak = ErrorKind("ErrInvalidTweak")
	// ErrRandom: the source of randomness failed.
	ErrRandom = ErrorKind("ErrRandom")
	// ErrNonceUsed: the secret nonce has been used or wiped.
	ErrNonceUsed = ErrorKind("ErrNonceUsed")
	// ErrInvalidSecNonce: a secret nonce scalar is 0 or not below n.
	ErrInvalidSecNonce = ErrorKind("ErrInvalidSecNonce")
	// ErrNonceMismatch: the nonce was generated for another public key,
	// aggregate key or message.
	ErrNonceMismatch = ErrorKind("ErrNonceMismatch")
	// ErrMissingContributions is the kind of every MissingError.
	ErrMissingContributions = ErrorKind("ErrMissingContributions")
	// ErrNoMessage: the session has no message yet.
	ErrNoMessage = ErrorKind("ErrNoMessage")
	// ErrMessageConflict: the session already has a different message.
	ErrMessageConflict = ErrorKind("ErrMessageConflict")
	// ErrContributionConflict: the session already has a different
	// contribution of this kind from this signer.
	ErrContributionConflict = ErrorKind("ErrContributionConflict")
	// ErrInvalidSignature: the combined signature, or a partial one, does not
	// verify, and nothing that is known says whose contribution is wrong.
	ErrInvalidSignature = ErrorKind("ErrInvalidSignature")
	// ErrSelfVerify: the own partial signature did not verify. It was withheld.
	ErrSelfVerify = ErrorKind("ErrSelfVerify")
	// ErrSessionFailed: signing failed after the secret nonce was read. Only a
	// new session can sign.
	ErrSessionFailed = ErrorKind("ErrSessionFailed")
	// ErrWiped: the Context, Session or Coordinator has been wiped.
	ErrWiped = ErrorKind("ErrWiped")
	// ErrMalformedContext: bytes that Context.MarshalBinary did not write, or
	// that have been damaged since.
	ErrMalformedContext = ErrorKind("ErrMalformedContext")
	// ErrInvalidArgument: an argument or an option does not fit the call.
	ErrInvalidArgument = ErrorKind("ErrInvalidArgument")
)

// Error is an error of one kind with a description. It never holds a secret.
type Error struct {
	// Kind is what errors.Is compares.
	Kind ErrorKind
	// Desc says what was wrong, for a person.
	Desc string
}

// Error returns the description.
func (e *Error) Error() string { return "musig2: " + e.Desc }

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

func fail(kind ErrorKind, format string, args ...any) error {
	return &Error{Kind: kind, Desc: fmt.Sprintf(format, args...)}
}

// Contribution says what a signer or the aggregator of nonces contributes to a
// session. The values are those of BIP-327's test vectors.
type Contribution string

// The kinds of contribution.
const (
	// ContributionPubKey is an individual public key.
	ContributionPubKey = Contribution("pubkey")
	// ContributionPubNonce is a signer's public nonce.
	ContributionPubNonce = Contribution("pubnonce")
	// ContributionAggNonce is the aggregate nonce.
	ContributionAggNonce = Contribution("aggnonce")
	// ContributionAggOtherNonce is the aggregate nonce of all other signers,
	// for deterministic signing.
	ContributionAggOtherNonce = Contribution("aggothernonce")
	// ContributionPartialSig is a partial signature.
	ContributionPartialSig = Contribution("psig")
)

// NoSigner is the Signer of an InvalidContributionError for which no signer is
// to blame, but the aggregator of the nonces.
const NoSigner = -1

// InvalidContributionError says whose contribution is invalid (BIP-327,
// "Identifying Disruptive Signers"). It matches ErrInvalidContribution.
type InvalidContributionError struct {
	// Signer is the index of the signer to blame in the effective order of
	// the keys, counted from 0, or NoSigner.
	Signer int
	// Contribution is the kind of the contribution.
	Contribution Contribution
	// Reason says what is wrong with it, for a person.
	Reason string
}

// Error describes the contribution and who sent it.
func (e *InvalidContributionError) Error() string {
	if e.Signer == NoSigner {
		return fmt.Sprintf("musig2: invalid %s: %s", e.Contribution, e.Reason)
	}
	return fmt.Sprintf("musig2: invalid %s of signer %d: %s", e.Contribution, e.Signer, e.Reason)
}

// Unwrap returns ErrInvalidContribution.
func (e *InvalidContributionError) Unwrap() error { return ErrInvalidContribution }

func blame(signer int, what Contribution, reason string) error {
	return &InvalidContributionError{Signer: signer, Contribution: what, Reason: reason}
}

// MissingError says which signers' contributions a session still lacks. It
// matches ErrMissingContributions.
type MissingError struct {
	// Contribution is ContributionPubNonce or ContributionPartialSig.
	Contribution Contribution
	// Signers are the indices of those signers in the effective order of the
	// keys, ascending.
	Signers []int
}

// Error says how many are missing, and whose. It names at most 16 signers.
func (e *MissingError) Error() string {
	const most = 16
	names := make([]string, 0, most)
	for _, i := range e.Signers[:min(most, len(e.Signers))] {
		names = append(names, fmt.Sprint(i))
	}
	if len(e.Signers) > most {
		names = append(names, "…")
	}
	return fmt.Sprintf("musig2: %d %s missing, of signer %s",
		len(e.Signers), e.Contribution, strings.Join(names, ", "))
}

// Unwrap returns ErrMissingContributions.
func (e *MissingError) Unwrap() error { return ErrMissingContributions }
