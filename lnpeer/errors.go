package lnpeer

// ErrorKind identifies a kind of error. Test for one with errors.Is.
type ErrorKind string

// Error implements error.
func (k ErrorKind) Error() string { return string(k) }

// Kinds of errors that change nothing: the Peer stays as it was.
const (
	// ErrArgument is a configuration or an argument that cannot be sent.
	ErrArgument = ErrorKind("ErrArgument")
	// ErrAlreadyStarted is a second Start.
	ErrAlreadyStarted = ErrorKind("ErrAlreadyStarted")
	// ErrNotReady is a use of the Peer before Start, or a message to send
	// before the other side's init has come.
	ErrNotReady = ErrorKind("ErrNotReady")
	// ErrReservedType is a Message of a type that the Peer sends itself.
	ErrReservedType = ErrorKind("ErrReservedType")
	// ErrPingTooSoon is a Ping less than PingInterval after the one before.
	ErrPingTooSoon = ErrorKind("ErrPingTooSoon")
	// ErrTooManyCalls is a Call while MaxCalls wait for their replies.
	ErrTooManyCalls = ErrorKind("ErrTooManyCalls")
	// ErrRandom is a source of randomness that fails.
	ErrRandom = ErrorKind("ErrRandom")
	// ErrTooManyPings is a Ping while MaxPings are unanswered.
	ErrTooManyPings = ErrorKind("ErrTooManyPings")
)

// Kinds of errors that the other side has caused. The connection is to be
// closed, and the Peer is of no use any more.
const (
	// ErrMalformed is a message that is too short for its contents.
	ErrMalformed = ErrorKind("ErrMalformed")
	// ErrTLV is a TLV stream with a record that is cut off, out of order,
	// twice there, not minimally encoded, of an unknown even type or of a
	// wrong length for its type.
	ErrTLV = ErrorKind("ErrTLV")
	// ErrNoInit is a first message other than init.
	ErrNoInit = ErrorKind("ErrNoInit")
	// ErrDuplicateInit is a second init.
	ErrDuplicateInit = ErrorKind("ErrDuplicateInit")
	// ErrUnknownFeature is an init that requires features which are not
	// known here. The error lists them.
	ErrUnknownFeature = ErrorKind("ErrUnknownFeature")
	// ErrFeatureDependency is an init with a feature that depends on another
	// which is not set.
	ErrFeatureDependency = ErrorKind("ErrFeatureDependency")
	// ErrNoCommonNetwork is an init whose networks are all others than the
	// configured ones.
	ErrNoCommonNetwork = ErrorKind("ErrNoCommonNetwork")
	// ErrUnknownType is a message of an unknown even type.
	ErrUnknownType = ErrorKind("ErrUnknownType")
	// ErrSilent is a side that does not answer a ping in time.
	ErrSilent = ErrorKind("ErrSilent")
	// ErrClosed is any use of a Peer after one of the errors above.
	ErrClosed = ErrorKind("ErrClosed")
)

// Error is an error of this package.
type Error struct {
	// Kind is what errors.Is compares.
	Kind ErrorKind
	// Desc says what happened, in words.
	Desc string
	// Features are the bits that an ErrUnknownFeature or an
	// ErrFeatureDependency is about, at most MaxListedFeatures of them.
	Features []int
}

// Error implements error.
func (e *Error) Error() string { return "lnpeer: " + e.Desc }

// Unwrap returns the kind, for errors.Is.
func (e *Error) Unwrap() error { return e.Kind }

func newError(kind ErrorKind, desc string) *Error {
	return &Error{Kind: kind, Desc: desc}
}
