package abi

import "github.com/brontosig/brontosig/musig2"

// Numbers of the kinds of tweak at the boundary, indices into TweakKinds.
const (
	TweakPlain = iota
	TweakXOnly
	TweakTaproot
	TweakBIP86
)

// TweakKinds are the names of the kinds of tweak in JavaScript.
var TweakKinds = [...]string{
	TweakPlain:   "plain",
	TweakXOnly:   "xonly",
	TweakTaproot: "taproot",
	TweakBIP86:   "bip86",
}

// SessionStates lists the states of a session in the order of the numbers that
// stand for them at the boundary, counted from 0.
var SessionStates = [...]musig2.SessionState{
	musig2.StateNonces,
	musig2.StateReady,
	musig2.StateSigned,
	musig2.StateComplete,
	musig2.StateFailed,
}
