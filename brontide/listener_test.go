//go:build !(js && wasm)

package brontide

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
)

// listen returns a listener on loopback whose handshake errors go to the
// channel.
func listen(t testing.TB, bounds limits, options ...func(*Listener)) (*Listener, *PrivKeyECDH, chan error) {
	t.Helper()
	key := newKey(t)
	failures := make(chan error, 1000)
	options = append(options, OnHandshakeError(func(_ net.Addr, err error) { failures <- err }))
	inner := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	l := must[*Listener](t)(wrapListener(key, inner, bounds, options...))
	t.Cleanup(func() { l.Close() })
	return l, key, failures
}

var wide = limits{total: 1000, perIP: 1000, unaccepted: 1000, timeout: testTimeout}

func (l *Listener) address(key *PrivKeyECDH) *NetAddress {
	return &NetAddress{IdentityKey: key.PubKey(), Address: l.Addr().String()}
}

// dialFrom dials with the given loopback address as the source.
func dialFrom(source string) DialFunc {
	return func(network, address string, timeout time.Duration) (net.Conn, error) {
		d := net.Dialer{Timeout: timeout, LocalAddr: &net.TCPAddr{IP: net.ParseIP(source)}}
		return d.Dial(network, address)
	}
}

func wait(t testing.TB, failures chan error, want error) {
	t.Helper()
	select {
	case err := <-failures:
		if !errors.Is(err, want) {
			t.Fatalf("got %v, want %v", err, want)
		}
	case <-time.After(testTimeout):
		t.Fatalf("no %v", want)
	}
}

func TestDialAndAccept(t *testing.T) {
	key := newKey(t)
	l := must[*Listener](t)(NewListener(key, "127.0.0.1:0"))
	defer l.Close()
	local := newKey(t)
	client := must[*Conn](t)(Dial(local, l.address(key), testTimeout, nil))
	defer client.Close()
	accepted := must[net.Conn](t)(l.Accept())
	defer accepted.Close()
	server := accepted.(*Conn)
	if !server.RemotePub().IsEqual(local.PubKey()) {
		t.Fatal("the listener has the wrong peer")
	}
	must[int](t)(client.Write([]byte("hello")))
	requireBytes(t, "message", must[[]byte](t)(server.ReadNextMessage()), []byte("hello"))
}

func TestDialErrors(t *testing.T) {
	l, _, failures := listen(t, wide)
	local := newKey(t)
	_, err := Dial(local, l.address(newKey(t)), testTimeout, nil)
	requireKind(t, "wrong key", err, ErrNotAnswered)
	wait(t, failures, ErrMAC)
	_, err = Dial(local, nil, testTimeout, nil)
	requireKind(t, "no address", err, ErrArgument)
	_, err = Dial(local, &NetAddress{Address: l.Addr().String()}, testTimeout, nil)
	requireKind(t, "no key", err, ErrArgument)
	requireNil(t, l.Close())
	if _, err = Dial(local, l.address(local), testTimeout, nil); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Fatalf("nobody listens: %v", err)
	}
}

func TestListenerArguments(t *testing.T) {
	_, err := NewListener(nil, "127.0.0.1:0")
	requireKind(t, "no key", err, ErrArgument)
	if _, err := NewListener(newKey(t), "no such address"); err == nil {
		t.Fatal("a bad address passed")
	}
	_, err = WrapListener(newKey(t), nil)
	requireKind(t, "no listener", err, ErrArgument)

	// Functions that are nil are as good as none.
	key := newKey(t)
	l := must[*Listener](t)(NewListener(key, "127.0.0.1:0", AcceptPeer(nil), OnHandshakeError(nil)))
	defer l.Close()
	_, err = Dial(key, l.address(newKey(t)), testTimeout, nil)
	requireKind(t, "wrong key", err, ErrNotAnswered)
	must[*Conn](t)(Dial(key, l.address(key), testTimeout, nil)).Close()
}

// TestListenerStalling has many clients from many addresses stall, in act one
// and in act three. An honest client comes through all the same.
func TestListenerStalling(t *testing.T) {
	bounds := limits{total: 100, perIP: 4, unaccepted: 10, timeout: testTimeout}
	l, key, failures := listen(t, bounds)
	const stalling = 200
	for i := range stalling {
		source := fmt.Sprintf("127.0.%d.%d", 1+i/50, 1+i%50)
		conn := must[net.Conn](t)(dialFrom(source)("tcp", l.Addr().String(), testTimeout))
		defer conn.Close()
		if i%2 == 0 {
			must[int](t)(conn.Write(make([]byte, ActOneSize-1)))
			continue
		}
		m := must[*Machine](t)(NewBrontideMachine(true, newKey(t), key.PubKey()))
		one := must[[ActOneSize]byte](t)(m.GenActOne())
		must[int](t)(conn.Write(one[:]))
	}
	for range stalling - bounds.total {
		wait(t, failures, ErrEvicted)
	}
	client := must[*Conn](t)(Dial(newKey(t), l.address(key), testTimeout, nil))
	defer client.Close()
	must[net.Conn](t)(l.Accept()).Close()
}

// slowListener accepts connections whose Close waits.
type slowListener struct {
	net.Listener
	release chan struct{}
}

type slowConn struct {
	net.Conn
	release chan struct{}
}

func (l *slowListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &slowConn{conn, l.release}, nil
}

func (c *slowConn) Close() error {
	<-c.release
	return c.Conn.Close()
}

// TestListenerSlowClose has every closing take its time, that of a handshake that
// gives way, of a connection that is one too many, and of one that nobody takes.
func TestListenerSlowClose(t *testing.T) {
	key := newKey(t)
	inner := &slowListener{must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0")), make(chan struct{})}
	failures := make(chan error, 10)
	l := must[*Listener](t)(wrapListener(key, inner, limits{total: 1, perIP: 1, unaccepted: 1, timeout: testTimeout},
		OnHandshakeError(func(_ net.Addr, err error) { failures <- err })))
	stalled := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
	defer stalled.Close()
	for range 3 {
		client := must[*Conn](t)(Dial(newKey(t), l.address(key), testTimeout, nil))
		defer client.Close()
	}
	must[net.Conn](t)(l.Accept())
	closed := make(chan error)
	go func() { closed <- l.Close() }()
	close(inner.release)
	requireNil(t, <-closed)
}

// TestListenerPerIP checks that one address takes room only from itself.
func TestListenerPerIP(t *testing.T) {
	l, _, failures := listen(t, limits{total: 100, perIP: 2, unaccepted: 10, timeout: testTimeout})
	other := must[net.Conn](t)(dialFrom("127.0.0.2")("tcp", l.Addr().String(), testTimeout))
	defer other.Close()
	var conns []net.Conn
	for range 3 {
		conn := must[net.Conn](t)(dialFrom("127.0.0.3")("tcp", l.Addr().String(), testTimeout))
		defer conn.Close()
		conns = append(conns, conn)
	}
	wait(t, failures, ErrEvicted)
	// The oldest of the three was closed.
	requireNil(t, conns[0].SetReadDeadline(time.Now().Add(testTimeout)))
	if _, err := conns[0].Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("the oldest is still open: %v", err)
	}
	if len(failures) != 0 {
		t.Fatal("more than one gave way")
	}
}

// TestListenerBounds sets each bound with the option, and has it met.
func TestListenerBounds(t *testing.T) {
	for _, test := range []struct {
		name   string
		option func(*Listener)
		want   error
	}{
		{"total", HandshakeBounds(1, 0, 0), ErrEvicted},
		{"per IP", HandshakeBounds(0, 1, 0), ErrEvicted},
		{"timeout", HandshakeBounds(0, -1, time.Millisecond), os.ErrDeadlineExceeded},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, _, failures := listen(t, wide, test.option)
			for range 2 {
				conn := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
				defer conn.Close()
			}
			wait(t, failures, test.want)
		})
	}
}

func TestListenerDeadline(t *testing.T) {
	bounds := wide
	bounds.timeout = 10 * time.Millisecond
	l, _, failures := listen(t, bounds)
	conn := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
	defer conn.Close()
	wait(t, failures, os.ErrDeadlineExceeded)
}

// pipeListener accepts one connection, whose writes wait for the other end.
type pipeListener struct {
	net.Listener
	conns chan net.Conn
}

func (l *pipeListener) Accept() (net.Conn, error) {
	conn, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l *pipeListener) Close() error {
	close(l.conns)
	return nil
}

// TestListenerWriteDeadline has a client send act one and take no byte of act
// two.
func TestListenerWriteDeadline(t *testing.T) {
	bounds := wide
	bounds.timeout = 10 * time.Millisecond
	key := newKey(t)
	near, far := net.Pipe()
	defer far.Close()
	inner := &pipeListener{conns: make(chan net.Conn, 1)}
	inner.conns <- near
	failures := make(chan error, 1)
	l := must[*Listener](t)(wrapListener(key, inner, bounds, OnHandshakeError(func(_ net.Addr, err error) { failures <- err })))
	defer l.Close()
	m := must[*Machine](t)(NewBrontideMachine(true, newKey(t), key.PubKey()))
	one := must[[ActOneSize]byte](t)(m.GenActOne())
	must[int](t)(far.Write(one[:]))
	wait(t, failures, os.ErrDeadlineExceeded)
}

// TestListenerBacklog checks that slots are free though nobody accepts, and that
// what waits for Accept is bounded.
func TestListenerBacklog(t *testing.T) {
	l, key, failures := listen(t, limits{total: 1, perIP: 1, unaccepted: 3, timeout: testTimeout})
	for range 4 {
		client := must[*Conn](t)(Dial(newKey(t), l.address(key), testTimeout, nil))
		defer client.Close()
		// Established on the other side too, or closed by it.
		if l.slotsInUse() > 1 {
			t.Fatal("too many slots")
		}
		for len(l.ready) < cap(l.ready) && l.slotsInUse() > 0 {
			runtime.Gosched()
		}
	}
	wait(t, failures, ErrBacklogFull)
	for range 3 {
		must[net.Conn](t)(l.Accept()).Close()
	}
}

func (l *Listener) slotsInUse() int {
	l.slots.mu.Lock()
	defer l.slots.mu.Unlock()
	return l.slots.open.Len()
}

func TestListenerAcceptPeer(t *testing.T) {
	welcome := newKey(t)
	l, key, failures := listen(t, wide, AcceptPeer(func(remote *btcec.PublicKey, addr net.Addr) bool {
		return remote.IsEqual(welcome.PubKey()) && addr != nil
	}))
	stranger := must[*Conn](t)(Dial(newKey(t), l.address(key), testTimeout, nil))
	defer stranger.Close()
	wait(t, failures, ErrPeerRejected)
	if _, err := stranger.Read(make([]byte, 1)); err != io.EOF {
		t.Fatalf("the stranger's connection: %v", err)
	}
	friend := must[*Conn](t)(Dial(welcome, l.address(key), testTimeout, nil))
	defer friend.Close()
	must[net.Conn](t)(l.Accept()).Close()
}

// TestListenerCloseLeavesNothing closes a listener with handshakes under way,
// connections nobody accepted, and an Accept that waits.
func TestListenerCloseLeavesNothing(t *testing.T) {
	before, descriptorsBefore := runtime.NumGoroutine(), descriptors(t)
	l, key, failures := listen(t, wide)
	stalled := must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
	defer stalled.Close()
	waiting := must[*Conn](t)(Dial(newKey(t), l.address(key), testTimeout, nil))
	defer waiting.Close()
	for len(l.ready) == 0 || l.slotsInUse() == 0 {
		runtime.Gosched()
	}
	requireNil(t, l.Close())
	wait(t, failures, net.ErrClosed)
	for _, conn := range []net.Conn{stalled, waiting} {
		requireNil(t, conn.SetReadDeadline(time.Now().Add(testTimeout)))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a connection outlives the listener: %v", err)
		}
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("Accept after Close: %v", err)
	}
	requireNil(t, l.Close())
	// A goroutine is counted until a moment after its last statement.
	for start := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Since(start) > testTimeout {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
	stalled.Close()
	waiting.Close()
	if after := descriptors(t); after > descriptorsBefore {
		t.Fatalf("%d descriptors, %d before", after, descriptorsBefore)
	}
}

// descriptors counts what the process has open, where the system tells.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	requireNil(t, err)
	return len(entries)
}

// TestListenerCloseFromHooks closes a listener from the functions that it calls.
func TestListenerCloseFromHooks(t *testing.T) {
	for _, name := range []string{"AcceptPeer", "OnHandshakeError"} {
		var l *Listener
		closed := make(chan error, 1)
		key := newKey(t)
		inner := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
		option := AcceptPeer(func(*btcec.PublicKey, net.Addr) bool {
			closed <- l.Close()
			return true
		})
		remote := key
		if name == "OnHandshakeError" {
			remote = newKey(t) // so that act one fails
			option = OnHandshakeError(func(net.Addr, error) { closed <- l.Close() })
		}
		l = must[*Listener](t)(wrapListener(key, inner, wide, option))
		conn, err := Dial(newKey(t), l.address(remote), testTimeout, nil)
		if err == nil {
			// Nobody accepts it, so it ends.
			if _, err := conn.Read(make([]byte, 1)); err == nil {
				t.Fatalf("%s: the connection is open", name)
			}
			conn.Close()
		}
		select {
		case err := <-closed:
			requireNil(t, err)
		case <-time.After(testTimeout):
			t.Fatalf("%s: Close hangs", name)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("%s: Accept after Close: %v", name, err)
		}
	}
}

func TestListenerCloseEndsAccept(t *testing.T) {
	l, _, _ := listen(t, wide)
	accepted := make(chan error)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	requireNil(t, l.Close())
	if err := <-accepted; !errors.Is(err, net.ErrClosed) {
		t.Fatalf("Accept: %v", err)
	}
}

// flakyListener fails with each of its errors before it accepts.
type flakyListener struct {
	net.Listener
	errs []error
}

func (l *flakyListener) Accept() (net.Conn, error) {
	if len(l.errs) > 0 {
		err := l.errs[0]
		l.errs = l.errs[1:]
		return nil, err
	}
	return l.Listener.Accept()
}

func TestListenerSurvivesShortage(t *testing.T) {
	key := newKey(t)
	inner := &flakyListener{must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0")), []error{syscall.EMFILE, syscall.ECONNABORTED}}
	l := must[*Listener](t)(WrapListener(key, inner))
	defer l.Close()
	client := must[*Conn](t)(Dial(newKey(t), l.address(key), testTimeout, nil))
	defer client.Close()
	must[net.Conn](t)(l.Accept()).Close()
}

func TestListenerReportsFailure(t *testing.T) {
	inner := &flakyListener{must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0")), []error{errHardware}}
	l := must[*Listener](t)(WrapListener(newKey(t), inner))
	defer l.Close()
	if _, err := l.Accept(); !errors.Is(err, errHardware) {
		t.Fatalf("Accept: %v", err)
	}
}

func TestOrigin(t *testing.T) {
	same := func(a, b string) bool {
		return originOf(&net.TCPAddr{IP: net.ParseIP(a)}) == originOf(&net.TCPAddr{IP: net.ParseIP(b)})
	}
	if !same("10.0.0.1", "::ffff:10.0.0.1") || same("10.0.0.1", "10.0.0.2") {
		t.Fatal("IPv4")
	}
	if !same("2001:db8::1", "2001:db8::ffff") || same("2001:db8::1", "2001:db8:0:1::1") {
		t.Fatal("IPv6")
	}
	if originOf(&net.UnixAddr{}) != originOf(&net.TCPAddr{}) {
		t.Fatal("addresses without IP are not one origin")
	}
}
