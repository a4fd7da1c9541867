//go:build !js

// Package bridge carries BOLT-8 connections from WebSocket clients to Lightning
// nodes that listen on TCP. It sees ciphertext only, and it refuses everything
// that its operator did not allow.
//
// # Routes
//
//	/HOST:PORT     a host name, an IPv4 address or an IPv6 address in brackets;
//	               without ":PORT" the port is 9735
//	/v1/HOST/PORT  the same, with "_" in place of every "." of the host
//	/node/NODEID   a node by its public key, 66 hex digits; the allow-list says
//	               where it is
//
// # How an attempt ends
//
// The bridge dials before it answers the upgrade. A client that sends no Origin
// header hears of a refusal as an HTTP status with a JSON body
// {"status": number, "reason": string}. A browser cannot read that, so once its
// Origin was accepted it gets the upgrade, and at once a close code, which is
// 4000 plus the status, with the same reason.
//
//	400  4400  the path is not a route, or what the client sent is not BOLT-8
//	403  4403  the target, the form of path or the token is not allowed; with
//	           status only: the origin is not
//	     4408  the client sent no act one in time, nobody sent anything for long,
//	           the client does not answer pings, or the connection is too old
//	421        the Host header names another server
//	426        the request does not ask for a WebSocket
//	429  4429  too many connections of one client
//	502  4502  the node cannot be reached, is no Lightning node, or its connection broke
//	503  4503  the bridge has no room, for this node or at all, or is shutting down
//	504  4504  the node did not answer the dial or act one in time
//
// An open connection also ends with 1000 when the node ended its stream, with
// 1001 when the bridge shuts down, with 1003 when the client sent a text message
// and with 1009 when it sent one that is too large. WebSocket knows no half-open
// state: the end of either side ends both, after everything that this side had
// sent is delivered.
package bridge
