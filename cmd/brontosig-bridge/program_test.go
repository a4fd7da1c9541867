//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// writeCertificate writes a new certificate for 127.0.0.1, and its key.
func writeCertificate(t *testing.T, chain, key string, serial int64) *x509.CertPool {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, chain, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
	writeFile(t, key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes})))
	pool := x509.NewCertPool()
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool.AddCert(parsed)
	return pool
}

// reach opens a path of the bridge, and returns the status of a refusal.
func (p *process) reach(t *testing.T, path string, roots *x509.CertPool) (*websocket.Conn, int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}}
	ws, resp, err := websocket.Dial(t.Context(), p.ready.Bridge+path, &websocket.DialOptions{HTTPClient: client})
	switch {
	case err == nil:
		t.Cleanup(func() { _ = ws.CloseNow() })
		return ws, 0
	case resp == nil:
		return nil, -1
	}
	return nil, resp.StatusCode
}

// TestReload changes the allow-list and the certificate of a running bridge,
// breaks both, and mends them.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	chain, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := writeCertificate(t, chain, key, 1)
	config := filepath.Join(dir, "bridge.toml")
	writeFile(t, config, "deny = ['127.0.0.0/8']\ndemo = true\n")
	p := start(t, nil, "--config", config, "--tls-cert", chain, "--tls-key", key)
	path := "/node/" + p.ready.DemoPeer.NodeID
	if !strings.HasPrefix(p.ready.Bridge, "wss://") {
		t.Fatalf("ready line %+v", p.ready)
	}
	if _, status := p.reach(t, path, first); status != http.StatusForbidden {
		t.Errorf("a denied target: status %d", status)
	}
	if _, status := p.reach(t, path, x509.NewCertPool()); status != -1 {
		t.Errorf("an unknown certificate was accepted: status %d", status)
	}

	writeFile(t, config, "demo = true\n")
	second := writeCertificate(t, chain, key, 2)
	p.signal(t, syscall.SIGHUP)
	p.log.await(t, "the certificate was reloaded", 1)
	if _, status := p.reach(t, path, first); status != -1 {
		t.Errorf("the old certificate is there: status %d", status)
	}
	open, status := p.reach(t, path, second)
	if status != 0 {
		t.Fatalf("after the reload: status %d", status)
	}

	writeFile(t, config, "alow = ['127.0.0.1:1']\n")
	writeFile(t, chain, "nonsense")
	p.signal(t, syscall.SIGHUP)
	p.log.await(t, "the configuration was not reloaded", 1)
	p.log.await(t, "the certificate was not reloaded", 1)
	if _, status := p.reach(t, path, second); status != 0 {
		t.Errorf("after a reload that failed: status %d", status)
	}

	writeFile(t, config, "demo = true\nroute = ['address']\n")
	p.signal(t, syscall.SIGHUP)
	p.log.await(t, "the configuration was reloaded", 2)
	if _, status := p.reach(t, path, second); status != http.StatusForbidden {
		t.Errorf("a route that is turned off: status %d", status)
	}
	// What was open before is so still.
	if err := open.Ping(open.CloseRead(t.Context())); err != nil {
		t.Error(err)
	}
	p.signal(t, syscall.SIGTERM)
	p.expectEnd(t)
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestStatus asks the status listener of a bridge that is free, full, and
// shutting down.
func TestStatus(t *testing.T) {
	p := start(t, nil, "--demo", "--status-listen=127.0.0.1:0", "--max-connections=1", "--log-format=json", "--drain-timeout=1s")
	path := "/node/" + p.ready.DemoPeer.NodeID
	for _, name := range []string{"/healthz", "/readyz"} {
		if status, body := get(t, p.ready.Status+name); status != http.StatusOK || body != "ok\n" {
			t.Errorf("%s: %d %q", name, status, body)
		}
	}
	// A bridge answers nothing of this on its own listener.
	if status, _ := get(t, "http"+strings.TrimPrefix(p.ready.Bridge, "ws")+"/metrics"); status != http.StatusUpgradeRequired {
		t.Errorf("metrics on the bridge's listener: status %d", status)
	}
	open, status := p.reach(t, path, nil)
	if status != 0 {
		t.Fatalf("status %d", status)
	}
	if _, status := p.reach(t, path, nil); status != http.StatusServiceUnavailable {
		t.Errorf("one too many: status %d", status)
	}
	if status, _ := get(t, p.ready.Status+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("a full bridge is ready: status %d", status)
	}
	if status, _ := get(t, p.ready.Status+"/healthz"); status != http.StatusOK {
		t.Errorf("a full bridge is dead: status %d", status)
	}
	_, metrics := get(t, p.ready.Status+"/metrics")
	for _, line := range []string{
		"brontosig_bridge_connections 1\n",
		"brontosig_bridge_connections_total 1\n",
		"brontosig_bridge_capacity 1\n",
		"brontosig_bridge_dials 0\n",
		"brontosig_bridge_dial_seconds_count 1\n",
		`brontosig_bridge_bytes_total{from="client"} 0` + "\n",
		`brontosig_bridge_refused_total{reason="the bridge has no room for another connection",status="503"} 1` + "\n",
		"process_open_fds ", "go_goroutines ",
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics do not have %s", line)
		}
	}
	// A client that does not answer the close frame is cut off in the end, and
	// that is no failure. Until then the bridge lives, and is not ready.
	p.signal(t, syscall.SIGTERM)
	p.log.await(t, `"msg":"shutting down"`, 1)
	if status, _ := get(t, p.ready.Status+"/healthz"); status != http.StatusOK {
		t.Errorf("a bridge that shuts down is dead: status %d", status)
	}
	if status, _ := get(t, p.ready.Status+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("a bridge that shuts down is ready: status %d", status)
	}
	p.log.await(t, "connections were cut off", 1)
	p.expectEnd(t)
	_, _, err := open.Read(t.Context())
	if websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the client got %v", err)
	}
}

// TestSecondSignal makes sure that whoever does not want to wait need not.
func TestSecondSignal(t *testing.T) {
	p := start(t, nil, "--demo", "--drain-timeout=10m")
	if _, status := p.reach(t, "/node/"+p.ready.DemoPeer.NodeID, nil); status != 0 {
		t.Fatalf("status %d", status)
	}
	p.signal(t, syscall.SIGTERM)
	p.log.await(t, "shutting down", 1)
	p.signal(t, syscall.SIGTERM)
	if err := p.Wait(); p.ProcessState.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("it ended with %v", err)
	}
}

// TestFewDescriptors gives a bridge so few that they are what bounds it.
func TestFewDescriptors(t *testing.T) {
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	p := start(t, []string{fmt.Sprintf("%s=%d", testLimit, 490)}, "--demo", "--status-listen=127.0.0.1:0", "--max-per-client=1000")
	_, metrics := get(t, p.ready.Status+"/metrics")
	if !strings.Contains(metrics, "brontosig_bridge_capacity 13\n") {
		t.Errorf("the capacity is not what the limit allows:\n%s", metrics)
	}
	path := "/node/" + p.ready.DemoPeer.NodeID
	for i := range 13 {
		if _, status := p.reach(t, path, nil); status != 0 {
			t.Fatalf("connection %d: status %d", i, status)
		}
	}
	// Many more than there are descriptors: each is answered or closed.
	address := strings.TrimPrefix(p.ready.Bridge, "ws://")
	for i := range 600 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%100))}}
		conn, err := d.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if _, status := p.reach(t, path, nil); status != http.StatusServiceUnavailable {
		t.Errorf("beyond the capacity: status %d", status)
	}
	if strings.Contains(p.log.String(), "too many open files") {
		t.Errorf("it ran out of descriptors:\n%s", p.log.String())
	}
	p.signal(t, syscall.SIGTERM)
	_ = p.Wait() // clients that do not answer are cut off; how that ends is another test's
}
