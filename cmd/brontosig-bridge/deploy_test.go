//go:build unix

package main

import (
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestExampleFile reads the example of a configuration file.
func TestExampleFile(t *testing.T) {
	o, err := parseOptions([]string{"--config=../../deploy/bridge.toml"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Allow) != 1 || len(o.Origin) != 1 || len(o.TrustedProxy) != 1 {
		t.Errorf("got %+v", o)
	}
}

func replace(t *testing.T, text, old, new string) string {
	t.Helper()
	if !strings.Contains(text, old) {
		t.Fatalf("the example has no %q", old)
	}
	return strings.ReplaceAll(text, old, new)
}

// startNginx runs the example for nginx in front of two bridges, without TLS.
func startNginx(t *testing.T, bridges ...*process) (address string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		// Debian's is not in the path of every user.
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			t.Skip("nginx is not installed (Debian: apt-get install nginx-light)")
		}
	}
	text, err := os.ReadFile("../../deploy/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address = l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	site := replace(t, string(text), "listen 443 ssl;", "listen "+address+";")
	site = replace(t, site, "    ssl_certificate     /etc/ssl/bridge.example/fullchain.pem;\n", "")
	site = replace(t, site, "    ssl_certificate_key /etc/ssl/bridge.example/privkey.pem;\n", "")
	for i, b := range bridges {
		site = replace(t, site, []string{"127.0.0.1:8081", "127.0.0.1:8082"}[i], strings.TrimPrefix(b.ready.Bridge, "ws://"))
	}
	config := writeFile(t, filepath.Join(dir, "nginx.conf"), "daemon off; pid "+dir+"/pid; error_log stderr warn;\nevents {}\nhttp {\n"+
		"client_body_temp_path "+dir+"/a; proxy_temp_path "+dir+"/b; fastcgi_temp_path "+dir+"/c; uwsgi_temp_path "+dir+"/d; scgi_temp_path "+dir+"/e;\n"+
		site+"\n}\n")
	var log logLines
	nginx := exec.CommandContext(t.Context(), program, "-e", "stderr", "-p", dir, "-c", config)
	nginx.Stderr = &log
	nginx.Cancel = func() error { return nginx.Process.Signal(syscall.SIGTERM) }
	if err := nginx.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = nginx.Wait() })
	// It says nothing when it is ready.
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if conn, err := net.Dial("tcp", address); err == nil {
			_ = conn.Close()
			return address
		}
	}
	t.Fatalf("nginx does not start:\n%s", log.String())
	return ""
}

// TestBehindNginx runs two bridges behind the example for nginx.
func TestBehindNginx(t *testing.T) {
	const origin = "https://wallet.example"
	common := []string{"--origin=" + origin, "--public-host=bridge.example", "--trusted-proxy=127.0.0.1", "--max-per-client=3"}
	first := start(t, nil, append(common, "--demo")...)
	second := start(t, nil, append(common, "--allow="+first.ready.DemoPeer.NodeID+"@"+first.ready.DemoPeer.Address)...)
	address := startNginx(t, first, second)

	// Clients are told apart by the address that nginx sees, whatever they say.
	dial := func(from string, header http.Header) (*websocket.Conn, *http.Response, error) {
		d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
		header.Set("X-Forwarded-For", "8.8.8.8")
		return websocket.Dial(t.Context(), "ws://"+address+"/node/"+first.ready.DemoPeer.NodeID, &websocket.DialOptions{
			Host: "bridge.example", HTTPHeader: header,
			HTTPClient: &http.Client{Transport: &http.Transport{DialContext: d.DialContext}},
		})
	}
	page := func(from string) *websocket.Conn {
		t.Helper()
		ws, _, err := dial(from, http.Header{"Origin": {origin}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = ws.CloseNow() })
		return ws
	}
	var open []*websocket.Conn
	for range 4 {
		open = append(open, page("127.0.0.21"))
	}
	// Both serve, the one with fewer connections first.
	first.log.await(t, "msg=connected", 2)
	second.log.await(t, "msg=connected", 2)
	first.log.await(t, "client=127.0.0.21 ", 2)
	if strings.Contains(first.log.String()+second.log.String(), "8.8.8.8") {
		t.Error("a client chose its own address")
	}
	// Nobody who comes through a proxy comes from this machine.
	if _, resp, err := dial("127.0.0.1", http.Header{}); err == nil || resp == nil || resp.StatusCode != http.StatusForbidden {
		t.Errorf("a program without an origin: %v and %v", resp, err)
	}
	// A full client hears it through nginx.
	for range 2 {
		open = append(open, page("127.0.0.21"))
	}
	_, _, err := page("127.0.0.21").Read(t.Context())
	if websocket.CloseStatus(err) != 4429 {
		t.Errorf("a client with too many: %v", err)
	}
	// One goes away in good order: its clients hear 1001, and all that come
	// find the other.
	heard := make(chan websocket.StatusCode, len(open))
	for _, ws := range open {
		go func() {
			_, _, err := ws.Read(t.Context())
			heard <- websocket.CloseStatus(err)
		}()
	}
	second.signal(t, syscall.SIGTERM)
	for range 3 {
		if code := <-heard; code != websocket.StatusGoingAway {
			t.Errorf("a client of the bridge that goes away heard %d", code)
		}
	}
	second.expectEnd(t)
	for range 2 {
		page("127.0.0.22")
	}
	first.log.await(t, "client=127.0.0.22 ", 2)
}
