//go:build !js

package bridge

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// rules are the part of a configuration that Reload changes. They are replaced
// as a whole.
type rules struct {
	policy *policy
	gate   *gatekeeper
}

func newRules(cfg Config) (*rules, error) {
	p, err := newPolicy(cfg)
	if err != nil {
		return nil, err
	}
	g, err := newGatekeeper(cfg)
	if err != nil {
		return nil, err
	}
	return &rules{p, g}, nil
}

// Bridge is an http.Handler that serves WebSocket clients. It is safe for use
// by several goroutines.
type Bridge struct {
	rules    atomic.Pointer[rules]
	settings settings
	limits   *limits
	throttle throttle
	pipes    pipes
	meter    *meter
	log      *slog.Logger
	resolver resolver

	refusals chan struct{}
	lastID   atomic.Uint64

	stopping context.Context
	stop     context.CancelFunc
}

// New makes a Bridge. Its errors are of type Error, with one of this package's
// kinds, but for those of Config.Registerer and of the operating system.
func New(cfg Config) (*Bridge, error) {
	r, err := newRules(cfg)
	if err != nil {
		return nil, err
	}
	s, err := newSettings(cfg)
	if err != nil {
		return nil, err
	}
	b := &Bridge{
		settings: s,
		limits:   newLimits(s.caps),
		throttle: throttle{all: newLimiter(s.totalBytesPerSecond)},
		log:      cfg.Logger,
		resolver: net.DefaultResolver,
		refusals: make(chan struct{}, maxRefusals),
	}
	if b.meter, err = newMeter(cfg.Registerer, b.limits); err != nil {
		return nil, err
	}
	b.rules.Store(r)
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	b.stopping, b.stop = context.WithCancel(context.Background())
	return b, nil
}

// Reload replaces the rules by those of another configuration: its targets,
// routes, origins, tokens, public hosts and proxies. Its limits and the rest
// are ignored. Connections that are open stay. When it returns an error, which
// is of type Error, the old rules stay.
func (b *Bridge) Reload(cfg Config) error {
	r, err := newRules(cfg)
	if err != nil {
		return err
	}
	b.rules.Store(r)
	return nil
}

// Capacity returns how many connections there may be: Config.MaxConnections, or
// fewer if the process may not open enough files.
func (b *Bridge) Capacity() int { return b.limits.caps.total }

// Ready tells whether the bridge would take another connection.
func (b *Bridge) Ready() bool {
	_, _, open := b.limits.state()
	return open
}

// ServeHTTP serves one client. When it returns, the client has been refused, or
// its connection has been taken over and goes on: Shutdown ends it.
func (b *Bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rules := b.rules.Load()
	a := &attempt{bridge: b, w: w, r: r, log: b.log.With("id", b.lastID.Add(1))}
	addr, err := rules.admit(a)
	if err != nil {
		a.refuse(err)
		return
	}
	a.log = a.log.With("client", addr.String())
	place, err := b.limits.enter(clientKey(addr))
	if err != nil {
		a.refuse(err)
		return
	}
	to, target, err := b.connect(r, rules.policy, place)
	if err == nil {
		a.log = a.log.With("target", to.String())
		err = a.carry(target, place)
	}
	if err != nil {
		place.leave()
		a.refuse(err)
	}
}

// admit decides from a request's headers whether it is served, and returns the
// address of its client.
func (rules *rules) admit(a *attempt) (addr netip.Addr, err error) {
	if err = rules.gate.checkHost(a.r); err != nil {
		return addr, err
	}
	if err = checkUpgrade(a.r); err != nil {
		return addr, err
	}
	if a.browser, err = rules.gate.checkClient(a.r); err != nil {
		return addr, err
	}
	return rules.gate.proxies.client(a.r)
}

// connect finds and dials the target of a request.
func (b *Bridge) connect(r *http.Request, p *policy, place *place) (endpoint, *net.TCPConn, error) {
	route, ok := parseRoute(r.URL.Path)
	if !ok {
		return endpoint{}, nil, refusedRoute
	}
	to, err := p.target(route)
	if err != nil {
		return endpoint{}, nil, err
	}
	if err := place.aim(to); err != nil {
		return endpoint{}, nil, err
	}
	defer place.landed()
	ctx, cancel := context.WithTimeout(r.Context(), b.settings.dialTimeout)
	defer cancel()
	defer context.AfterFunc(b.stopping, cancel)()
	start := time.Now()
	target, err := p.dial(ctx, b.resolver, to)
	if err == nil {
		b.meter.dialSeconds.Observe(time.Since(start).Seconds())
		return to, target, nil
	}
	if b.stopping.Err() != nil {
		err = refusedShuttingDown
	}
	return endpoint{}, nil, err
}

// attempt is one request.
type attempt struct {
	bridge  *Bridge
	w       http.ResponseWriter
	r       *http.Request
	log     *slog.Logger
	browser bool // it comes from a page whose Origin is accepted
}

// carry upgrades the request and joins the two connections. Without an error,
// the place is left when they have ended.
func (a *attempt) carry(target *net.TCPConn, place *place) error {
	b := a.bridge
	lazy, err := newLazyReader(target)
	if err != nil {
		return closeAfter(target, err)
	}
	ws, err := accept(a.w, a.r)
	if err != nil {
		return closeAfter(target, err)
	}
	p := &pipe{
		ws: ws, target: target, lazy: lazy, meter: b.meter,
		throttle:   throttle{own: newLimiter(b.settings.bytesPerSecond), all: b.throttle.all},
		watch:      watch{timeouts: &b.settings.timeouts},
		maxMessage: b.settings.maxMessage,
	}
	log := a.log
	log.Info("connected")
	b.meter.accepted.Inc()
	p.onEnd = func(end ending) {
		b.meter.end(end)
		log.Info("ended", "code", int(end.code), "reason", end.reason,
			"seconds", float64(ws.carrier.clock.now())/float64(time.Second),
			"bytesFromClient", p.fromClient.Load(), "bytesFromNode", p.fromTarget.Load())
		b.pipes.remove(p)
		place.leave()
	}
	p.start()
	b.pipes.add(p)
	return nil
}

// refuse tells the client why it is not served, in the form it can read.
func (a *attempt) refuse(err error) {
	b := a.bridge
	var why *refusal
	if !errors.As(err, &why) {
		// The request is over already: nobody is there to be told.
		a.log.Info("abandoned", "err", err)
		return
	}
	b.meter.refuse(why)
	a.log.Warn("refused", "status", why.status, "reason", why.reason)
	if a.browser {
		select {
		case b.refusals <- struct{}{}:
			defer func() { <-b.refusals }()
			if err := turnAway(a.w, a.r, why); err != nil {
				a.log.Warn("refusal not delivered", "err", err)
			}
			return
		default:
		}
	}
	if err := why.write(a.w); err != nil {
		a.log.Warn("refusal not delivered", "err", err)
	}
}

// Shutdown refuses new connections, ends the open ones with close code 1001 and
// waits until all are gone. When ctx ends before that, what is left is cut off,
// and the error of ctx is returned.
func (b *Bridge) Shutdown(ctx context.Context) error {
	b.limits.close()
	b.stop()
	b.pipes.endAll()
	done := make(chan struct{})
	go func() {
		b.limits.active.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		b.pipes.killAll()
		<-done
		return ctx.Err()
	}
}
