//go:build !js

package bridge

import "github.com/coder/websocket"

// ending is how an open connection ends, as the client is told.
type ending struct {
	code   websocket.StatusCode
	reason string
}

var (
	endNodeClosed   = ending{websocket.StatusNormalClosure, "the node closed the connection"}
	endNoActTwo     = ending{websocket.StatusNormalClosure, "the node hung up without answering act one"}
	endClientClosed = ending{websocket.StatusNormalClosure, "the client closed the connection"}
	endShutdown     = ending{websocket.StatusGoingAway, "the bridge is shutting down"}
	endText         = ending{websocket.StatusUnsupportedData, "text messages are not carried: send binary ones"}
	endTooBig       = ending{websocket.StatusMessageTooBig, "the message is larger than the bridge takes"}
	endNotActOne    = ending{4400, "the first 50 bytes are not act one of BOLT-8"}
	endTooEarly     = ending{4400, "more bytes than act one were sent before the node's act two"}
	endLateActOne   = ending{4408, "no act one came in time"}
	endIdle         = ending{4408, "the connection was idle for too long"}
	endNoPong       = ending{4408, "the client does not answer pings"}
	endTooOld       = ending{4408, "the connection has lasted as long as the bridge lets one: connect again"}
	endNotActTwo    = ending{4502, "the node's answer is not act two of BOLT-8"}
	endNodeLost     = ending{4502, "the connection to the node broke"}
	endLateActTwo   = ending{4504, "the node did not answer act one in time"}
)

// byNode tells whether the node's side ended first. All that the node had sent
// is then on its way to the client, which may take its time.
func (e ending) byNode() bool {
	return e == endNodeClosed || e == endNoActTwo || e == endNodeLost
}
