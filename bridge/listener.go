//go:build !js

package bridge

import (
	"container/list"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// listener accepts connections for the HTTP server and bounds how many there
// are that have not become a WebSocket, in all and of one client, so that the
// process never runs out of descriptors. When all places are taken, whoever has
// been sending its request for longest loses its own: a client that means it
// needs a moment only.
type listener struct {
	*net.TCPListener
	exempt    func(netip.Addr) bool // clients without a bound: trusted proxies
	lingering chan struct{}

	mu        sync.Mutex
	waiting   list.List // of *admitted whose request has not come, oldest first
	pending   int
	perClient map[netip.Prefix]int
}

func newListener(l *net.TCPListener, exempt func(netip.Addr) bool) *listener {
	return &listener{
		TCPListener: l,
		exempt:      exempt,
		lingering:   make(chan struct{}, maxLingering),
		perClient:   map[netip.Prefix]int{},
	}
}

// admitted is a connection that counts as pending until it is closed, or until
// it is settled: then it counts as the bridge's.
type admitted struct {
	*net.TCPConn
	from    *listener
	client  netip.Prefix
	counted bool          // against its client
	settled atomic.Bool   // counted no more
	place   *list.Element // in waiting, or nil
}

// Close closes the connection and frees its place.
func (c *admitted) Close() error {
	c.settle()
	return c.TCPConn.Close()
}

// settle frees the place of a pending connection.
func (c *admitted) settle() {
	if c.settled.Swap(true) {
		return
	}
	l := c.from
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending--
	l.stopWaiting(c)
	if c.counted {
		if l.perClient[c.client]--; l.perClient[c.client] == 0 {
			delete(l.perClient, c.client)
		}
	}
}

func (l *listener) stopWaiting(c *admitted) {
	if c.place != nil {
		l.waiting.Remove(c.place)
		c.place = nil
	}
}

// Accept returns the next connection that has a place.
func (l *listener) Accept() (net.Conn, error) {
	for {
		conn, err := l.AcceptTCP()
		if err != nil {
			return nil, err
		}
		c, refusal := l.admit(conn)
		if refusal == nil {
			return c, nil
		}
		l.turnAway(conn, refusal)
	}
}

// admit finds a place for a connection.
func (l *listener) admit(conn *net.TCPConn) (*admitted, *refusal) {
	addr := conn.RemoteAddr().(*net.TCPAddr).AddrPort().Addr().Unmap().WithZone("")
	c := &admitted{TCPConn: conn, from: l, client: clientKey(addr), counted: !l.exempt(addr)}
	l.mu.Lock()
	if c.counted && l.perClient[c.client] >= maxPendingPerClient {
		l.mu.Unlock()
		return nil, refusedClientLimit
	}
	var evicted *admitted
	if l.pending >= maxPending {
		oldest := l.waiting.Front()
		if oldest == nil {
			l.mu.Unlock()
			return nil, refusedFull
		}
		evicted = oldest.Value.(*admitted)
	}
	l.pending++
	if c.counted {
		l.perClient[c.client]++
	}
	c.place = l.waiting.PushBack(c)
	l.mu.Unlock()
	if evicted != nil {
		// Its server goroutine finds it closed.
		_ = evicted.Close()
	}
	return c, nil
}

// requestCame is for http.Server.ConnState: a connection whose request has come
// is not closed to make room.
func (l *listener) requestCame(conn net.Conn, state http.ConnState) {
	if c, ok := underTLS(conn).(*admitted); ok && state == http.StateActive {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.stopWaiting(c)
	}
}

// lingerTime bounds how long a connection without a place is kept so that its
// client reads why.
const lingerTime = time.Second

// turnAway answers a connection that has no place, if there are not too many
// such, and closes it. It does not hold up what comes next.
func (l *listener) turnAway(conn *net.TCPConn, why *refusal) {
	select {
	case l.lingering <- struct{}{}:
	default:
		_ = conn.Close()
		return
	}
	go func() {
		defer func() {
			_ = conn.Close()
			<-l.lingering
		}()
		// A client that has sent its request would lose the answer if the
		// connection were closed before that was read.
		if conn.SetDeadline(time.Now().Add(lingerTime)) == nil && why.writeRaw(conn) == nil && conn.CloseWrite() == nil {
			_, _ = io.CopyN(io.Discard, conn, maxHeaderBytes)
		}
	}()
}
