//go:build !js

package bridge

import (
	"net/netip"
	"strings"
	"testing"
)

func TestParseRoute(t *testing.T) {
	v4 := func(s string, port uint16) route {
		return route{kind: routeAddress, endpoint: endpoint{addr: netip.MustParseAddr(s), port: port}}
	}
	name := func(s string, port uint16) route {
		return route{kind: routeAddress, endpoint: endpoint{name: s, port: port}}
	}
	v1 := func(r route) route { r.kind = routeV1; return r }
	byKey := route{kind: routeNode, node: nodeID(mustHex(nodeA))}

	for path, want := range map[string]route{
		"/1.2.3.4:9736":                   v4("1.2.3.4", 9736),
		"/1.2.3.4":                        v4("1.2.3.4", 9735),
		"/1.2.3.4.:1":                     v4("1.2.3.4", 1),
		"/[2001:db8::1]:65535":            v4("2001:db8::1", 65535),
		"/[2001:DB8:0:0::1]":              v4("2001:db8::1", 9735),
		"/[::ffff:1.2.3.4]:9735":          v4("1.2.3.4", 9735),
		"/Node.Example.COM:9735":          name("node.example.com", 9735),
		"/node.example.com.":              name("node.example.com", 9735),
		"/node":                           name("node", 9735),
		"/my_node.example:9735":           name("my_node.example", 9735),
		"/v1/1_2_3_4/9735":                v1(v4("1.2.3.4", 9735)),
		"/v1/1.2.3.4/9735":                v1(v4("1.2.3.4", 9735)),
		"/v1/node_example_com/9999":       v1(name("node.example.com", 9999)),
		"/v1/[2001:db8::1]/9735":          v1(v4("2001:db8::1", 9735)),
		"/node/" + nodeA:                  byKey,
		"/node/" + strings.ToUpper(nodeA): byKey,
	} {
		if got, ok := parseRoute(path); !ok || got != want {
			t.Errorf("%s: got %+v, %v", path, got, ok)
		}
	}

	for _, path := range []string{
		"", "/", "*", "host:9735", "//", "/:9735", "/host:", "/host:0", "/host:65536", "/host:+1", "/host:01", "/host:1e3",
		"/host:9735/", "/host:9735:9735", "/2001:db8::1", "/2001:db8::1:9735", "/[2001:db8::1", "/2001:db8::1]", "/[::1]9735",
		"/[1.2.3.4]:9735", "/[fe80::1%eth0]:9735", "/[]:9735",
		"/2130706433", "/0x7f.1", "/0177.0.0.1", "/127.1", "/1.2.3.4.5", "/1.2.3.256", "/01.2.3.4", "/0x7f000001",
		"/a..b", "/.a", "/-a", "/a-", "/a b", "/a%2eb", "/ä.example", "/host\x00", "/user@host:9735",
		"/" + strings.Repeat("a", 64), "/" + strings.Repeat("a.", 127) + "aa",
		"/v1/host", "/v1//9735", "/v1/host/", "/v1/host/9735/", "/v1/host/x", "/v2/host/9735", "/v1/127_1/9735",
		"/node/", "/node/" + nodeA + "/", "/node/" + nodeA[2:], "/node/" + nodeA + "00", "/node/04" + nodeA[2:],
		"/node/02" + strings.Repeat("ff", 32), "/node/zz" + nodeA[2:], "/nodes/" + nodeA,
	} {
		if got, ok := parseRoute(path); ok {
			t.Errorf("%q: accepted as %+v", path, got)
		}
	}
}

func TestEndpointString(t *testing.T) {
	for want, e := range map[string]endpoint{
		"1.2.3.4:9735":        {addr: netip.MustParseAddr("1.2.3.4"), port: 9735},
		"[2001:db8::1]:1":     {addr: netip.MustParseAddr("2001:db8::1"), port: 1},
		"node.example.com:80": {name: "node.example.com", port: 80},
	} {
		if e.String() != want {
			t.Errorf("got %s, want %s", e, want)
		}
		if got, ok := parseEndpoint(e.String(), 0); !ok || got != e {
			t.Errorf("%s does not read back: %+v, %v", e, got, ok)
		}
	}
}

// FuzzParseRoute makes sure that an accepted path has one meaning: its target's
// own spelling leads to the same target.
func FuzzParseRoute(f *testing.F) {
	for _, seed := range []string{"/1.2.3.4:9735", "/[2001:db8::1]", "/v1/a_b/1", "/node/" + nodeA, "/[::ffff:127.0.0.1]:1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		r, ok := parseRoute(path)
		if !ok || r.kind == routeNode {
			return
		}
		if r.endpoint.port == 0 || r.endpoint.addr.IsValid() == (r.endpoint.name != "") {
			t.Fatalf("%q: incomplete endpoint %+v", path, r.endpoint)
		}
		again, ok := parseRoute("/" + r.endpoint.String())
		if !ok || again.endpoint != r.endpoint {
			t.Fatalf("%q: read as %+v, which reads back as %+v, %v", path, r, again, ok)
		}
	})
}
