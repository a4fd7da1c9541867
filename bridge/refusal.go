//go:build !js

package bridge

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/coder/websocket"
)

// refusal is why the bridge does not connect a client. Its reason is told to
// the client, so it is a constant that repeats nothing of what the client sent
// and nothing of what the network answered.
type refusal struct {
	status int
	reason string
}

func (r *refusal) Error() string { return r.reason }

// closeCode is the twin of the status for clients that only see close codes.
func (r *refusal) closeCode() websocket.StatusCode {
	return websocket.StatusCode(4000 + r.status)
}

var (
	refusedRoute        = &refusal{http.StatusBadRequest, "the path is none of /HOST:PORT, /v1/HOST/PORT and /node/NODEID"}
	refusedHandshake    = &refusal{http.StatusBadRequest, "the WebSocket handshake is malformed"}
	refusedForwarded    = &refusal{http.StatusBadRequest, "the X-Forwarded-For header is malformed"}
	refusedOrigin       = &refusal{http.StatusForbidden, "this origin may not use the bridge"}
	refusedNoOrigin     = &refusal{http.StatusForbidden, "requests without an Origin header are only accepted from the bridge's own machine"}
	refusedToken        = &refusal{http.StatusForbidden, "the bridge wants a token, and none that it knows was sent"}
	refusedRouteOff     = &refusal{http.StatusForbidden, "this form of path is turned off"}
	refusedTarget       = &refusal{http.StatusForbidden, "the target is not on the bridge's allow-list"}
	refusedAddress      = &refusal{http.StatusForbidden, "the target's name leads to an address that the bridge may not reach"}
	refusedHost         = &refusal{http.StatusMisdirectedRequest, "the Host header names another server"}
	refusedNoUpgrade    = &refusal{http.StatusUpgradeRequired, "this is a WebSocket bridge: the request must ask for an upgrade"}
	refusedClientLimit  = &refusal{http.StatusTooManyRequests, "too many connections from this client"}
	refusedClientDials  = &refusal{http.StatusTooManyRequests, "too many connections from this client are being made at this moment"}
	refusedUnresolved   = &refusal{http.StatusBadGateway, "the node's host name cannot be resolved"}
	refusedUnreachable  = &refusal{http.StatusBadGateway, "the node cannot be reached"}
	refusedFull         = &refusal{http.StatusServiceUnavailable, "the bridge has no room for another connection"}
	refusedTargetLimit  = &refusal{http.StatusServiceUnavailable, "the bridge has no room for another connection to this node"}
	refusedDials        = &refusal{http.StatusServiceUnavailable, "the bridge is making too many connections at this moment"}
	refusedShuttingDown = &refusal{http.StatusServiceUnavailable, "the bridge is shutting down"}
	refusedDialTimeout  = &refusal{http.StatusGatewayTimeout, "the node did not answer in time"}
)

// body is what an HTTP answer says.
func (r *refusal) body() ([]byte, error) {
	return json.Marshal(struct {
		Status int    `json:"status"`
		Reason string `json:"reason"`
	}{r.status, r.reason})
}

// write answers an HTTP request with the refusal.
func (r *refusal) write(w http.ResponseWriter) error {
	body, err := r.body()
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if r == refusedNoUpgrade {
		w.Header().Set("Connection", "Upgrade")
		w.Header().Set("Upgrade", "websocket")
	}
	w.WriteHeader(r.status)
	_, err = w.Write(body)
	return err
}

// writeRaw answers a connection whose request is not even read.
func (r *refusal) writeRaw(w io.Writer) error {
	body, err := r.body()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "HTTP/1.1 %d %s\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"+
		"Content-Length: %d\r\nConnection: close\r\n\r\n%s", r.status, http.StatusText(r.status), len(body), body)
	return err
}
