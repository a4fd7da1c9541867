//go:build !js

package bridge

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
)

func TestNewPolicyErrors(t *testing.T) {
	for _, tc := range []struct {
		entries []string
		kind    ErrorKind
	}{
		{nil, ErrNothingAllowed},
		{[]string{""}, ErrInvalidAllow},
		{[]string{"host"}, ErrInvalidAllow}, // without a port it may be a typing error
		{[]string{"host:0"}, ErrInvalidAllow},
		{[]string{"127.1:9735"}, ErrInvalidAllow},
		{[]string{"@host:9735"}, ErrInvalidAllow},
		{[]string{nodeA[2:] + "@host:9735"}, ErrInvalidAllow},
		{[]string{nodeA + "@"}, ErrInvalidAllow},
		{[]string{nodeA + "@host:x"}, ErrInvalidAllow},
		{[]string{nodeA + "@a:9735", nodeA + "@b:9735"}, ErrInvalidAllow},
		{[]string{"10.0.0.1/8"}, ErrInvalidAllow},
		{[]string{"10.0.0.0/33"}, ErrInvalidAllow},
		{[]string{"10.0.0.0/8:"}, ErrInvalidAllow},
		{[]string{"10.0.0.0/8:70000"}, ErrInvalidAllow},
		{[]string{"::ffff:10.0.0.0/104"}, ErrInvalidAllow},
		{[]string{"good:9735", "host/8"}, ErrInvalidAllow},
	} {
		_, err := newPolicy(Config{Allow: tc.entries})
		var e Error
		if !errors.Is(err, tc.kind) || !errors.As(err, &e) || e.Desc == "" {
			t.Errorf("%q: got %v, want %v", tc.entries, err, tc.kind)
		}
	}
}

func TestPolicyTarget(t *testing.T) {
	p, err := newPolicy(Config{Allow: []string{
		nodeA + "@Alice.Example.", nodeA + "@alice.example:9735", // the same twice is no contradiction
		"1.2.3.4:9735", "[2001:db8::1]:1234", "bob.example:9736",
		"10.0.0.0/8", "192.168.1.0/24:9999", "fd00::/8:9735",
	}})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/node/" + nodeA:          "alice.example:9735",
		"/alice.example":          "alice.example:9735",
		"/v1/alice_example/9735":  "alice.example:9735",
		"/1.2.3.4:9735":           "1.2.3.4:9735",
		"/[::ffff:1.2.3.4]:9735":  "1.2.3.4:9735",
		"/[2001:db8:0::1]:1234":   "[2001:db8::1]:1234",
		"/BOB.example.:9736":      "bob.example:9736",
		"/10.255.0.1":             "10.255.0.1:9735",
		"/[::ffff:10.0.0.1]:9735": "10.0.0.1:9735",
		"/192.168.1.77:9999":      "192.168.1.77:9999",
		"/[fd00::1]":              "[fd00::1]:9735",
		"/node/" + nodeB:          "",
		"/alice.example:9736":     "",
		"/alice":                  "",
		"/sub.alice.example":      "",
		"/1.2.3.4:22":             "",
		"/1.2.3.5:9735":           "",
		"/[2001:db8::1]:9735":     "",
		"/bob.example":            "",
		"/10.0.0.1:22":            "",
		"/11.0.0.1:9735":          "",
		"/192.168.1.77:9735":      "",
		"/192.168.2.77:9999":      "",
		"/[64:ff9b::a00:1]:9735":  "", // 10.0.0.1 behind NAT64 is not 10.0.0.1
		"/[2002:a00:1::]:9735":    "",
		"/localhost:9735":         "",
	} {
		r, ok := parseRoute(path)
		if !ok {
			t.Fatalf("%s is no route", path)
		}
		got, err := p.target(r)
		switch {
		case want == "" && !errors.Is(err, refusedTarget):
			t.Errorf("%s: got %v and %v, want a refusal", path, got, err)
		case want != "" && (err != nil || got.String() != want):
			t.Errorf("%s: got %v and %v, want %s", path, got, err, want)
		}
	}
}

func TestPolicyAddresses(t *testing.T) {
	p, err := newPolicy(Config{Allow: []string{"node.example:9735", "127.0.0.1:9735", "10.1.0.0/16", "169.254.169.254:80"}})
	if err != nil {
		t.Fatal(err)
	}
	target := endpoint{name: "node.example", port: 9735}
	for _, tc := range []struct {
		about  string
		answer []string
		want   error
	}{
		{"public", []string{"1.2.3.4", "2606:4700::1"}, nil},
		{"mapped public", []string{"::ffff:1.2.3.4"}, nil},
		{"listed by address", []string{"127.0.0.1"}, nil},
		{"listed by address, mapped", []string{"::ffff:127.0.0.1"}, nil},
		{"listed by network", []string{"10.1.2.3", "1.2.3.4"}, nil},
		{"private", []string{"10.2.0.1"}, refusedAddress},
		{"public first, private second", []string{"1.2.3.4", "10.2.0.1"}, refusedAddress},
		{"private first, public second", []string{"192.168.0.1", "1.2.3.4"}, refusedAddress},
		{"loopback that is not the listed one", []string{"127.0.0.2"}, refusedAddress},
		{"listed at another port", []string{"169.254.169.254"}, refusedAddress},
		{"mapped private", []string{"::ffff:10.2.0.1"}, refusedAddress},
		{"loopback", []string{"::1"}, refusedAddress},
		{"zone", []string{"2606:4700::1%eth0"}, refusedAddress},
		{"none", []string{}, refusedUnresolved},
	} {
		t.Run(tc.about, func(t *testing.T) {
			var answer []netip.Addr
			var want []netip.AddrPort
			for _, s := range tc.answer {
				addr := netip.MustParseAddr(s)
				answer = append(answer, addr)
				want = append(want, netip.AddrPortFrom(addr.Unmap(), 9735))
			}
			got, err := p.addresses(context.Background(), fakeResolver{"node.example": answer}, target)
			if !errors.Is(err, tc.want) {
				t.Fatalf("got %v, want %v", err, tc.want)
			}
			if err == nil && !slices.Equal(got, want) {
				t.Fatalf("got %v, want %v", got, want)
			}
		})
	}

	if _, err := p.addresses(context.Background(), fakeResolver{}, target); !errors.Is(err, refusedUnresolved) {
		t.Errorf("unknown name: got %v", err)
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.addresses(gone, fakeResolver{}, target); !errors.Is(err, context.Canceled) {
		t.Errorf("client gone: got %v", err)
	}
	late, cancel := context.WithTimeout(context.Background(), 0)
	defer cancel()
	if _, err := p.addresses(late, fakeResolver{}, target); !errors.Is(err, refusedDialTimeout) {
		t.Errorf("no time left: got %v", err)
	}
	// An address needs no resolver, and a listed one need not be public.
	literal := endpoint{addr: netip.MustParseAddr("10.1.0.1"), port: 9735}
	if got, err := p.addresses(context.Background(), nil, literal); err != nil || len(got) != 1 || got[0].String() != "10.1.0.1:9735" {
		t.Errorf("literal: got %v and %v", got, err)
	}
}
