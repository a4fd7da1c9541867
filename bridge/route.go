//go:build !js

package bridge

import (
	"encoding/hex"
	"net/netip"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
)

const (
	// defaultPort is the port of Lightning nodes on TCP (BOLT-1).
	defaultPort = 9735

	// nodeIDSize is the length in bytes of a node's public key.
	nodeIDSize = btcec.PubKeyBytesLenCompressed
)

// endpoint is a host and a port in their one canonical spelling, so that two
// endpoints are the same exactly when they compare equal.
type endpoint struct {
	addr netip.Addr // the zero Addr when the host is a name
	name string     // lower case, without trailing dot; empty when addr is set
	port uint16
}

func (e endpoint) String() string {
	if e.addr.IsValid() {
		return netip.AddrPortFrom(e.addr, e.port).String()
	}
	return e.name + ":" + strconv.Itoa(int(e.port))
}

// nodeID is a compressed public key that is a point of the curve.
type nodeID [nodeIDSize]byte

// routeKind is a form of path.
type routeKind string

// The forms of path, as Config.Routes names them.
const (
	routeAddress = routeKind("address")
	routeV1      = routeKind("v1")
	routeNode    = routeKind("node")
)

// Routes returns the names of all forms of path, as Config.Routes takes them.
func Routes() []string {
	return []string{string(routeAddress), string(routeV1), string(routeNode)}
}

// route is what a request's path asks for: a node, or else an endpoint.
type route struct {
	kind     routeKind
	node     nodeID
	endpoint endpoint
}

// parseRoute reads the decoded path of a request.
func parseRoute(path string) (route, bool) {
	parts := strings.Split(path, "/")
	if parts[0] != "" {
		return route{}, false
	}
	switch parts = parts[1:]; {
	case len(parts) == 1:
		e, ok := parseEndpoint(parts[0], defaultPort)
		return route{kind: routeAddress, endpoint: e}, ok
	case len(parts) == 2 && parts[0] == "node":
		id, ok := parseNodeID(parts[1])
		return route{kind: routeNode, node: id}, ok
	case len(parts) == 3 && parts[0] == "v1":
		e, ok := parseHost(strings.ReplaceAll(parts[1], "_", "."))
		if !ok {
			return route{}, false
		}
		e.port, ok = parsePort(parts[2])
		return route{kind: routeV1, endpoint: e}, ok
	}
	return route{}, false
}

// parseNodeID reads 66 hex digits that are a compressed point of the curve.
func parseNodeID(s string) (nodeID, bool) {
	var id nodeID
	if len(s) != hex.EncodedLen(nodeIDSize) {
		return id, false
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return id, false
	}
	_, err := btcec.ParsePubKey(id[:])
	return id, err == nil
}

// parseEndpoint reads HOST or HOST:PORT; a port of 0 as default means that the
// port must be there.
func parseEndpoint(s string, port uint16) (endpoint, bool) {
	host := s
	// The port follows the last colon, unless that colon is inside brackets.
	if i := strings.LastIndexByte(s, ':'); i > strings.LastIndexByte(s, ']') {
		var ok bool
		if port, ok = parsePort(s[i+1:]); !ok {
			return endpoint{}, false
		}
		host = s[:i]
	}
	e, ok := parseHost(host)
	e.port = port
	return e, ok && port != 0
}

// parsePort reads a port of 1 to 65535 in plain decimal.
func parsePort(s string) (uint16, bool) {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 16)
	return uint16(n), err == nil
}

// parseHost reads an IPv4 address, an IPv6 address in brackets, or a DNS name,
// and leaves the port at zero. Addresses have one spelling each: decimal, octal
// and shortened IPv4 forms, which resolvers of the operating system understand,
// are neither addresses nor names here.
func parseHost(s string) (endpoint, bool) {
	if inner, ok := strings.CutPrefix(s, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		addr, err := netip.ParseAddr(inner)
		if !ok || err != nil || !addr.Is6() || addr.Zone() != "" {
			return endpoint{}, false
		}
		return endpoint{addr: addr.Unmap()}, true
	}
	name := strings.TrimSuffix(strings.ToLower(s), ".")
	if addr, err := netip.ParseAddr(name); err == nil {
		return endpoint{addr: addr}, addr.Is4()
	}
	if isOnion(name) {
		return endpoint{name: name}, isOnionAddress(name)
	}
	return endpoint{name: name}, isName(name)
}

// isName tells whether s, in lower case, is a DNS name of letters, digits,
// hyphens and underscores whose last label cannot be taken for a number.
func isName(s string) bool {
	if len(s) > 253 {
		return false
	}
	labels := strings.Split(s, ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, c := range []byte(label) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return last[0] < '0' || last[0] > '9'
}
