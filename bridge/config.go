//go:build !js

package bridge

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The limits of a Bridge whose Config leaves them at zero. There is none on
// bytes per second.
const (
	// DefaultMaxConnections is lowered to what the process's limit on open
	// files allows.
	DefaultMaxConnections   = 10_000
	DefaultMaxPerClient     = 64
	DefaultMaxPerTarget     = 1_000
	DefaultMaxDials         = 64
	DefaultMaxMessageBytes  = 1 << 20
	DefaultDialTimeout      = 10 * time.Second
	DefaultHandshakeTimeout = 15 * time.Second
	DefaultIdleTimeout      = 10 * time.Minute
	DefaultMaxLifetime      = 24 * time.Hour
	DefaultPingInterval     = 30 * time.Second
)

// Config says whom a Bridge serves and what they may reach. Its zero value is
// not usable: a bridge that allows no target could only refuse.
type Config struct {
	// Allow lists the targets. An entry is one of
	//
	//	NODEID@HOST:PORT  a node by its public key of 66 hex digits; clients
	//	                  may use the key or the address. The default port is 9735
	//	HOST:PORT         a name, an IPv4 address or an IPv6 address in brackets
	//	CIDR, CIDR:PORT   every address of a network, at port 9735 or PORT;
	//	                  it lets clients use addresses, not names
	//
	// A listed name may only lead to public addresses, or to addresses that an
	// entry of its own lists as such. A network that is larger than a block of
	// special addresses does not open that block: 0.0.0.0/0 leaves out 10.0.0.0/8.
	// An address of the machine itself must be listed alone.
	Allow []string

	// AllowPublic lets clients reach every public address, and every name that
	// leads to public addresses only, at one of PublicPorts (by default 9735).
	// The machine's own addresses, and those in PublicHosts, are left out. A
	// machine behind address translation does not know its public address: list
	// it in PublicHosts or Deny.
	AllowPublic bool
	PublicPorts []int

	// Deny lists networks (CIDR) that are never reached, whatever allows them.
	Deny []string

	// Routes lists the forms of path that are served, of "address", "v1" and
	// "node". By default all are.
	Routes []string

	// OnionProxy is the HOST:PORT of a SOCKS5 proxy through which onion
	// services are reached, and nothing else. Without it they are refused.
	OnionProxy string

	// Origins lists the origins of the pages that may use the bridge, exactly
	// as browsers send them. "null", which every sandboxed page and local file
	// sends, is refused unless listed.
	Origins []string

	// AllowNoOrigin accepts programs, which send no Origin header, from
	// everywhere. Otherwise they need a token, or are accepted from the
	// loopback interface only, and there only without the headers that a
	// reverse proxy adds.
	AllowNoOrigin bool

	// Tokens lists secrets of at least 16 characters. If there are any, every
	// client must send one of them, as "Authorization: Bearer TOKEN" or as the
	// subprotocol "brontosig.token." with the token in base64url without padding.
	Tokens []string

	// PublicHosts lists the values of the Host header that the bridge answers
	// to. By default these are the address that the client connected to, and
	// localhost, each with the port.
	PublicHosts []string

	// TrustedProxies lists the addresses and networks (CIDR) of reverse proxies
	// whose X-Forwarded-For says who a client is.
	TrustedProxies []string

	// MaxConnections bounds the connections in all, MaxPerClient those of one
	// IPv4 address or one IPv6 /64, MaxPerTarget those to one target. Attempts
	// count from before the dial. MaxDials bounds the dials at a time; one
	// client may have a quarter of them.
	MaxConnections, MaxPerClient, MaxPerTarget, MaxDials int

	// BytesPerSecond bounds what one connection carries in both directions
	// together, TotalBytesPerSecond what all carry. Zero means no limit.
	BytesPerSecond, TotalBytesPerSecond int

	// MaxMessageBytes bounds one WebSocket message of a client.
	MaxMessageBytes int

	// DialTimeout bounds the look-up of a name and the connection to a node
	// together; HandshakeTimeout the wait for act one, and again for act two;
	// IdleTimeout the time in which no byte moves in either direction;
	// MaxLifetime the time that a connection lasts.
	DialTimeout, HandshakeTimeout, IdleTimeout, MaxLifetime time.Duration

	// PingInterval is how long a client may be silent before the bridge sends
	// it a WebSocket ping. It has four times as long to answer, from when bytes
	// last moved: the ping may be behind many.
	PingInterval time.Duration

	// Logger receives one line for every attempt and one for its end. It never
	// sees paths, headers, tokens or payloads. The default discards.
	Logger *slog.Logger

	// Registerer receives the metrics. By default nobody does.
	Registerer prometheus.Registerer
}

// settings are the numbers of a Config, with defaults filled in. They stay for
// the life of a Bridge.
type settings struct {
	caps                                caps
	timeouts                            timeouts
	dialTimeout                         time.Duration
	maxMessage                          int
	bytesPerSecond, totalBytesPerSecond int
}

func newSettings(cfg Config) (settings, error) {
	var s settings
	noLimit := 0
	if err := errors.Join(
		setLimit(&s.caps.total, "MaxConnections", cfg.MaxConnections, DefaultMaxConnections),
		setLimit(&s.caps.perClient, "MaxPerClient", cfg.MaxPerClient, DefaultMaxPerClient),
		setLimit(&s.caps.perTarget, "MaxPerTarget", cfg.MaxPerTarget, DefaultMaxPerTarget),
		setLimit(&s.caps.dials, "MaxDials", cfg.MaxDials, DefaultMaxDials),
		setLimit(&s.maxMessage, "MaxMessageBytes", cfg.MaxMessageBytes, DefaultMaxMessageBytes),
		setLimit(&s.bytesPerSecond, "BytesPerSecond", cfg.BytesPerSecond, noLimit),
		setLimit(&s.totalBytesPerSecond, "TotalBytesPerSecond", cfg.TotalBytesPerSecond, noLimit),
		setLimit(&s.dialTimeout, "DialTimeout", cfg.DialTimeout, DefaultDialTimeout),
		setLimit(&s.timeouts.handshake, "HandshakeTimeout", cfg.HandshakeTimeout, DefaultHandshakeTimeout),
		setLimit(&s.timeouts.idle, "IdleTimeout", cfg.IdleTimeout, DefaultIdleTimeout),
		setLimit(&s.timeouts.lifetime, "MaxLifetime", cfg.MaxLifetime, DefaultMaxLifetime),
		setLimit(&s.timeouts.ping, "PingInterval", cfg.PingInterval, DefaultPingInterval),
	); err != nil {
		return s, err
	}
	s.timeouts.answer, s.timeouts.drain, s.timeouts.linger = closeTimeout, drainTimeout, lingerTimeout
	s.caps.dialsPerClient = max(1, s.caps.dials/4)
	descriptors, err := descriptorLimit()
	if err != nil {
		return s, err
	}
	most, err := affordable(descriptors, s.caps.dials)
	s.caps.total = min(s.caps.total, most)
	return s, err
}

func setLimit[T int | time.Duration](dst *T, name string, value, fallback T) error {
	switch {
	case value < 0:
		return Error{ErrInvalidLimit, fmt.Sprintf("%s must not be negative", name)}
	case value == 0:
		value = fallback
	}
	*dst = value
	return nil
}
