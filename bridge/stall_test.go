//go:build !js

package bridge

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// rawClient upgrades by hand, so that a test can send frames that no library
// would.
func rawClient(t *testing.T, b *testBridge, path, origin string) net.Conn {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, "http"+strings.TrimPrefix(b.url, "ws")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("Sec-WebSocket-Version", "13")
	r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	conn, err := net.Dial("tcp", r.URL.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(testTimeout)); err != nil {
		t.Fatal(err)
	}
	if err := r.Write(conn); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), r)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("upgrade: %v, %v", resp, err)
	}
	return conn
}

// frame returns a frame that announces 1000 bytes and brings only some, masked
// with zeros.
func frame(kind websocket.MessageType, some []byte) []byte {
	return append([]byte{0x80 | byte(kind), 0x80 | 126, 1000 >> 8, 1000 & 0xff, 0, 0, 0, 0}, some...)
}

// TestStalledFrame makes sure that a client cannot keep a connection that the
// bridge ends by never finishing a frame.
func TestStalledFrame(t *testing.T) {
	target := listen(t).Addr().String()
	for _, tc := range []struct {
		about  string
		path   string
		origin string
		sends  []byte
	}{
		{"text", "/" + target, "", frame(websocket.MessageText, nil)},
		{"more than act one", "/" + target, "", frame(websocket.MessageBinary, append(bytes.Clone(anAct), 0))},
		{"refused", "/192.0.2.1", "https://wallet.example", frame(websocket.MessageBinary, nil)},
	} {
		t.Run(tc.about, func(t *testing.T) {
			t.Parallel()
			b := serve(t, Config{Allow: []string{target}, Origins: []string{"https://wallet.example"}})
			conn := rawClient(t, b, tc.path, tc.origin)
			if _, err := conn.Write(tc.sends); err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("the connection stays open")
			}
		})
	}
}
