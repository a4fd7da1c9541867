package bridge

import (
	"encoding/json"
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
	refusedOrigin       = &refusal{http.StatusForbidden, "this origin may not use the bridge"}
	refusedNoOrigin     = &refusal{http.StatusForbidden, "requests without an Origin header are only accepted from the bridge's own machine"}
	refusedTarget       = &refusal{http.StatusForbidden, "the target is not on the bridge's allow-list"}
	refusedAddress      = &refusal{http.StatusForbidden, "the target's name leads to an address that the bridge may not reach"}
	refusedHost         = &refusal{http.StatusMisdirectedRequest, "the Host header names another server"}
	refusedNoUpgrade    = &refusal{http.StatusUpgradeRequired, "this is a WebSocket bridge: the request must ask for an upgrade"}
	refusedClientLimit  = &refusal{http.StatusTooManyRequests, "too many connections from this client"}
	refusedUnresolved   = &refusal{http.StatusBadGateway, "the node's host name cannot be resolved"}
	refusedUnreachable  = &refusal{http.StatusBadGateway, "the node cannot be reached"}
	refusedFull         = &refusal{http.StatusServiceUnavailable, "the bridge has no room for another connection"}
	refusedShuttingDown = &refusal{http.StatusServiceUnavailable, "the bridge is shutting down"}
	refusedDialTimeout  = &refusal{http.StatusGatewayTimeout, "the node did not answer in time"}
)

// write answers an HTTP request with the refusal.
func (r *refusal) write(w http.ResponseWriter) error {
	body, err := json.Marshal(struct {
		Status int    `json:"status"`
		Reason string `json:"reason"`
	}{r.status, r.reason})
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
