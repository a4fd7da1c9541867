//go:build !(js && wasm)

package brontide

import (
	"fmt"
	"net"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
)

// NetAddress is where a node listens, and who it must be.
type NetAddress struct {
	// IdentityKey is the node's static public key.
	IdentityKey *btcec.PublicKey
	// Address is host:port.
	Address string
}

// DialFunc makes a TCP connection. net.DialTimeout is one; a proxy's dialer
// another.
type DialFunc func(network, address string, timeout time.Duration) (net.Conn, error)

// Dial connects to addr by TCP and does the handshake of the initiator. The
// timeout, if above 0, is for both together. A nil dial is net.DialTimeout.
func Dial(local SingleKeyECDH, addr *NetAddress, timeout time.Duration, dial DialFunc) (*Conn, error) {
	if addr == nil || !validKey(addr.IdentityKey) {
		return nil, newError(ErrArgument, "the remote static key is missing or not on the curve")
	}
	if dial == nil {
		dial = net.DialTimeout
	}
	start := time.Now()
	carrier, err := dial("tcp", addr.Address, timeout)
	if err != nil {
		return nil, fmt.Errorf("brontide: %w", err)
	}
	if timeout > 0 {
		// Not 0, which would mean no limit at all.
		timeout = max(timeout-time.Since(start), 1)
	}
	return Client(carrier, local, addr.IdentityKey, timeout)
}
