//go:build !js

package bridge

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
)

// checkUpgrade refuses what accept would refuse, so that a request which cannot
// become a WebSocket costs no dial.
func checkUpgrade(r *http.Request) error {
	if r.Method != http.MethodGet || !r.ProtoAtLeast(1, 1) || r.ProtoMajor != 1 ||
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

const (
	// readerSize is the library's buffer for frame headers. What follows a
	// header is read past it.
	readerSize = 16

	// writerSize is the library's buffer for control frames.
	writerSize = 2 + maxControlSize
)

// clientConn is the WebSocket of a client.
type clientConn struct {
	*websocket.Conn
	carrier *carrier
}

// hijacker hands the connection over to the library inside a carrier.
type hijacker struct {
	http.ResponseWriter
	carrier *carrier
}

// Hijack leaves the server's buffers behind: 4 KiB each, too much to be kept for
// a connection that does nothing.
func (h *hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	early, err := buffers.Reader.Peek(buffers.Reader.Buffered())
	if err != nil {
		return nil, nil, closeAfter(conn, err)
	}
	h.carrier, err = newCarrier(upgraded(conn), clock{time.Now()}, early)
	if err != nil {
		return nil, nil, closeAfter(conn, err)
	}
	h.carrier.headers = bufio.NewReaderSize(h.carrier, readerSize)
	return h.carrier, bufio.NewReadWriter(h.carrier.headers, bufio.NewWriterSize(h.carrier, writerSize)), nil
}

func closeAfter(conn net.Conn, err error) error {
	_ = conn.Close() // the first error is the one that counts
	return err
}

// upgraded tells the listener that a connection has left the HTTP server, and
// returns what is under the listener's own.
func upgraded(conn net.Conn) net.Conn {
	if inner, ok := underTLS(conn).(*admitted); ok {
		inner.settle()
	}
	if outer, ok := conn.(*admitted); ok {
		return outer.TCPConn
	}
	return conn
}

// underTLS returns what a TLS connection runs over, and other connections as
// they are.
func underTLS(conn net.Conn) net.Conn {
	if c, ok := conn.(*tls.Conn); ok {
		return c.NetConn()
	}
	return conn
}

// accept answers the upgrade. The origin was checked before, by an exact list;
// what flows is ciphertext, so compression would only cost.
func accept(w http.ResponseWriter, r *http.Request) (*clientConn, error) {
	h := &hijacker{ResponseWriter: w}
	ws, err := websocket.Accept(h, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
		Subprotocols:       []string{subprotocol},
		OnPingReceived: func(_ context.Context, payload []byte) bool {
			// If this fails, so does the next read.
			_ = h.carrier.control(framePong, payload)
			return false
		},
	})
	if err != nil {
		return nil, err
	}
	return &clientConn{ws, h.carrier}, nil
}

// turnAway upgrades a client only to tell it, by a close code, why it is not
// served.
func turnAway(w http.ResponseWriter, r *http.Request, why *refusal) error {
	ws, err := accept(w, r)
	if err != nil {
		return err
	}
	defer func() { _ = ws.CloseNow() }()
	ws.SetReadLimit(-1)
	if err := ws.carrier.SetDeadline(time.Now().Add(closeTimeout)); err != nil {
		return err
	}
	if err := ws.carrier.sendClose(why.closeCode(), why.reason); err != nil {
		return err
	}
	// Until it answers, or is late: closing earlier could take the close frame
	// back from a client that is still sending.
	(&clientStream{ws: ws.Conn}).discard()
	return nil
}
