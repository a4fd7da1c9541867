//go:build !js

package bridge

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// maxReasonSize is the most bytes that a close frame has for its reason: a
// control frame carries 125, and two of them are the code (RFC 6455, 5.5).
const maxReasonSize = 123

// testTimeout ends a test that would hang; no test waits for it to pass.
const testTimeout = 20 * time.Second

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// newRand returns a generator whose seed stands in the log of a failed test.
func newRand(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// listen opens a target on loopback.
func listen(t *testing.T) *net.TCPListener {
	t.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// closedPort returns a loopback address at which nothing listens.
func closedPort(t *testing.T) string {
	l := listen(t)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

type testBridge struct {
	*Bridge
	url    string // "ws://127.0.0.1:PORT"
	client *http.Client
}

// serve runs a bridge on loopback and makes sure that it ends.
func serve(t *testing.T, cfg Config) *testBridge {
	t.Helper()
	return serveWith(t, cfg, (*httptest.Server).Start)
}

func serveWith(t *testing.T, cfg Config, start func(*httptest.Server)) *testBridge {
	t.Helper()
	b, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	// A test's target need not end its side, and a stalled client never answers.
	b.settings.timeouts.answer, b.settings.timeouts.linger = time.Second, time.Second
	server := httptest.NewUnstartedServer(b)
	start(server)
	t.Cleanup(func() {
		if err := b.Shutdown(testContext(t)); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		server.Close()
	})
	return &testBridge{b, "ws" + strings.TrimPrefix(server.URL, "http"), server.Client()}
}

// dial opens a path of the bridge, as a browser if origin is not empty.
func (b *testBridge) dial(t *testing.T, path, origin string) (*websocket.Conn, *http.Response, error) {
	t.Helper()
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	ws, resp, err := websocket.Dial(testContext(t), b.url+path, &websocket.DialOptions{HTTPHeader: header, HTTPClient: b.client})
	if err == nil {
		ws.SetReadLimit(-1)
		t.Cleanup(func() { _ = ws.CloseNow() })
	}
	return ws, resp, err
}

// pair is a client and a target that the bridge has joined.
type pair struct {
	bridge *testBridge
	ws     *websocket.Conn
	target *net.TCPConn
	broken bool // the target's connection is closed on its own side
}

// join connects a client to a target through a new bridge.
func join(t *testing.T, cfg Config) *pair {
	t.Helper()
	return joinWith(t, cfg, (*httptest.Server).Start)
}

func joinWith(t *testing.T, cfg Config, start func(*httptest.Server)) *pair {
	t.Helper()
	l := listen(t)
	cfg.Allow = append(cfg.Allow, l.Addr().String())
	b := serveWith(t, cfg, start)
	ws, _, err := b.dial(t, "/"+l.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	target, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	if err := target.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	return &pair{bridge: b, ws: ws, target: target}
}

// open does the part of the handshake that the gate watches.
func (p *pair) open(t *testing.T) {
	t.Helper()
	p.send(t, anAct)
	p.expectAtTarget(t, anAct)
	if _, err := p.target.Write(anAct); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, len(anAct))
	if _, err := io.ReadFull(&clientStream{ws: p.ws}, got); err != nil {
		t.Fatalf("client reads act two: %v", err)
	}
	if string(got) != string(anAct) {
		t.Fatalf("client got %x", got)
	}
}

func (p *pair) send(t *testing.T, b []byte) {
	t.Helper()
	if err := p.ws.Write(testContext(t), websocket.MessageBinary, b); err != nil {
		t.Fatal(err)
	}
}

func (p *pair) expectAtTarget(t *testing.T, want []byte) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := io.ReadFull(p.target, got); err != nil {
		t.Fatalf("target got %d bytes, then %v", n, err)
	}
	if string(got) != string(want) {
		t.Fatalf("target got %x, want %x", got, want)
	}
}

// expectTargetEnd makes sure that the target hears nothing more.
func (p *pair) expectTargetEnd(t *testing.T) {
	t.Helper()
	if n, err := io.Copy(io.Discard, p.target); n != 0 || err != nil {
		t.Fatalf("target got %d more bytes and %v", n, err)
	}
}

// expectEnd reads all that is left for the client, compares it, and compares
// the close that follows.
func expectEnd(t *testing.T, ws *websocket.Conn, data []byte, want ending) {
	t.Helper()
	got, err := io.ReadAll(&clientStream{ws: ws})
	if string(got) != string(data) {
		t.Errorf("client got %d bytes, want %d", len(got), len(data))
	}
	expectClose(t, err, want)
}

func expectClose(t *testing.T, err error, want ending) {
	t.Helper()
	var ce websocket.CloseError
	if !errors.As(err, &ce) {
		t.Fatalf("got error %v, want close code %d", err, want.code)
	}
	if ce.Code != want.code || ce.Reason != want.reason {
		t.Errorf("got close %d %q, want %d %q", ce.Code, ce.Reason, want.code, want.reason)
	}
}
