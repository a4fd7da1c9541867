//go:build !js

package bridge

import (
	"net/netip"
	"sync"
)

// caps are how many connections there may be.
type caps struct {
	total, perClient, perTarget int
	dials, dialsPerClient       int
}

// limits counts the connections, each from before its dial until all of its
// goroutines are gone.
type limits struct {
	caps

	mu             sync.Mutex
	closed         bool
	total          int
	perClient      map[netip.Prefix]int
	perTarget      map[endpoint]int
	dials          int
	dialsPerClient map[netip.Prefix]int
	active         sync.WaitGroup
}

func newLimits(c caps) *limits {
	return &limits{
		caps:           c,
		perClient:      map[netip.Prefix]int{},
		perTarget:      map[endpoint]int{},
		dialsPerClient: map[netip.Prefix]int{},
	}
}

// place is what one connection counts as.
type place struct {
	limits *limits
	client netip.Prefix
	target endpoint // the zero endpoint until it is known
}

// enter takes a place for a client, or refuses. The caller must leave it.
func (l *limits) enter(client netip.Prefix) (*place, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return nil, refusedShuttingDown
	case l.total >= l.caps.total:
		return nil, refusedFull
	case l.perClient[client] >= l.caps.perClient:
		return nil, refusedClientLimit
	}
	l.total++
	l.perClient[client]++
	l.active.Add(1)
	return &place{limits: l, client: client}, nil
}

// aim counts the place against its target, and as a dial until landed is called.
func (p *place) aim(target endpoint) error {
	l := p.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.perTarget[target] >= l.caps.perTarget:
		return refusedTargetLimit
	case l.dialsPerClient[p.client] >= l.caps.dialsPerClient:
		return refusedClientDials
	case l.dials >= l.caps.dials:
		return refusedDials
	}
	p.target = target
	l.perTarget[target]++
	l.dials++
	l.dialsPerClient[p.client]++
	return nil
}

// landed ends what aim began: the dial is over.
func (p *place) landed() {
	l := p.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dials--
	decrement(l.dialsPerClient, p.client)
}

// leave gives the place back.
func (p *place) leave() {
	l := p.limits
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	decrement(l.perClient, p.client)
	if p.target != (endpoint{}) {
		decrement(l.perTarget, p.target)
	}
	l.active.Done()
}

// decrement lowers a count that is at least 1.
func decrement[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

// close refuses all that comes from now on.
func (l *limits) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}

// state returns how many connections there are, how many of them are being
// dialled, and whether another would be accepted.
func (l *limits) state() (total, dials int, open bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.total, l.dials, !l.closed && l.total < l.caps.total
}
