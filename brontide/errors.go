package brontide

// ErrorKind identifies a kind of error. Test for one with errors.Is.
type ErrorKind string

// Error implements error.
func (k ErrorKind) Error() string { return string(k) }

// Kinds of errors. Errors of a carrier, of a SingleKeyECDH or of a source of
// ephemeral keys are returned wrapped and have no kind.
const (
	// ErrArgument is a key that is missing or not on the curve.
	ErrArgument = ErrorKind("ErrArgument")
	// ErrKeyWiped is a use of a PrivKeyECDH after Wipe.
	ErrKeyWiped = ErrorKind("ErrKeyWiped")
	// ErrWrongAct is an act out of turn or of the other role. Nothing has
	// changed.
	ErrWrongAct = ErrorKind("ErrWrongAct")
	// ErrVersion is an act whose version byte is not 0.
	ErrVersion = ErrorKind("ErrVersion")
	// ErrPublicKey is an act whose public key is not the compressed form of
	// a point of the curve.
	ErrPublicKey = ErrorKind("ErrPublicKey")
	// ErrMAC is an act, a header or a body whose authentication failed. In
	// act one it means that the initiator expects another static key.
	ErrMAC = ErrorKind("ErrMAC")
	// ErrNotAnswered is an end of the stream after act one and before the
	// first byte of act two. A responder that was called by another static
	// key than its own does just that.
	ErrNotAnswered = ErrorKind("ErrNotAnswered")
	// ErrTruncated is an end of the stream inside an act, a header or a body.
	ErrTruncated = ErrorKind("ErrTruncated")
	// ErrHandshakeIncomplete is a message before the handshake has ended.
	// Nothing has changed.
	ErrHandshakeIncomplete = ErrorKind("ErrHandshakeIncomplete")
	// ErrPoisoned is any use of a machine that has failed or was wiped.
	ErrPoisoned = ErrorKind("ErrPoisoned")
	// ErrMaxMessageLengthExceeded is a message of more than MaxMessageSize
	// bytes. Nothing has changed.
	ErrMaxMessageLengthExceeded = ErrorKind("ErrMaxMessageLengthExceeded")
	// ErrMessageNotFlushed is a WriteMessage while an earlier message has
	// not gone to the carrier in full. Nothing has changed.
	ErrMessageNotFlushed = ErrorKind("ErrMessageNotFlushed")
	// ErrHeaderNotRead is a ReadBody with no header before it.
	ErrHeaderNotRead = ErrorKind("ErrHeaderNotRead")
	// ErrBufferSize is a ReadBody into a buffer that is not as long as the
	// header said. Nothing has changed.
	ErrBufferSize = ErrorKind("ErrBufferSize")
	// ErrPeerRejected is a handshake that ended well with a peer that the
	// listener's AcceptPeer function refused.
	ErrPeerRejected = ErrorKind("ErrPeerRejected")
	// ErrEvicted is a handshake that gave way to a newer one because the
	// listener had as many as it allows.
	ErrEvicted = ErrorKind("ErrEvicted")
	// ErrBacklogFull is a handshake that ended well when MaxUnaccepted
	// connections were waiting for Accept.
	ErrBacklogFull = ErrorKind("ErrBacklogFull")
)

// Error is an error of this package.
type Error struct {
	// Kind is what errors.Is compares.
	Kind ErrorKind
	// Act is the act, 1 to 3, that was wrong, or 0.
	Act int
	// Desc says what happened, in words.
	Desc string
}

// Error implements error.
func (e *Error) Error() string { return "brontide: " + e.Desc }

// Unwrap returns the kind, for errors.Is.
func (e *Error) Unwrap() error { return e.Kind }

func newError(kind ErrorKind, desc string) *Error {
	return &Error{Kind: kind, Desc: desc}
}
