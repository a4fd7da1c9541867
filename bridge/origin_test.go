//go:build !js

package bridge

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestNewGatekeeperErrors(t *testing.T) {
	for _, origin := range []string{
		"", "*", "wallet.example", "https://", "https://wallet.example/", "https://wallet.example/page", "https://Wallet.example",
		"HTTPS://wallet.example", "https://wallet.example:443", "http://wallet.example:80", "https://user@wallet.example",
		"https://wallet.example?x", "https://:8080", "https://*.example\x00", "Null",
	} {
		if _, err := newGatekeeper(Config{Origins: []string{origin}}); !errors.Is(err, ErrInvalidOrigin) {
			t.Errorf("origin %q: got %v", origin, err)
		}
	}
	for _, origin := range []string{
		"null", "https://wallet.example", "http://wallet.example:8080", "http://127.0.0.1:3000", "http://[::1]:3000",
		"https://wallet.example:80", "chrome-extension://abcdefghijklmnop", "moz-extension://0a1b-2c",
	} {
		if _, err := newGatekeeper(Config{Origins: []string{origin}}); err != nil {
			t.Errorf("origin %q: %v", origin, err)
		}
	}
	for _, host := range []string{"", "https://bridge.example", "bridge.example/x", "bridge.example:0", "::1"} {
		if _, err := newGatekeeper(Config{PublicHosts: []string{host}}); !errors.Is(err, ErrInvalidPublicHost) {
			t.Errorf("public host %q: got %v", host, err)
		}
	}
}

func TestCheckHost(t *testing.T) {
	for _, tc := range []struct {
		public []string
		local  string
		host   string
		ok     bool
	}{
		{nil, "127.0.0.1:8080", "127.0.0.1:8080", true},
		{nil, "127.0.0.1:8080", "localhost:8080", true},
		{nil, "127.0.0.1:8080", "LOCALHOST:8080", true},
		{nil, "127.0.0.1:80", "127.0.0.1", true},
		{nil, "[::1]:8080", "[::1]:8080", true},
		{nil, "[::ffff:127.0.0.1]:8080", "127.0.0.1:8080", true},
		{nil, "127.0.0.1:8080", "127.0.0.1", false},
		{nil, "127.0.0.1:8080", "127.0.0.1:8081", false},
		{nil, "127.0.0.1:8080", "127.0.0.2:8080", false},
		{nil, "127.0.0.1:8080", "rebound.example:8080", false},
		{nil, "127.0.0.1:8080", "localhost.rebound.example:8080", false},
		{nil, "127.0.0.1:8080", "", false},
		{nil, "127.0.0.1:8080", "a b", false},
		{nil, "", "localhost", false},
		{[]string{"bridge.example"}, "127.0.0.1:8080", "bridge.example", true},
		{[]string{"bridge.example"}, "127.0.0.1:8080", "Bridge.Example.", true},
		{[]string{"bridge.example:8080"}, "127.0.0.1:8080", "bridge.example:8080", true},
		{[]string{"bridge.example:8080"}, "127.0.0.1:8080", "bridge.example", false},
		{[]string{"bridge.example"}, "127.0.0.1:8080", "127.0.0.1:8080", false},
		{[]string{"bridge.example"}, "127.0.0.1:8080", "localhost:8080", false},
	} {
		g, err := newGatekeeper(Config{PublicHosts: tc.public})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = tc.host
		if tc.local != "" {
			addr, err := net.ResolveTCPAddr("tcp", tc.local)
			if err != nil {
				t.Fatal(err)
			}
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(addr)))
		}
		if err := g.checkHost(r); (err == nil) != tc.ok || err != nil && !errors.Is(err, refusedHost) {
			t.Errorf("%v at %s, Host %q: got %v", tc.public, tc.local, tc.host, err)
		}
	}
}

func TestCheckClient(t *testing.T) {
	listed := []string{testOrigin, "http://127.0.0.1:3000"}
	for _, tc := range []struct {
		about   string
		cfg     Config
		header  http.Header
		remote  string
		browser bool
		want    error
	}{
		{"listed", Config{Origins: listed}, http.Header{"Origin": {testOrigin}}, "9.9.9.9:1", true, nil},
		{"second listed", Config{Origins: listed}, http.Header{"Origin": {"http://127.0.0.1:3000"}}, "127.0.0.1:1", true, nil},
		{"unlisted", Config{Origins: listed}, http.Header{"Origin": {"https://evil.example"}}, "127.0.0.1:1", false, refusedOrigin},
		{"suffix", Config{Origins: listed}, http.Header{"Origin": {testOrigin + ".evil.example"}}, "127.0.0.1:1", false, refusedOrigin},
		{"other port", Config{Origins: listed}, http.Header{"Origin": {testOrigin + ":444"}}, "127.0.0.1:1", false, refusedOrigin},
		{"other scheme", Config{Origins: listed}, http.Header{"Origin": {"http://wallet.example"}}, "127.0.0.1:1", false, refusedOrigin},
		{"other case", Config{Origins: listed}, http.Header{"Origin": {"https://Wallet.example"}}, "127.0.0.1:1", false, refusedOrigin},
		{"null", Config{Origins: listed}, http.Header{"Origin": {"null"}}, "127.0.0.1:1", false, refusedOrigin},
		{"null listed", Config{Origins: []string{"null"}}, http.Header{"Origin": {"null"}}, "9.9.9.9:1", true, nil},
		{"empty", Config{Origins: listed}, http.Header{"Origin": {""}}, "127.0.0.1:1", false, refusedOrigin},
		{"twice", Config{Origins: listed}, http.Header{"Origin": {testOrigin, testOrigin}}, "127.0.0.1:1", false, refusedOrigin},
		{"allow-no-origin does not open to pages", Config{AllowNoOrigin: true}, http.Header{"Origin": {testOrigin}}, "127.0.0.1:1", false, refusedOrigin},
		{"program here", Config{}, nil, "127.0.0.1:1", false, nil},
		{"program here, IPv6", Config{}, nil, "[::1]:1", false, nil},
		{"program here, mapped", Config{}, nil, "[::ffff:127.0.0.1]:1", false, nil},
		{"program elsewhere", Config{Origins: listed}, nil, "9.9.9.9:1", false, refusedNoOrigin},
		{"program elsewhere, allowed", Config{AllowNoOrigin: true}, nil, "9.9.9.9:1", false, nil},
		{"program behind a proxy", Config{}, http.Header{"X-Forwarded-For": {"9.9.9.9"}}, "127.0.0.1:1", false, refusedNoOrigin},
		{"program behind another proxy", Config{}, http.Header{"Forwarded": {"for=9.9.9.9"}}, "127.0.0.1:1", false, refusedNoOrigin},
		{"Unix socket", Config{}, nil, "@", false, refusedNoOrigin},
	} {
		t.Run(tc.about, func(t *testing.T) {
			g, err := newGatekeeper(tc.cfg)
			if err != nil {
				t.Fatal(err)
			}
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.RemoteAddr = tc.remote
			if tc.header != nil {
				r.Header = tc.header
			}
			browser, err := g.checkClient(r)
			if browser != tc.browser || !errors.Is(err, tc.want) {
				t.Errorf("got %v and %v, want %v and %v", browser, err, tc.browser, tc.want)
			}
		})
	}
}
