package bridge

import (
	"bufio"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// checkUpgrade refuses what accept would refuse, so that a request which cannot
// become a WebSocket costs no dial.
func checkUpgrade(r *http.Request) error {
	if r.Method != http.MethodGet || !r.ProtoAtLeast(1, 1) ||
		!hasToken(r.Header, "Connection", "upgrade") || !hasToken(r.Header, "Upgrade", "websocket") {
		return refusedNoUpgrade
	}
	keys := r.Header.Values("Sec-Websocket-Key")
	if len(keys) != 1 || r.Header.Get("Sec-Websocket-Version") != "13" {
		return refusedHandshake
	}
	if key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(keys[0])); err != nil || len(key) != 16 {
		return refusedHandshake
	}
	return nil
}

// hasToken looks for a token in a header that is a list.
func hasToken(h http.Header, name, token string) bool {
	for _, line := range h.Values(name) {
		for item := range strings.SplitSeq(line, ",") {
			if strings.EqualFold(strings.TrimSpace(item), token) {
				return true
			}
		}
	}
	return false
}

// closeTimeout bounds how long a client may take to answer a close frame.
const closeTimeout = 5 * time.Second

// clientConn is the WebSocket of a client.
type clientConn struct {
	*websocket.Conn
	carrier net.Conn
}

// Close sends a close frame and gives the client closeTimeout to answer it. The
// library's own Close bounds the wait for a frame, but not for the rest of one
// that has begun: a client could hold its place for ever.
func (c *clientConn) Close(code websocket.StatusCode, reason string) error {
	if err := c.carrier.SetReadDeadline(time.Now().Add(closeTimeout)); err != nil {
		return errors.Join(err, c.CloseNow())
	}
	return c.Conn.Close(code, reason)
}

// hijacker keeps the connection that it hands over.
type hijacker struct {
	http.ResponseWriter
	carrier net.Conn
}

func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.carrier = conn
	return conn, buffers, err
}

// accept answers the upgrade. The origin was checked before, by an exact list;
// what flows is ciphertext, so compression would only cost.
func accept(w http.ResponseWriter, r *http.Request) (*clientConn, error) {
	h := &hijacker{ResponseWriter: w}
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		return nil, err
	}
	return &clientConn{ws, h.carrier}, nil
}
