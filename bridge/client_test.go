//go:build !js

package bridge

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestClientKey(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"1.2.3.4:1", "1.2.3.4:2", true},
		{"1.2.3.4:1", "[::ffff:1.2.3.4]:2", true},
		{"1.2.3.4:1", "1.2.3.5:1", false},
		{"[2001:db8::1]:1", "[2001:db8::ffff:1]:1", true},
		{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"[fe80::1%eth0]:1", "[fe80::2%eth1]:1", true},
		{"@", "", true}, // Unix sockets
		{"@", "1.2.3.4:1", false},
	} {
		key := func(remote string) any {
			addr, err := proxies(nil).client(&http.Request{RemoteAddr: remote})
			if err != nil {
				t.Fatal(err)
			}
			return clientKey(addr)
		}
		if (key(tc.a) == key(tc.b)) != tc.same {
			t.Errorf("%s and %s: want same = %v", tc.a, tc.b, tc.same)
		}
	}
}

func TestNewProxies(t *testing.T) {
	for _, entry := range []string{"", "x", "proxy.example", "10.0.0.1/8", "10.0.0.0/33", "fe80::1%eth0", "::ffff:10.0.0.0/104"} {
		if _, err := newProxies([]string{entry}); !errors.Is(err, ErrInvalidProxy) {
			t.Errorf("%q: got %v", entry, err)
		}
	}
}

func TestForwardedClient(t *testing.T) {
	p, err := newProxies([]string{"127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48", "::ffff:192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		remote    string
		forwarded []string
		want      string // empty for a refusal
	}{
		{"9.9.9.9:1", nil, "9.9.9.9"},
		{"9.9.9.9:1", []string{"8.8.8.8"}, "9.9.9.9"}, // nobody believes it
		{"9.9.9.9:1", []string{"nonsense"}, "9.9.9.9"},
		{"127.0.0.1:1", nil, "127.0.0.1"},
		{"127.0.0.1:1", []string{""}, "127.0.0.1"},
		{"127.0.0.1:1", []string{"8.8.8.8"}, "8.8.8.8"},
		{"192.0.2.1:1", []string{"8.8.8.8"}, "8.8.8.8"},
		{"[::ffff:127.0.0.1]:1", []string{"8.8.8.8"}, "8.8.8.8"},
		{"127.0.0.1:1", []string{"1.1.1.1, 8.8.8.8"}, "8.8.8.8"}, // the first is the client's own claim
		{"127.0.0.1:1", []string{"nonsense, 8.8.8.8"}, "8.8.8.8"},
		{"127.0.0.1:1", []string{"1.1.1.1", "8.8.8.8"}, "8.8.8.8"},
		{"127.0.0.1:1", []string{"8.8.8.8,10.1.2.3"}, "8.8.8.8"},
		{"127.0.0.1:1", []string{"8.8.8.8, 2001:db8:1::7,10.1.2.3"}, "8.8.8.8"},
		{"127.0.0.1:1", []string{"10.1.2.3"}, "10.1.2.3"},
		{"127.0.0.1:1", []string{"8.8.8.8:1234"}, "8.8.8.8"},
		{"127.0.0.1:1", []string{"2606:4700::1"}, "2606:4700::1"},
		{"127.0.0.1:1", []string{"[2606:4700::1]"}, "2606:4700::1"},
		{"127.0.0.1:1", []string{"[2606:4700::1]:1234"}, "2606:4700::1"},
		{"127.0.0.1:1", []string{"::ffff:8.8.8.8"}, "8.8.8.8"},
		{"127.0.0.1:1", []string{"nonsense"}, ""},
		{"127.0.0.1:1", []string{"unknown"}, ""},
		{"127.0.0.1:1", []string{"8.8.8.8,"}, ""},
		{"127.0.0.1:1", []string{"8.8.8.8, nonsense, 10.1.2.3"}, ""},
		{"127.0.0.1:1", []string{strings.Repeat("10.0.0.1,", 100) + "10.0.0.1"}, "10.0.0.1"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.RemoteAddr = tc.remote
		r.Header["X-Forwarded-For"] = tc.forwarded
		got, err := p.client(r)
		if tc.want == "" && !errors.Is(err, refusedForwarded) || tc.want != "" && (err != nil || got.String() != tc.want) {
			t.Errorf("%s with %q: got %v and %v, want %q", tc.remote, tc.forwarded, got, err, tc.want)
		}
	}
}
