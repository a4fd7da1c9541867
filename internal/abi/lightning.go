package abi

import "github.com/brontosig/brontosig/brontide"

// MachineStates are the names of the states of a brontide machine in
// JavaScript.
var MachineStates = [...]string{
	brontide.StateHandshake: "handshake",
	brontide.StateReady:     "ready",
	brontide.StateFailed:    "failed",
}

// AnyPong stands for lnpeer.AnyPong at the boundary. It is no number of bytes.
const AnyPong = 0x10000

// Numbers of the events of the peer layer at the boundary, indices into
// PeerEvents.
const (
	EventNone = iota
	EventInit
	EventMessage
	EventPong
	EventWarning
	EventError
	EventReply
	EventReplyTooLong
	// EventFailure says that the next call returns an error.
	EventFailure
)

// PeerEvents are the names of the events in JavaScript.
var PeerEvents = [...]string{
	EventNone:         "none",
	EventInit:         "init",
	EventMessage:      "message",
	EventPong:         "pong",
	EventWarning:      "warning",
	EventError:        "error",
	EventReply:        "reply",
	EventReplyTooLong: "replyTooLong",
	EventFailure:      "failure",
}
