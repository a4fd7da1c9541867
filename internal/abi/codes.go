package abi

// Code is the kind of an error at the wasm boundary. An export that fails
// returns the code, negated. JavaScript sees the name in upper case with
// underscores, as the code property of a BrontosigError: InvalidHandle is
// INVALID_HANDLE. The comment of a code is its documentation there too.
//
// The numbers may change from build to build; the names are stable.
type Code int32

// Errors of the boundary itself.
const (
	// Internal means that a check inside the module failed: a bug in
	// brontosig. The object that was used may be in any state; dispose it.
	Internal Code = iota + 1
	// InvalidArgument means that an argument has the wrong form for the call.
	InvalidArgument
	// InvalidHandle means that a handle names no living object, or one of
	// another class.
	InvalidHandle
	// LimitExceeded means that an argument is longer, or a list has more
	// entries, than the module accepts.
	LimitExceeded
	// TooManyObjects means that too many objects are alive, or that together
	// they would need too much memory. Dispose some.
	TooManyObjects

	// InvalidContribution means that what another signer, or the aggregator of
	// nonces, has sent is invalid. The error is an InvalidContributionError.
	InvalidContribution
	// NoKeys means that the list of public keys or public nonces is empty.
	NoKeys
	// KeyNotInSet means that the public key of the secret key, or the key to
	// verify for, is not among the public keys.
	KeyNotInSet
	// SignerIndex means that a signer index is out of range, or that another
	// key than the own one stands at that position.
	SignerIndex
	// InvalidSecretKey means that a secret key is 0 or not below the order of
	// the group.
	InvalidSecretKey
	// NoSecretKey means that the call signs and the context has no secret key.
	NoSecretKey
	// AggregateInfinity means that the public keys, or the aggregate key and a
	// tweak, add up to the point at infinity.
	AggregateInfinity
	// InvalidTweak means that a tweak is not below the order of the group.
	InvalidTweak
	// RandomFailed means that the system's source of randomness failed.
	RandomFailed
	// NonceUsed means that the secret nonce has been used or wiped. Start a
	// new session.
	NonceUsed
	// InvalidSecretNonce means that a secret nonce is out of range.
	InvalidSecretNonce
	// NonceMismatch means that the nonce was made for another public key,
	// aggregate key or message.
	NonceMismatch
	// MissingContributions means that nonces or partial signatures are still
	// missing. The message says whose.
	MissingContributions
	// NoMessage means that the session has no message yet.
	NoMessage
	// MessageConflict means that the session already has another message.
	MessageConflict
	// ContributionConflict means that the session already has another
	// contribution of this kind from this signer.
	ContributionConflict
	// InvalidSignature means that the combined signature does not verify, and
	// nothing that is known says whose part is wrong.
	InvalidSignature
	// SelfVerifyFailed means that the own partial signature did not verify. It
	// was withheld.
	SelfVerifyFailed
	// SessionFailed means that signing failed after the secret nonce was read.
	// Only a new session can sign.
	SessionFailed
	// MalformedContext means that bytes are not those of a context, or have
	// been damaged.
	MalformedContext
	// Wiped means that the object has been wiped.
	Wiped

	// InvalidPublicKey means that a public key, as an argument or in an act of
	// the handshake, is not a point of the curve.
	InvalidPublicKey
	// WrongAct means that an act of the handshake is out of turn.
	WrongAct
	// UnsupportedVersion means that the other side speaks another version of
	// the handshake.
	UnsupportedVersion
	// MacFailed means that an act or a message was not authentic. The
	// connection cannot be used any more.
	MacFailed
	// NotAnswered means that the other side hung up on the first act of the
	// handshake. A node whose key is not the expected one does that.
	NotAnswered
	// Truncated means that the other side's bytes ended in the middle.
	Truncated
	// HandshakeIncomplete means that messages can be sent only after the
	// handshake.
	HandshakeIncomplete
	// Poisoned means that the connection has failed before.
	Poisoned
	// MessageTooLong means that a message has more than 65,535 bytes.
	MessageTooLong

	// AlreadyStarted means that the init message was sent already.
	AlreadyStarted
	// PeerNotReady means that the init messages have not been exchanged.
	PeerNotReady
	// ReservedType means that messages of this type are sent by the peer layer
	// itself.
	ReservedType
	// TooManyPings means that too many pings are unanswered.
	TooManyPings
	// PingTooSoon means that a ping was sent less than a second ago.
	PingTooSoon
	// TooManyCalls means that too many commando calls wait for their replies.
	TooManyCalls
	// MalformedMessage means that a message of the other side is too short for
	// its contents.
	MalformedMessage
	// MalformedTlv means that a TLV stream of the other side breaks the rules.
	MalformedTlv
	// NoInit means that the other side's first message is not init.
	NoInit
	// DuplicateInit means that the other side sent init twice.
	DuplicateInit
	// UnknownFeature means that the other side requires features that are not
	// known here. The message lists them.
	UnknownFeature
	// FeatureDependency means that the other side has a feature without one
	// that it depends on.
	FeatureDependency
	// NoCommonNetwork means that the other side is on other networks only.
	NoCommonNetwork
	// UnknownMessageType means that the other side sent a message of an unknown
	// even type.
	UnknownMessageType
	// PeerSilent means that the other side did not answer a ping in time.
	PeerSilent
	// PeerClosed means that the other side has broken the protocol before.
	PeerClosed
)
