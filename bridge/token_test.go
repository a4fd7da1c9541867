//go:build !js

package bridge

import (
	"bytes"
	"encoding/base64"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

const (
	testToken  = "correct-horse-battery/staple+0=~"
	otherToken = "0123456789abcdef"
)

func asSubprotocol(token string) string {
	return tokenSubprotocol + base64.RawURLEncoding.EncodeToString([]byte(token))
}

func TestNewTokens(t *testing.T) {
	for _, token := range []string{"", "short", "fifteen-letters", "with a space in it", "with,a,comma,in,it", "with a\ttabulator", "mit-Umläuten-drin", "0123456789abcdef\n"} {
		_, err := newTokens([]string{token})
		if !errors.Is(err, ErrInvalidToken) {
			t.Errorf("%q: got %v", token, err)
		} else if token != "" && strings.Contains(err.Error(), token) {
			t.Errorf("the error repeats the token: %v", err)
		}
	}
}

func TestTokens(t *testing.T) {
	bearer := func(values ...string) http.Header { return http.Header{"Authorization": values} }
	protocol := func(values ...string) http.Header { return http.Header{"Sec-Websocket-Protocol": values} }
	for _, tc := range []struct {
		about  string
		header http.Header
		ok     bool
	}{
		{"none", http.Header{}, false},
		{"bearer", bearer("Bearer " + testToken), true},
		{"bearer, the second", bearer("Bearer " + otherToken), true},
		{"bearer in another case", bearer("bearer " + testToken), true},
		{"bearer, more space", bearer("Bearer  " + testToken + " "), true},
		{"another scheme", bearer("Basic " + testToken), false},
		{"no scheme", bearer(testToken), false},
		{"empty bearer", bearer("Bearer "), false},
		{"a prefix", bearer("Bearer " + testToken[:len(testToken)-1]), false},
		{"more", bearer("Bearer " + testToken + "x"), false},
		{"in capitals", bearer("Bearer " + strings.ToUpper(testToken)), false},
		{"two, one of them right", bearer("Bearer "+testToken, "Bearer wrong-wrong-wrong-wrong"), false},
		{"subprotocol", protocol("brontosig, " + asSubprotocol(testToken)), true},
		{"subprotocol alone", protocol(asSubprotocol(testToken)), true},
		{"subprotocols in two lines", protocol("brontosig", asSubprotocol(otherToken)), true},
		{"subprotocol in clear", protocol("brontosig, brontosig.token." + otherToken), false},
		{"subprotocol with padding", protocol(asSubprotocol(otherToken) + "=="), false},
		{"subprotocol in base64", protocol(tokenSubprotocol + base64.RawStdEncoding.EncodeToString([]byte(testToken+"??>>"))), false},
		{"subprotocol without a token", protocol(tokenSubprotocol), false},
		{"both", http.Header{"Authorization": {"Bearer " + testToken}, "Sec-Websocket-Protocol": {asSubprotocol(testToken)}}, false},
	} {
		t.Run(tc.about, func(t *testing.T) {
			g, err := newGatekeeper(Config{Tokens: []string{testToken, otherToken}, Origins: []string{testOrigin}})
			if err != nil {
				t.Fatal(err)
			}
			for _, origin := range []string{"", testOrigin} {
				for _, remote := range []string{"127.0.0.1:1", "9.9.9.9:1"} {
					r := httptest.NewRequest(http.MethodGet, "/", nil)
					r.RemoteAddr, r.Header = remote, tc.header.Clone()
					if origin != "" {
						r.Header.Set("Origin", origin)
					}
					browser, err := g.checkClient(r)
					if (err == nil) != tc.ok || err != nil && !errors.Is(err, refusedToken) || browser != (origin != "") {
						t.Errorf("origin %q from %s: got %v and %v", origin, remote, browser, err)
					}
				}
			}
			// A token does not open the bridge to other pages.
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Header = tc.header.Clone()
			r.Header.Set("Origin", "https://evil.example")
			if _, err := g.checkClient(r); !errors.Is(err, refusedOrigin) {
				t.Errorf("another origin: got %v", err)
			}
		})
	}
	// Where there are no tokens, the empty one is none.
	if tokens(nil).contain("") || (tokens{{}}).contain("") {
		t.Error("an empty token is accepted")
	}
}

// TestTokenClients connects as a program and as a page, and looks for the token
// in what the bridge answers and logs.
func TestTokenClients(t *testing.T) {
	l := listen(t)
	var log bytes.Buffer
	b := serve(t, Config{
		Allow: []string{l.Addr().String()}, Origins: []string{testOrigin}, Tokens: []string{testToken},
		Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	dial := func(o *websocket.DialOptions) (*websocket.Conn, *http.Response, error) {
		return websocket.Dial(testContext(t), b.url+"/"+l.Addr().String()+"?token="+testToken, o)
	}
	program := &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + testToken}}}
	page := &websocket.DialOptions{
		HTTPHeader:   http.Header{"Origin": {testOrigin}},
		Subprotocols: []string{subprotocol, asSubprotocol(testToken)},
	}
	for _, o := range []*websocket.DialOptions{program, page} {
		ws, resp, err := dial(o)
		if err != nil {
			t.Fatal(err)
		}
		if want := strings.Join(o.Subprotocols[:min(1, len(o.Subprotocols))], ""); ws.Subprotocol() != want {
			t.Errorf("subprotocol %q was selected, want %q", ws.Subprotocol(), want)
		}
		for name, values := range resp.Header {
			if strings.Contains(strings.Join(values, ","), asSubprotocol(testToken)) {
				t.Errorf("header %s repeats the token", name)
			}
		}
		_ = ws.CloseNow()
	}
	_, resp, err := dial(&websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer not-the-right-token"}}})
	if err == nil {
		t.Fatal("connected with a wrong token")
	}
	expectStatus(t, resp, refusedToken)
	ws, _, err := dial(&websocket.DialOptions{HTTPHeader: http.Header{"Origin": {testOrigin}}, Subprotocols: []string{subprotocol}})
	if err != nil {
		t.Fatal(err)
	}
	expectEnd(t, ws, nil, ending{refusedToken.closeCode(), refusedToken.reason})
	if err := b.Shutdown(testContext(t)); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{testToken, "not-the-right-token", asSubprotocol(testToken), "?token"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %q:\n%s", secret, log.String())
		}
	}
}

// FuzzHeaders makes sure that no headers make the gatekeeper panic, and that it
// lets nobody in without the token, with another origin, or by another host.
func FuzzHeaders(f *testing.F) {
	g, err := newGatekeeper(Config{
		Tokens: []string{testToken}, Origins: []string{testOrigin}, PublicHosts: []string{"bridge.example"}, TrustedProxies: []string{"10.0.0.0/8"},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("bridge.example", testOrigin, "Bearer "+testToken, asSubprotocol(testToken), "8.8.8.8", "10.0.0.1:1")
	f.Add("bridge.example:80", "", "Bearer x", "brontosig, brontosig.token.", "8.8.8.8, 10.0.0.1", "[::1]:1")
	f.Add("[::1]", "null", "bearer", "brontosig.token.!", "[::1]:8,,", "@")
	f.Fuzz(func(t *testing.T, host, origin, authorization, protocols, forwarded, remote string) {
		r := &http.Request{Host: host, RemoteAddr: remote, ProtoMajor: 1, ProtoMinor: 1, Method: http.MethodGet, Header: http.Header{
			"Connection": {authorization}, "Upgrade": {protocols}, "Sec-Websocket-Key": {forwarded}, "Sec-Websocket-Version": {origin},
			"Authorization": {authorization}, "Sec-Websocket-Protocol": {protocols}, "X-Forwarded-For": {forwarded},
		}}
		if origin != "" {
			r.Header.Set("Origin", origin)
		}
		_ = checkUpgrade(r) // only that it does not panic
		if g.checkHost(r) == nil {
			if e, ok := parseEndpoint(host, defaultHTTPPort); !ok || e.name != "bridge.example" || e.port != defaultHTTPPort {
				t.Errorf("host %q is accepted", host)
			}
		}
		browser, err := g.checkClient(r)
		if browser != (origin == testOrigin) {
			t.Errorf("origin %q makes it a browser: %v", origin, browser)
		}
		encoded := strings.TrimPrefix(asSubprotocol(testToken), tokenSubprotocol)
		if err == nil && !strings.Contains(authorization, testToken) && !strings.Contains(protocols, encoded) {
			t.Errorf("%q and %q are accepted", authorization, protocols)
		}
		if addr, err := g.proxies.client(r); err == nil && addr.IsValid() && addr.Zone() != "" {
			t.Errorf("a client at %v", addr)
		}
	})
}
