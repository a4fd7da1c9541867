//go:build !js

package bridge

// ErrorKind names a kind of configuration error. It is an error itself, so that
// errors.Is(err, ErrInvalidAllow) works.
type ErrorKind string

// Error returns the name of the kind.
func (k ErrorKind) Error() string { return string(k) }

// The kinds of errors that New returns.
const (
	// ErrNothingAllowed means that Config.Allow is empty: such a bridge could
	// only refuse.
	ErrNothingAllowed = ErrorKind("ErrNothingAllowed")

	// ErrInvalidAllow means that an entry of Config.Allow is none of
	// NODEID@HOST:PORT, HOST:PORT and CIDR[:PORT], or contradicts another.
	ErrInvalidAllow = ErrorKind("ErrInvalidAllow")

	// ErrInvalidOrigin means that an entry of Config.Origins is not an origin
	// as browsers send it.
	ErrInvalidOrigin = ErrorKind("ErrInvalidOrigin")

	// ErrInvalidPublicHost means that an entry of Config.PublicHosts is not a
	// host with an optional port.
	ErrInvalidPublicHost = ErrorKind("ErrInvalidPublicHost")

	// ErrInvalidDeny means that an entry of Config.Deny is not a CIDR.
	ErrInvalidDeny = ErrorKind("ErrInvalidDeny")

	// ErrInvalidPort means that an entry of Config.PublicPorts is no port, or
	// that there are some although Config.AllowPublic is not set.
	ErrInvalidPort = ErrorKind("ErrInvalidPort")

	// ErrInvalidRoute means that an entry of Config.Routes is none of address,
	// v1 and node.
	ErrInvalidRoute = ErrorKind("ErrInvalidRoute")

	// ErrInvalidProxy means that Config.OnionProxy is not HOST:PORT, or that an
	// entry of Config.TrustedProxies is neither an address nor a CIDR.
	ErrInvalidProxy = ErrorKind("ErrInvalidProxy")

	// ErrInvalidToken means that an entry of Config.Tokens is too short or
	// holds a character that a header cannot carry.
	ErrInvalidToken = ErrorKind("ErrInvalidToken")

	// ErrInvalidLimit means that a number or a duration of Config is negative or
	// out of range, or that the process may open too few files.
	ErrInvalidLimit = ErrorKind("ErrInvalidLimit")
)

// Error is a configuration error: its kind, for programs, and text, for people.
type Error struct {
	// Kind is what errors.Is compares.
	Kind ErrorKind
	// Desc says what is wrong, in words.
	Desc string
}

// Error returns the text.
func (e Error) Error() string { return e.Desc }

// Unwrap returns the kind.
func (e Error) Unwrap() error { return e.Kind }
