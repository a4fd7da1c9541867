//go:build !js

package bridge

import (
	"context"
	"encoding/hex"
	"net"
	"net/netip"
	"strings"
)

const testOrigin = "https://wallet.example"

// The base point and twice the base point: keys that stand for nodes.
const (
	nodeA = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	nodeB = "02c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
)

// anAct is well formed: version 0, a point of the curve and a tag.
var anAct = mustHex("00" + nodeA + strings.Repeat("ab", 16))

func mustHex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}

// fakeResolver answers from a table. A name that is not in it does not exist.
type fakeResolver map[string][]netip.Addr

func (r fakeResolver) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	addrs, ok := r[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, nil
}
