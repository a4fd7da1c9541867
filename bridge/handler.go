package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// The limits of a Bridge whose Config leaves them at zero.
const (
	DefaultMaxConnections   = 1000
	DefaultMaxPerClient     = 64
	DefaultDialTimeout      = 10 * time.Second
	DefaultHandshakeTimeout = 15 * time.Second
	DefaultIdleTimeout      = 10 * time.Minute
)

// maxRefusals is how many browsers the bridge upgrades at a time only to refuse
// them. What comes beyond hears the HTTP status.
const maxRefusals = 64

// Config says whom a Bridge serves and what they may reach. Its zero value is
// not usable: a bridge without an allow-list could only refuse.
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
	// entry of its own lists as such.
	Allow []string

	// Origins lists the origins of the pages that may use the bridge, exactly
	// as browsers send them. "null", which every sandboxed page and local file
	// sends, is refused unless listed.
	Origins []string

	// AllowNoOrigin accepts programs, which send no Origin header, from
	// everywhere. Otherwise they are accepted from the loopback interface only,
	// and there only without the headers that a reverse proxy adds.
	AllowNoOrigin bool

	// PublicHosts lists the values of the Host header that the bridge answers
	// to. By default these are the address that the client connected to, and
	// localhost, each with the port.
	PublicHosts []string

	// MaxConnections bounds the connections in all, MaxPerClient those of one
	// IPv4 address or one IPv6 /64. Attempts count from before the dial.
	MaxConnections, MaxPerClient int

	// DialTimeout bounds the look-up of a name and the connection to a node
	// together; HandshakeTimeout the wait for act one, and again for act two;
	// IdleTimeout the time in which no byte moves in either direction.
	DialTimeout, HandshakeTimeout, IdleTimeout time.Duration

	// Logger receives one line for every attempt. It never sees paths, headers
	// or payloads. The default discards.
	Logger *slog.Logger
}

// Bridge is an http.Handler that serves WebSocket clients. It is safe for use
// by several goroutines.
type Bridge struct {
	policy *policy
	gate   *gatekeeper
	limits limits
	log    *slog.Logger

	resolver                                   resolver
	dialTimeout, handshakeTimeout, idleTimeout time.Duration

	refusals chan struct{}
	lastID   atomic.Uint64

	stopping context.Context
	stop     context.CancelFunc
}

// New makes a Bridge. Its errors are of type Error, with one of this package's
// kinds.
func New(cfg Config) (*Bridge, error) {
	p, err := newPolicy(cfg.Allow)
	if err != nil {
		return nil, err
	}
	g, err := newGatekeeper(cfg)
	if err != nil {
		return nil, err
	}
	b := &Bridge{
		policy:   p,
		gate:     g,
		limits:   limits{perClient: map[netip.Prefix]int{}},
		log:      cfg.Logger,
		resolver: net.DefaultResolver,
		refusals: make(chan struct{}, maxRefusals),
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	if err := errors.Join(
		setLimit(&b.limits.maxTotal, "MaxConnections", cfg.MaxConnections, DefaultMaxConnections),
		setLimit(&b.limits.maxPerClient, "MaxPerClient", cfg.MaxPerClient, DefaultMaxPerClient),
		setLimit(&b.dialTimeout, "DialTimeout", cfg.DialTimeout, DefaultDialTimeout),
		setLimit(&b.handshakeTimeout, "HandshakeTimeout", cfg.HandshakeTimeout, DefaultHandshakeTimeout),
		setLimit(&b.idleTimeout, "IdleTimeout", cfg.IdleTimeout, DefaultIdleTimeout),
	); err != nil {
		return nil, err
	}
	b.stopping, b.stop = context.WithCancel(context.Background())
	return b, nil
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

// ServeHTTP serves one client, until its connection has ended.
func (b *Bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	log := b.log.With("id", b.lastID.Add(1), "client", r.RemoteAddr)
	if err := b.gate.checkHost(r); err != nil {
		b.refuse(w, r, log, err, false)
		return
	}
	if err := checkUpgrade(r); err != nil {
		b.refuse(w, r, log, err, false)
		return
	}
	browser, err := b.gate.checkOrigin(r)
	if err != nil {
		b.refuse(w, r, log, err, false)
		return
	}
	client := clientKey(r.RemoteAddr)
	if err := b.limits.acquire(client); err != nil {
		b.refuse(w, r, log, err, browser)
		return
	}
	defer b.limits.release(client)
	to, target, err := b.connect(r)
	if err != nil {
		b.refuse(w, r, log, err, browser)
		return
	}
	b.carry(w, r, log.With("target", to.String()), target)
}

// connect finds and dials the target of a request.
func (b *Bridge) connect(r *http.Request) (endpoint, *net.TCPConn, error) {
	route, ok := parseRoute(r.URL.Path)
	if !ok {
		return endpoint{}, nil, refusedRoute
	}
	to, err := b.policy.target(route)
	if err != nil {
		return endpoint{}, nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), b.dialTimeout)
	defer cancel()
	defer context.AfterFunc(b.stopping, cancel)()
	addrs, err := b.policy.addresses(ctx, b.resolver, to)
	if err == nil {
		var target *net.TCPConn
		if target, err = dial(ctx, addrs); err == nil {
			return to, target, nil
		}
	}
	if b.stopping.Err() != nil {
		err = refusedShuttingDown
	}
	return endpoint{}, nil, err
}

// carry upgrades the request and joins the two connections.
func (b *Bridge) carry(w http.ResponseWriter, r *http.Request, log *slog.Logger, target *net.TCPConn) {
	ws, err := accept(w, r)
	if err != nil {
		_ = target.Close()
		log.Warn("upgrade failed", "err", err)
		return
	}
	start := time.Now()
	log.Info("connected")
	p := newPipe(ws, target, b.handshakeTimeout, b.idleTimeout)
	end := p.run(b.stopping.Done())
	log.Info("ended", "code", int(end.code), "reason", end.reason, "seconds", time.Since(start).Seconds(),
		"bytesFromClient", p.fromClient.Load(), "bytesFromNode", p.fromTarget.Load())
}

// refuse tells the client why it is not served, in the form it can read.
func (b *Bridge) refuse(w http.ResponseWriter, r *http.Request, log *slog.Logger, err error, browser bool) {
	var why *refusal
	if !errors.As(err, &why) {
		// The request is over already: nobody is there to be told.
		log.Info("abandoned", "err", err)
		return
	}
	log.Warn("refused", "status", why.status, "reason", why.reason)
	if browser {
		select {
		case b.refusals <- struct{}{}:
			defer func() { <-b.refusals }()
			ws, err := accept(w, r)
			if err != nil {
				log.Warn("upgrade failed", "err", err)
				return
			}
			// A client that does not answer the close is dropped all the same.
			_ = ws.Close(why.closeCode(), why.reason)
			return
		default:
		}
	}
	if err := why.write(w); err != nil {
		log.Warn("refusal not delivered", "err", err)
	}
}

// Shutdown refuses new connections, ends the open ones with close code 1001 and
// waits until all are gone, or until ctx ends, whose error it then returns.
func (b *Bridge) Shutdown(ctx context.Context) error {
	b.limits.close()
	b.stop()
	done := make(chan struct{})
	go func() {
		b.limits.active.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
