//go:build !js

package bridge

import (
	"errors"
	"io"

	"github.com/btcsuite/btcd/btcec/v2"
)

// The BOLT-8 gate lets nothing but a Lightning handshake start: the client's
// first bytes must be an act one, and the target's first bytes an act two,
// before the bridge carries anything else to the target. What an allowed target
// hears from a client that is not a Lightning peer is at most one act one.

// actSize is the length in bytes of acts one and two: a version of one byte, a
// compressed ephemeral key of 33 and a tag of 16 (BOLT-8).
const actSize = 1 + btcec.PubKeyBytesLenCompressed + 16

// actVersion is the only version of the handshake there is.
const actVersion = 0

var errNotAct = errors.New("not an act of the BOLT-8 handshake")

// checkAct checks all of an act that can be checked without its key.
func checkAct(act *[actSize]byte) error {
	if act[0] != actVersion {
		return errNotAct
	}
	if _, err := btcec.ParsePubKey(act[1 : 1+btcec.PubKeyBytesLenCompressed]); err != nil {
		return errNotAct
	}
	return nil
}

// readActTwo reads the target's answer. A first byte that is not the version
// ends it at once: a service of another kind may never send 50 bytes. When the
// target ends its stream the error is io.EOF, or io.ErrUnexpectedEOF in the
// middle of the act.
func readActTwo(target io.Reader) (act [actSize]byte, n int, err error) {
	if n, err = io.ReadFull(target, act[:1]); err != nil {
		return act, n, err
	}
	if act[0] != actVersion {
		return act, n, errNotAct
	}
	more, err := io.ReadFull(target, act[1:])
	n += more
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return act, n, err
	}
	return act, n, checkAct(&act)
}
