package bridge

import (
	"net/netip"
	"sync"
)

// limits counts the connections, each from before its dial until all of its
// goroutines are gone.
type limits struct {
	maxTotal     int
	maxPerClient int

	mu        sync.Mutex
	closed    bool
	total     int
	perClient map[netip.Prefix]int
	active    sync.WaitGroup
}

// acquire takes a place for a client, or refuses. The caller must release it.
func (l *limits) acquire(client netip.Prefix) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.closed:
		return refusedShuttingDown
	case l.total >= l.maxTotal:
		return refusedFull
	case l.perClient[client] >= l.maxPerClient:
		return refusedClientLimit
	}
	l.total++
	l.perClient[client]++
	l.active.Add(1)
	return nil
}

func (l *limits) release(client netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total--
	if l.perClient[client]--; l.perClient[client] == 0 {
		delete(l.perClient, client)
	}
	l.active.Done()
}

// close refuses all that comes from now on.
func (l *limits) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
}
