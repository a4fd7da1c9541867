package bridge

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// resolver is the part of net.Resolver that the policy needs.
type resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// network is an allow-list entry for all addresses of a prefix, at one port.
type network struct {
	prefix netip.Prefix
	port   uint16
}

// policy says which targets clients may reach. It never changes after it was
// made, so it needs no lock.
type policy struct {
	nodes     map[nodeID]endpoint
	endpoints map[endpoint]bool
	networks  []network
}

// newPolicy reads the allow-list.
func newPolicy(entries []string) (*policy, error) {
	if len(entries) == 0 {
		return nil, Error{ErrNothingAllowed, "the allow-list is empty: the bridge could not reach any node"}
	}
	p := &policy{nodes: map[nodeID]endpoint{}, endpoints: map[endpoint]bool{}}
	for _, entry := range entries {
		if err := p.add(entry); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *policy) add(entry string) error {
	invalid := func(why string) error {
		return Error{ErrInvalidAllow, fmt.Sprintf("allow-list entry %q: %s", entry, why)}
	}
	if id, rest, ok := strings.Cut(entry, "@"); ok {
		node, ok := parseNodeID(id)
		if !ok {
			return invalid("the node's key must be 66 hex digits and a point of the curve")
		}
		e, ok := parseEndpoint(rest, defaultPort)
		if !ok {
			return invalid("a host, with an optional port, must follow the @")
		}
		if old, ok := p.nodes[node]; ok && old != e {
			return invalid("the same node is already listed at another address")
		}
		p.nodes[node] = e
		p.endpoints[e] = true
		return nil
	}
	if strings.Contains(entry, "/") {
		n, ok := parseNetwork(entry)
		if !ok {
			return invalid("a network must be an address, a slash and the length of the prefix, with no bit set behind it")
		}
		p.networks = append(p.networks, n)
		return nil
	}
	e, ok := parseEndpoint(entry, 0)
	if !ok {
		return invalid("it must be NODEID@HOST:PORT, HOST:PORT or a network in CIDR notation")
	}
	p.endpoints[e] = true
	return nil
}

// parseNetwork reads a CIDR with an optional ":PORT" behind it.
func parseNetwork(s string) (network, bool) {
	n := network{port: defaultPort}
	addr, rest, _ := strings.Cut(s, "/")
	bits, port, found := strings.Cut(rest, ":")
	if found {
		var ok bool
		if n.port, ok = parsePort(port); !ok {
			return network{}, false
		}
	}
	prefix, err := netip.ParsePrefix(addr + "/" + bits)
	// An IPv4-mapped prefix would match nothing: targets are unmapped first.
	if err != nil || prefix != prefix.Masked() || prefix.Addr().Is4In6() {
		return network{}, false
	}
	n.prefix = prefix
	return n, true
}

// target finds the endpoint that a route means, or refuses it. Nothing is asked
// of the network: an unlisted name is never resolved.
func (p *policy) target(r route) (endpoint, error) {
	if r.byNode {
		if e, ok := p.nodes[r.node]; ok {
			return e, nil
		}
		return endpoint{}, refusedTarget
	}
	if p.endpoints[r.endpoint] || p.inNetwork(r.endpoint.addr, r.endpoint.port) {
		return r.endpoint, nil
	}
	return endpoint{}, refusedTarget
}

// addresses returns the addresses to dial for an endpoint that target allowed.
// A name is resolved once; an answer with one address that is neither public
// nor listed itself refuses the name as a whole, so that whoever controls the
// name cannot lead the bridge into a private network.
func (p *policy) addresses(ctx context.Context, res resolver, e endpoint) ([]netip.AddrPort, error) {
	if e.addr.IsValid() {
		return []netip.AddrPort{netip.AddrPortFrom(e.addr, e.port)}, nil
	}
	found, err := res.LookupNetIP(ctx, "ip", e.name)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case ctx.Err() != nil:
		return nil, refusedDialTimeout
	case err != nil || len(found) == 0:
		return nil, refusedUnresolved
	}
	out := make([]netip.AddrPort, 0, len(found))
	for _, addr := range found {
		addr = addr.Unmap()
		named := p.endpoints[endpoint{addr: addr, port: e.port}] || p.inNetwork(addr, e.port)
		if !named && !isPublic(addr) {
			return nil, refusedAddress
		}
		out = append(out, netip.AddrPortFrom(addr, e.port))
	}
	return out, nil
}

func (p *policy) inNetwork(addr netip.Addr, port uint16) bool {
	for _, n := range p.networks {
		if n.port == port && n.prefix.Contains(addr) {
			return true
		}
	}
	return false
}
