//go:build !(js && wasm)

package brontide

import (
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
)

// Bounds of a Listener. HandshakeBounds sets the first two and the last.
const (
	// MaxHandshakes is how many handshakes a Listener has under way at most.
	// One more makes the oldest give way.
	MaxHandshakes = 1024
	// MaxHandshakesPerIP is the same for one IPv4 address, or one IPv6
	// network of 64 bits. One more makes the oldest from there give way.
	MaxHandshakesPerIP = 32
	// MaxUnaccepted is how many established connections may wait for Accept.
	// One more is closed.
	MaxUnaccepted = 128
	// HandshakeTimeout is how long a handshake may take as a whole.
	HandshakeTimeout = 10 * time.Second
)

// Listener is a net.Listener that does the handshake of the responder with
// whoever connects, and accepts those who come through. Handshakes run beside
// each other and do not wait for Accept.
type Listener struct {
	inner      net.Listener
	local      SingleKeyECDH
	acceptPeer func(*btcec.PublicKey, net.Addr) bool
	onError    func(net.Addr, error)
	limits     limits

	slots *slots
	ready chan *Conn
	// ended is closed when no more connections come, for the reason failure.
	ended   chan struct{}
	failure error

	// mu orders deliveries to ready and Close.
	mu     sync.Mutex
	closed bool
	// busy counts the goroutines of the Listener but for those that are in a
	// function of the caller's; less tells when it falls.
	busy int
	less sync.Cond

	closing  sync.Once
	closeErr error
}

type limits struct {
	total, perIP, unaccepted int
	timeout                  time.Duration
}

// AcceptPeer sets a function that decides, after a handshake, whether the peer
// with this static key and address is welcome. It may be called from several
// goroutines, and may call Close. The default, and what nil stands for, is to
// welcome everyone.
func AcceptPeer(accept func(remote *btcec.PublicKey, addr net.Addr) bool) func(*Listener) {
	return func(l *Listener) {
		if accept != nil {
			l.acceptPeer = accept
		}
	}
}

// OnHandshakeError sets a function that is told of every connection that did not
// come through, and why. Without it those errors are dropped, since a listener
// on the internet sees many. It may be called from several goroutines, and may
// call Close.
func OnHandshakeError(report func(addr net.Addr, err error)) func(*Listener) {
	return func(l *Listener) {
		if report != nil {
			l.onError = report
		}
	}
}

// HandshakeBounds sets how many handshakes may be under way in all and from one
// IPv4 address or IPv6 network of 64 bits, and how long one may take. Behind a
// proxy, where all connections come from one address, perIP is total. A value
// that is not positive leaves the default: MaxHandshakes, MaxHandshakesPerIP,
// HandshakeTimeout.
func HandshakeBounds(total, perIP int, timeout time.Duration) func(*Listener) {
	return func(l *Listener) {
		if total > 0 {
			l.limits.total = total
		}
		if perIP > 0 {
			l.limits.perIP = perIP
		}
		if timeout > 0 {
			l.limits.timeout = timeout
		}
	}
}

// NewListener listens for TCP connections on listenAddr (host:port) with local
// as its static key.
func NewListener(local SingleKeyECDH, listenAddr string, options ...func(*Listener)) (*Listener, error) {
	inner, err := net.Listen("tcp", listenAddr)
	if err != nil {
		return nil, err
	}
	l, err := WrapListener(local, inner, options...)
	if err != nil {
		return nil, errors.Join(err, inner.Close())
	}
	return l, nil
}

// WrapListener accepts connections of inner, which belongs to the Listener from
// then on. The error is ErrArgument for a listener that is missing, and for a
// local key that is missing or not on the curve; inner is then left alone.
func WrapListener(local SingleKeyECDH, inner net.Listener, options ...func(*Listener)) (*Listener, error) {
	return wrapListener(local, inner, limits{
		total:      MaxHandshakes,
		perIP:      MaxHandshakesPerIP,
		unaccepted: MaxUnaccepted,
		timeout:    HandshakeTimeout,
	}, options...)
}

func wrapListener(local SingleKeyECDH, inner net.Listener, limits limits, options ...func(*Listener)) (*Listener, error) {
	if inner == nil {
		return nil, newError(ErrArgument, "the inner listener is missing")
	}
	if local == nil || !validKey(local.PubKey()) {
		return nil, newError(ErrArgument, "the local static key is missing or not on the curve")
	}
	l := &Listener{
		inner:      inner,
		local:      local,
		acceptPeer: func(*btcec.PublicKey, net.Addr) bool { return true },
		onError:    func(net.Addr, error) {},
		limits:     limits,
		ready:      make(chan *Conn, limits.unaccepted),
		ended:      make(chan struct{}),
	}
	for _, option := range options {
		option(l)
	}
	l.less.L = &l.mu
	// Closing may wait for the peer, as that of a TLS connection does.
	l.slots = newSlots(l.limits.total, l.limits.perIP, func(carrier net.Conn) {
		// The handshake reports what it ended with.
		l.start(func() { _ = carrier.Close() })
	})
	l.start(l.run)
	return l, nil
}

// start runs f in a goroutine that Close waits for.
func (l *Listener) start(f func()) {
	l.count(1)
	go func() {
		defer l.count(-1)
		f()
	}()
}

func (l *Listener) count(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy += n
	l.less.Broadcast()
}

// call runs a function of the caller's, which may take its time or call Close:
// meanwhile Close does not wait for this goroutine.
func (l *Listener) call(f func()) {
	l.count(-1)
	defer l.count(1)
	f()
}

// run accepts carriers until the inner listener ends.
func (l *Listener) run() {
	defer close(l.ended)
	var pause time.Duration
	for {
		carrier, err := l.inner.Accept()
		if err == nil {
			pause = 0
			slot := l.slots.take(carrier)
			l.start(func() { l.serve(slot) })
			continue
		}
		if l.isClosed() {
			l.failure = net.ErrClosed
			return
		}
		if !shortOfResources(err) {
			l.failure = err
			return
		}
		// Descriptors come back as connections end.
		pause = min(max(2*pause, 5*time.Millisecond), time.Second)
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-l.slots.shut:
			timer.Stop()
		}
	}
}

// shortOfResources reports whether an error of Accept says nothing about the
// listener itself.
func shortOfResources(err error) bool {
	for _, errno := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED,
	} {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}

// serve does one handshake. The slot is free at its end, accepted or not.
func (l *Listener) serve(slot *slot) {
	addr := slot.carrier.RemoteAddr()
	conn, err := Server(slot.carrier, l.local, l.limits.timeout)
	if err == nil {
		welcome := false
		l.call(func() { welcome = l.acceptPeer(conn.RemotePub(), addr) })
		if !welcome {
			err = errors.Join(newError(ErrPeerRejected, "the peer is not welcome"), conn.Close())
		}
	}
	// A handshake can be evicted in the moment in which it ends well.
	if evicted := l.slots.release(slot); evicted {
		err = errors.Join(newError(ErrEvicted, "the handshake gave way to a newer one"), err)
		if conn != nil {
			err = errors.Join(err, conn.Close())
		}
	}
	if err == nil {
		err = l.deliver(conn)
	}
	if err != nil {
		l.call(func() { l.onError(addr, err) })
	}
}

func (l *Listener) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// deliver hands conn to Accept, or closes it if that cannot be.
func (l *Listener) deliver(conn *Conn) error {
	if err := l.enqueue(conn); err != nil {
		return errors.Join(err, conn.Close())
	}
	return nil
}

func (l *Listener) enqueue(conn *Conn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return net.ErrClosed
	}
	select {
	case l.ready <- conn:
		return nil
	default:
		return newError(ErrBacklogFull, "too many connections wait for Accept")
	}
}

// Accept returns the next connection whose handshake came through; its type is
// *Conn. After Close the error is net.ErrClosed; if the inner listener fails,
// the error is its.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.ready:
		return conn, nil
	case <-l.ended:
	}
	// Those that came through before the end.
	select {
	case conn := <-l.ready:
		return conn, nil
	default:
	}
	return nil, l.failure
}

// Addr returns the address of the inner listener.
func (l *Listener) Addr() net.Addr { return l.inner.Addr() }

// Close ends the listener, the handshakes under way and the connections that
// nobody has accepted. When it returns, nothing of them is left but calls of the
// functions of AcceptPeer and OnHandshakeError that have not returned.
func (l *Listener) Close() error {
	l.closing.Do(func() {
		l.mu.Lock()
		l.closed = true
		l.mu.Unlock()
		l.closeErr = l.inner.Close()
		l.slots.close()
		l.awaitIdle()
		var unaccepted []error
		for range len(l.ready) {
			// Unless Accept was faster.
			select {
			case conn := <-l.ready:
				l.start(func() {
					err := conn.Close()
					l.mu.Lock()
					defer l.mu.Unlock()
					unaccepted = append(unaccepted, err)
				})
			default:
			}
		}
		l.awaitIdle()
		l.closeErr = errors.Join(l.closeErr, errors.Join(unaccepted...))
	})
	return l.closeErr
}

// awaitIdle waits until nothing of the Listener runs but functions of the
// caller's.
func (l *Listener) awaitIdle() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.busy > 0 {
		l.less.Wait()
	}
}
