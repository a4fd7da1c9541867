//go:build !js

package bridge

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestOnionAddress(t *testing.T) {
	if !isOnionAddress(onionName) {
		t.Errorf("%s is refused", onionName)
	}
	for about, name := range map[string]string{
		"a changed letter": "3" + onionName[1:],
		"version 2":        "expyuzz4wqqyqhjn.onion",
		"a subdomain":      "www." + onionName,
		"nothing":          ".onion",
		"the top":          "onion",
		"another version":  onionName[:55] + "a.onion",
	} {
		if isOnionAddress(name) {
			t.Errorf("%s: %s is accepted", about, name)
		}
	}
}

func TestOnionPolicy(t *testing.T) {
	const proxyAddress = "127.0.0.1:9050"
	for _, tc := range []struct {
		cfg  Config
		path string
		ok   bool
	}{
		{Config{Allow: []string{onionName + ":9735"}, OnionProxy: proxyAddress}, "/" + onionName, true},
		{Config{Allow: []string{onionName + ":9735"}, OnionProxy: proxyAddress}, "/" + strings.ToUpper(onionName) + ".:9735", true},
		{Config{Allow: []string{onionName + ":9735"}, OnionProxy: proxyAddress}, "/" + onionName + ":80", false},
		{Config{Allow: []string{nodeA + "@" + onionName}, OnionProxy: proxyAddress}, "/node/" + nodeA, true},
		{Config{AllowPublic: true, OnionProxy: proxyAddress}, "/" + onionName, true},
		{Config{AllowPublic: true, OnionProxy: proxyAddress}, "/" + onionName + ":80", false},
		{Config{AllowPublic: true, OnionProxy: proxyAddress}, "/onion", false},
		{Config{AllowPublic: true}, "/" + onionName, false},
		{Config{Allow: []string{"node.example:9735"}, OnionProxy: proxyAddress}, "/" + onionName, false},
	} {
		p, err := newPolicy(tc.cfg)
		if err != nil {
			t.Fatal(err)
		}
		r, ok := parseRoute(tc.path)
		if ok {
			_, err := p.target(r)
			ok = err == nil
		}
		if ok != tc.ok {
			t.Errorf("%s with %+v: reached: %v", tc.path, tc.cfg, ok)
		}
	}
	for _, cfg := range []Config{
		{Allow: []string{onionName + ":9735"}},
		{Allow: []string{"abc.onion:9735"}, OnionProxy: proxyAddress},
	} {
		if _, err := newPolicy(cfg); !errors.Is(err, ErrInvalidAllow) {
			t.Errorf("%+v: got %v", cfg, err)
		}
	}
	for _, address := range []string{"127.0.0.1", "x", "socks5://127.0.0.1:9050"} {
		if _, err := newPolicy(Config{AllowPublic: true, OnionProxy: address}); !errors.Is(err, ErrInvalidProxy) {
			t.Errorf("%s: got %v", address, err)
		}
	}
}

// socksServer takes one connection, answers with a reply code and, if that is 0,
// carries bytes to a target. It returns the name and port it was asked for.
func socksServer(t *testing.T, reply byte, target string) (address string, asked <-chan string) {
	t.Helper()
	l := listen(t)
	names := make(chan string, 1)
	go func() {
		conn, err := l.AcceptTCP()
		if err != nil {
			return
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(testTimeout))
		head := make([]byte, 3+5) // greeting with one method, and a request up to the name's length
		if _, err := io.ReadFull(conn, head[:3]); err != nil {
			return
		}
		if _, err := conn.Write([]byte{5, 0}); err != nil {
			return
		}
		if _, err := io.ReadFull(conn, head[3:]); err != nil {
			return
		}
		name := make([]byte, int(head[7])+2)
		if _, err := io.ReadFull(conn, name); err != nil {
			return
		}
		at := len(name) - 2
		names <- net.JoinHostPort(string(name[:at]), itoa(binary.BigEndian.Uint16(name[at:])))
		if _, err := conn.Write([]byte{5, reply, 0, 1, 0, 0, 0, 0, 0, 0}); err != nil || reply != 0 {
			return
		}
		onward, err := net.Dial("tcp", target)
		if err != nil {
			return
		}
		defer onward.Close()
		go func() { _, _ = io.Copy(onward, conn); _ = onward.(*net.TCPConn).CloseWrite() }()
		_, _ = io.Copy(conn, onward)
	}()
	return l.Addr().String(), names
}

func itoa(port uint16) string { return endpoint{name: "x", port: port}.String()[2:] }

// TestOnion reaches a target through a SOCKS5 proxy that is asked for a name, and
// makes sure that nothing else goes that way and that no name is looked up.
func TestOnion(t *testing.T) {
	l := listen(t)
	proxyAddress, asked := socksServer(t, 0, l.Addr().String())
	b := serve(t, Config{Allow: []string{onionName + ":9735"}, OnionProxy: proxyAddress})
	b.resolver = noResolver{t}
	ws, _, err := b.dial(t, "/"+onionName, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := <-asked; got != onionName+":9735" {
		t.Errorf("the proxy was asked for %s", got)
	}
	target, err := l.AcceptTCP()
	if err != nil {
		t.Fatal(err)
	}
	defer target.Close()
	p := &pair{bridge: b, ws: ws, target: target}
	p.open(t)
	p.answer(t, []byte("hidden"))
	p.hangUp(t)
	expectEnd(t, ws, []byte("hidden"), endNodeClosed)
}

type noResolver struct{ t *testing.T }

func (r noResolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	r.t.Errorf("the DNS was asked for %s", host)
	return nil, errors.New("no")
}

func TestOnionFailures(t *testing.T) {
	refusing, _ := socksServer(t, 5, "")
	silent := listen(t).Addr().String()
	for _, tc := range []struct {
		about, proxy string
		cfg          Config
		want         *refusal
	}{
		{"refused by the proxy", refusing, Config{}, refusedUnreachable},
		{"no proxy", closedPort(t), Config{}, refusedUnreachable},
		{"a silent proxy", silent, Config{DialTimeout: 50 * time.Millisecond}, refusedDialTimeout},
	} {
		t.Run(tc.about, func(t *testing.T) {
			tc.cfg.Allow, tc.cfg.OnionProxy = []string{onionName + ":9735"}, tc.proxy
			_, resp, err := serve(t, tc.cfg).dial(t, "/"+onionName, "")
			if err == nil {
				t.Fatal("connected")
			}
			expectStatus(t, resp, tc.want)
		})
	}
}
