//go:build !js

package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestNewErrors(t *testing.T) {
	allow := []string{"node.example:9735"}
	for _, tc := range []struct {
		cfg  Config
		kind ErrorKind
	}{
		{Config{}, ErrNothingAllowed},
		{Config{Allow: []string{"x"}}, ErrInvalidAllow},
		{Config{Allow: allow, Origins: []string{"x"}}, ErrInvalidOrigin},
		{Config{Allow: allow, PublicHosts: []string{"/"}}, ErrInvalidPublicHost},
		{Config{Allow: allow, MaxConnections: -1}, ErrInvalidLimit},
		{Config{Allow: allow, MaxPerClient: -1}, ErrInvalidLimit},
		{Config{Allow: allow, DialTimeout: -1}, ErrInvalidLimit},
		{Config{Allow: allow, HandshakeTimeout: -1}, ErrInvalidLimit},
		{Config{Allow: allow, IdleTimeout: -1}, ErrInvalidLimit},
		{Config{Allow: allow, MaxPerTarget: -1}, ErrInvalidLimit},
		{Config{Allow: allow, MaxDials: -1}, ErrInvalidLimit},
		{Config{Allow: allow, MaxDials: math.MaxInt32}, ErrInvalidLimit}, // more files than there can be
		{Config{Allow: allow, MaxMessageBytes: -1}, ErrInvalidLimit},
		{Config{Allow: allow, BytesPerSecond: -1}, ErrInvalidLimit},
		{Config{Allow: allow, TotalBytesPerSecond: -1}, ErrInvalidLimit},
		{Config{Allow: allow, MaxLifetime: -1}, ErrInvalidLimit},
		{Config{Allow: allow, PingInterval: -1}, ErrInvalidLimit},
		{Config{Allow: allow, Deny: []string{"10.0.0.1"}}, ErrInvalidDeny},
		{Config{Allow: allow, Routes: []string{"v2"}}, ErrInvalidRoute},
		{Config{Allow: allow, PublicPorts: []int{9735}}, ErrInvalidPort},
		{Config{AllowPublic: true, PublicPorts: []int{0}}, ErrInvalidPort},
		{Config{AllowPublic: true, PublicPorts: []int{65536}}, ErrInvalidPort},
		{Config{Allow: allow, OnionProxy: "x"}, ErrInvalidProxy},
		{Config{Allow: allow, TrustedProxies: []string{"x"}}, ErrInvalidProxy},
		{Config{Allow: allow, Tokens: []string{"x"}}, ErrInvalidToken},
	} {
		_, err := New(tc.cfg)
		var e Error
		if !errors.Is(err, tc.kind) || !errors.As(err, &e) || err.Error() == "" {
			t.Errorf("got %v, want %v", err, tc.kind)
		}
		if tc.kind.Error() != string(tc.kind) {
			t.Errorf("kind %v names itself %s", tc.kind, tc.kind.Error())
		}
	}
}

// privateResolver knows one name, and it leads into a private network.
var privateResolver = fakeResolver{"inside.example": {netip.MustParseAddr("10.0.0.1")}}

// TestRefusals reaches every refusal that follows an accepted origin, as a
// program, which must read a status, and as a page, which must read a close code.
func TestRefusals(t *testing.T) {
	nothing := closedPort(t)
	here := listen(t).Addr().String()
	hold := func(t *testing.T, b *testBridge) {
		if _, _, err := b.dial(t, "/"+here, ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		want    *refusal
		path    string
		cfg     Config
		prepare func(*testing.T, *testBridge)
	}{
		{want: refusedRoute, path: "/a/b/c/d"},
		{want: refusedTarget, path: "/8.8.8.8:9735"},
		{want: refusedTarget, path: "/node/" + nodeB},
		{want: refusedAddress, path: "/inside.example"},
		{want: refusedUnresolved, path: "/nowhere.example"},
		{want: refusedUnreachable, path: "/" + nothing},
		{want: refusedDialTimeout, path: "/" + here, cfg: Config{DialTimeout: time.Nanosecond}},
		{want: refusedFull, path: "/" + here, cfg: Config{MaxConnections: 1}, prepare: hold},
		{want: refusedClientLimit, path: "/" + here, cfg: Config{MaxPerClient: 1}, prepare: hold},
		{want: refusedTargetLimit, path: "/" + here, cfg: Config{MaxPerTarget: 1}, prepare: hold},
		{want: refusedDials, path: "/" + here, prepare: func(t *testing.T, b *testBridge) { b.limits.dials = b.limits.caps.dials }},
		{want: refusedClientDials, path: "/" + here, prepare: func(t *testing.T, b *testBridge) { b.limits.caps.dialsPerClient = 0 }},
		{want: refusedRouteOff, path: "/" + here, cfg: Config{Routes: []string{"node"}}},
		{want: refusedShuttingDown, path: "/" + here, prepare: func(t *testing.T, b *testBridge) {
			if err := b.Shutdown(testContext(t)); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tc.path+" "+tc.want.reason, func(t *testing.T) {
			t.Parallel()
			if n := len(tc.want.reason); n > maxReasonSize {
				t.Errorf("the reason has %d bytes", n)
			}
			tc.cfg.Allow = []string{here, nothing, nodeA + "@inside.example", "nowhere.example:9735"}
			tc.cfg.Origins = []string{testOrigin}
			b := serve(t, tc.cfg)
			b.resolver = privateResolver
			if tc.prepare != nil {
				tc.prepare(t, b)
			}

			_, resp, err := b.dial(t, tc.path, "")
			if err == nil {
				t.Fatal("a program was connected")
			}
			expectStatus(t, resp, tc.want)

			ws, _, err := b.dial(t, tc.path, testOrigin)
			if err != nil {
				t.Fatalf("a page got no upgrade: %v", err)
			}
			expectEnd(t, ws, nil, ending{websocket.StatusCode(4000 + tc.want.status), tc.want.reason})

			// With too many browsers to be refused, the next hears the status.
			for range maxRefusals {
				b.refusals <- struct{}{}
			}
			_, resp, err = b.dial(t, tc.path, testOrigin)
			if err == nil {
				t.Fatal("a page too many got an upgrade")
			}
			expectStatus(t, resp, tc.want)
		})
	}
}

// TestRefusalsBeforeOrigin reaches every refusal that comes before an origin is
// accepted: nobody is upgraded to hear of it.
func TestRefusalsBeforeOrigin(t *testing.T) {
	here := listen(t).Addr().String()
	b := serve(t, Config{Allow: []string{here}, Origins: []string{testOrigin}})
	for _, tc := range []struct {
		want   *refusal
		change func(r *http.Request)
	}{
		{refusedHost, func(r *http.Request) { r.Host = "rebound.example" }},
		{refusedNoUpgrade, func(r *http.Request) { r.Header.Del("Upgrade") }},
		{refusedHandshake, func(r *http.Request) { r.Header.Del("Sec-WebSocket-Key") }},
		{refusedOrigin, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		{refusedOrigin, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		{refusedNoOrigin, func(r *http.Request) { r.Header.Set("X-Forwarded-For", "9.9.9.9") }},
		{refusedForwarded, func(r *http.Request) {
			b.rules.Load().gate.proxies = proxies{netip.MustParsePrefix("127.0.0.1/32")}
			b.rules.Load().gate.allowNoOrigin = true
			r.Header.Set("X-Forwarded-For", "nobody")
		}},
	} {
		r, err := http.NewRequestWithContext(testContext(t), http.MethodGet, "http"+strings.TrimPrefix(b.url, "ws")+"/"+here, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Connection", "Upgrade")
		r.Header.Set("Upgrade", "websocket")
		r.Header.Set("Sec-WebSocket-Version", "13")
		r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		tc.change(r)
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		expectStatus(t, resp, tc.want)
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func expectStatus(t *testing.T, resp *http.Response, want *refusal) {
	t.Helper()
	if resp == nil {
		t.Fatalf("no response, want status %d", want.status)
	}
	var body struct {
		Status int    `json:"status"`
		Reason string `json:"reason"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil {
		t.Fatalf("body: %v", err)
	}
	if resp.StatusCode != want.status || body.Status != want.status || body.Reason != want.reason ||
		resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got status %d and %+v, want %d %q", resp.StatusCode, body, want.status, want.reason)
	}
}

// blockingResolver reports that it was asked, and answers when the request ends.
type blockingResolver chan struct{}

func (r blockingResolver) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	r <- struct{}{}
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestShutdownDuringDial(t *testing.T) {
	b := serve(t, Config{Allow: []string{"node.example:9735"}})
	asked := make(blockingResolver)
	b.resolver = asked
	done := make(chan error, 1)
	go func() {
		<-asked
		done <- b.Shutdown(context.Background())
	}()
	_, resp, err := b.dial(t, "/node.example", "")
	if err == nil {
		t.Fatal("connected")
	}
	expectStatus(t, resp, refusedShuttingDown)
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestClientGoneDuringDial(t *testing.T) {
	b := serve(t, Config{Allow: []string{"node.example:9735"}})
	asked := make(blockingResolver)
	b.resolver = asked
	ctx, cancel := context.WithCancel(testContext(t))
	go func() {
		<-asked
		cancel()
	}()
	if _, _, err := websocket.Dial(ctx, b.url+"/node.example", nil); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	// The place is free again although the dial would have had more time.
	b.limits.active.Wait()
}

func TestShutdownDeadline(t *testing.T) {
	p := join(t, Config{})
	p.open(t)
	late, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.bridge.Shutdown(late); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// Cut off, both: the close frame may have come before that or not.
	if _, _, err := p.ws.Read(testContext(t)); err == nil {
		t.Error("the client's connection goes on")
	}
	p.expectTargetEnd(t)
}

// TestDialTriesAll gives a name a dead address before the live one.
func TestDialTriesAll(t *testing.T) {
	l := listen(t)
	port := netip.MustParseAddrPort(l.Addr().String()).Port()
	live := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)
	dead := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), port)
	conn, err := dialAny(testContext(t), []netip.AddrPort{dead, live})
	if err != nil {
		t.Fatal(err)
	}
	if got := conn.RemoteAddr().String(); got != live.String() {
		t.Errorf("connected to %s", got)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
	if _, err := dialAny(testContext(t), []netip.AddrPort{dead, dead}); !errors.Is(err, refusedUnreachable) {
		t.Errorf("two dead addresses: got %v", err)
	}
}

// TestRoutesReachTarget connects by each of the three routes.
func TestRoutesReachTarget(t *testing.T) {
	l := listen(t)
	host, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b := serve(t, Config{Allow: []string{nodeA + "@" + l.Addr().String()}})
	for _, path := range []string{
		"/" + l.Addr().String(),
		"/v1/" + strings.ReplaceAll(host, ".", "_") + "/" + port,
		"/node/" + nodeA,
	} {
		ws, _, err := b.dial(t, path, "")
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		target, err := l.AcceptTCP()
		if err != nil {
			t.Fatal(err)
		}
		p := &pair{bridge: b, ws: ws, target: target}
		p.open(t)
		if err := target.Close(); err != nil {
			t.Error(err)
		}
		expectEnd(t, ws, nil, endNodeClosed)
	}
}

func TestLogKeepsSecrets(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	here := listen(t).Addr().String()
	b := serve(t, Config{Allow: []string{here}, Origins: []string{testOrigin}, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	for _, path := range []string{"/" + here, "/secret.example:9735", "/secret/secret"} {
		ws, _, err := websocket.Dial(testContext(t), b.url+path+"?token=secret", &websocket.DialOptions{
			HTTPHeader:   http.Header{"Origin": {testOrigin}, "Authorization": {"Bearer secret"}},
			Subprotocols: []string{"brontosig", "brontosig.token.secret"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if path == "/"+here {
			if err := ws.Close(websocket.StatusNormalClosure, "secret"); err != nil {
				t.Error(err)
			}
		} else if _, err := io.ReadAll(&clientStream{ws: ws}); err == nil {
			t.Error("not closed")
		}
	}
	if err := b.Shutdown(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); strings.Contains(text, "secret") || strings.Count(text, "\n") != 4 || !strings.Contains(text, "target="+here) {
		t.Errorf("log:\n%s", text)
	}
}
