package abi

// Limits of one call. The wrapper checks them before it copies anything into
// the module's memory, and the module checks them again: running out of memory
// is the one failure that it cannot survive.
const (
	// MaxMessageSize is the longest message that can be signed or verified, in
	// bytes.
	MaxMessageSize = 16 << 20
	// MaxSigners is the largest number of keys, or of nonces, in one call.
	MaxSigners = 10_000
	// MaxInputSize is the number of bytes that all arguments of one call may
	// have together: the longest message and MaxSigners public nonces fit.
	MaxInputSize = MaxMessageSize + 1<<20
	// MaxHandles is the number of objects that may live at once.
	MaxHandles = 1 << 16
	// MaxObjectBytes bounds the memory, in bytes, that all living objects may
	// hold together.
	MaxObjectBytes = 1 << 30
)
