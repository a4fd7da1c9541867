//go:build !js

package bridge

import (
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"
)

// startServer runs a Server on loopback and makes sure that it ends.
func startServer(t *testing.T, cfg Config, timeout time.Duration) (*Server, string) {
	t.Helper()
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l := listen(t)
	s := newServer(b, l, nil, timeout)
	served := make(chan error, 1)
	go func() { served <- s.Serve() }()
	t.Cleanup(func() {
		if err := s.Shutdown(testContext(t)); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return s, l.Addr().String()
}

// connectRaw opens a TCP connection that the test does not wait for for ever.
func connectRaw(t *testing.T, address string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// TestSilentClients makes sure that a client without a request does not hold a
// connection, be it new or refused before.
func TestSilentClients(t *testing.T) {
	_, address := startServer(t, Config{Allow: []string{"node.example:9735"}}, 20*time.Millisecond)
	for name, sends := range map[string]string{
		"nothing":            "",
		"half a request":     "GET / HTTP/1.1\r\nHost: ",
		"a refused request":  "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"a body that stalls": "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn := connectRaw(t, address)
			if _, err := io.WriteString(conn, sends); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); err != nil {
				t.Errorf("the connection stays open: %v", err)
			}
		})
	}
}

// TestPendingOfOneClient makes sure that one address cannot take all the places
// for requests that do not come.
func TestPendingOfOneClient(t *testing.T) {
	s, address := startServer(t, Config{Allow: []string{"node.example:9735"}}, testTimeout)
	silent := make([]net.Conn, maxPendingPerClient)
	for i := range silent {
		silent[i] = connectRaw(t, address)
	}
	one := connectRaw(t, address)
	answer, err := io.ReadAll(one)
	if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 429 ") || !strings.HasSuffix(string(answer), `"}`) {
		t.Errorf("one too many got %q and %v", answer, err)
	}
	// Another address is served.
	other := dialFrom(t, "127.0.0.2", address)
	if _, err := io.WriteString(other, "GET / HTTP/1.1\r\nHost: "+address+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(other); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 426 ") {
		t.Errorf("another client got %q and %v", answer, err)
	}
	for _, conn := range silent {
		_ = conn.Close()
	}
	s.expectNothingPending(t)
}

// TestPendingOfAll fills all places and makes sure that an honest client still
// gets one.
func TestPendingOfAll(t *testing.T) {
	s, address := startServer(t, Config{Allow: []string{"node.example:9735"}}, testTimeout)
	for i := range maxPending + 10 {
		dialFrom(t, "127.0.1."+string(rune('0'+i%10)), address)
	}
	honest := dialFrom(t, "127.0.2.1", address)
	if _, err := io.WriteString(honest, "GET / HTTP/1.1\r\nHost: "+address+"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(honest); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 426 ") {
		t.Errorf("the honest client got %q and %v", answer, err)
	}
	s.inner.mu.Lock()
	defer s.inner.mu.Unlock()
	if s.inner.pending > maxPending {
		t.Errorf("%d connections are pending", s.inner.pending)
	}
}

func dialFrom(t *testing.T, from, address string) net.Conn {
	t.Helper()
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.DialContext(testContext(t), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// expectNothingPending waits until no connection counts as pending.
func (s *Server) expectNothingPending(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(testTimeout); ; runtime.Gosched() {
		s.inner.mu.Lock()
		pending, clients, waiting := s.inner.pending, len(s.inner.perClient), s.inner.waiting.Len()
		s.inner.mu.Unlock()
		if pending == 0 && clients == 0 && waiting == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d connections of %d clients are pending, %d of them without a request", pending, clients, waiting)
		}
	}
}
