package bridge

import (
	"encoding/base64"
	"net/http"
	"strings"

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

// accept answers the upgrade. The origin was checked before, by an exact list;
// what flows is ciphertext, so compression would only cost.
func accept(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	return websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true,
		CompressionMode:    websocket.CompressionDisabled,
	})
}
