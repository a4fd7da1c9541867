//go:build !js

package bridge

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
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
	routes    map[routeKind]bool
	nodes     map[nodeID]endpoint
	endpoints map[endpoint]bool
	networks  []network

	publicPorts []uint16 // empty unless all public addresses are allowed
	denied      []netip.Prefix
	onionProxy  string

	// What the bridge is reached by, beside the addresses of its interfaces.
	ownNames []netip.Addr
	// own returns the addresses of the interfaces. Tests replace it.
	own func() ([]netip.Addr, error)
}

// newPolicy reads the part of a configuration that is about targets.
func newPolicy(cfg Config) (*policy, error) {
	p := &policy{
		routes:     map[routeKind]bool{},
		nodes:      map[nodeID]endpoint{},
		endpoints:  map[endpoint]bool{},
		onionProxy: cfg.OnionProxy,
		own:        ownAddresses,
	}
	if len(cfg.Allow) == 0 && !cfg.AllowPublic {
		return nil, Error{ErrNothingAllowed, "the allow-list is empty: the bridge could not reach any node"}
	}
	if err := p.setRoutes(cfg.Routes); err != nil {
		return nil, err
	}
	if cfg.OnionProxy != "" {
		if _, ok := parseEndpoint(cfg.OnionProxy, 0); !ok {
			return nil, Error{ErrInvalidProxy, fmt.Sprintf("SOCKS5 proxy %q: it must be HOST:PORT", cfg.OnionProxy)}
		}
	}
	for _, entry := range cfg.Allow {
		if err := p.add(entry); err != nil {
			return nil, err
		}
	}
	for _, entry := range cfg.Deny {
		prefix, err := parsePrefix(entry)
		if err != nil {
			return nil, Error{ErrInvalidDeny, fmt.Sprintf("deny-list entry %q: %v", entry, err)}
		}
		p.denied = append(p.denied, prefix)
	}
	if err := p.setPublic(cfg); err != nil {
		return nil, err
	}
	for _, host := range cfg.PublicHosts {
		if e, ok := parseEndpoint(host, defaultHTTPPort); ok && e.addr.IsValid() {
			p.ownNames = append(p.ownNames, e.addr)
		}
	}
	return p, nil
}

func (p *policy) setRoutes(names []string) error {
	if len(names) == 0 {
		names = Routes()
	}
	for _, name := range names {
		if !slices.Contains(Routes(), name) {
			return Error{ErrInvalidRoute, fmt.Sprintf("route %q: it must be one of %s", name, strings.Join(Routes(), ", "))}
		}
		p.routes[routeKind(name)] = true
	}
	return nil
}

func (p *policy) setPublic(cfg Config) error {
	switch {
	case !cfg.AllowPublic && len(cfg.PublicPorts) > 0:
		return Error{ErrInvalidPort, "public ports are listed, but public addresses are not allowed"}
	case cfg.AllowPublic && len(cfg.PublicPorts) == 0:
		p.publicPorts = []uint16{defaultPort}
	}
	for _, port := range cfg.PublicPorts {
		if port < 1 || port > 65535 {
			return Error{ErrInvalidPort, fmt.Sprintf("public port %d: it must be between 1 and 65535", port)}
		}
		p.publicPorts = append(p.publicPorts, uint16(port))
	}
	return nil
}

func (p *policy) add(entry string) error {
	invalid := func(why string) error {
		return Error{ErrInvalidAllow, fmt.Sprintf("allow-list entry %q: %s", entry, why)}
	}
	var e endpoint
	id, rest, isNode := strings.Cut(entry, "@")
	switch {
	case isNode:
		node, ok := parseNodeID(id)
		if !ok {
			return invalid("the node's key must be 66 hex digits and a point of the curve")
		}
		if e, ok = parseEndpoint(rest, defaultPort); !ok {
			return invalid("a host, with an optional port, must follow the @")
		}
		if old, ok := p.nodes[node]; ok && old != e {
			return invalid("the same node is already listed at another address")
		}
		p.nodes[node] = e
	case strings.Contains(entry, "/"):
		n, ok := parseNetwork(entry)
		if !ok {
			return invalid("a network must be an address, a slash and the length of the prefix, with no bit set behind it")
		}
		p.networks = append(p.networks, n)
		return nil
	default:
		var ok bool
		if e, ok = parseEndpoint(entry, 0); !ok {
			return invalid("it must be NODEID@HOST:PORT, HOST:PORT or a network in CIDR notation")
		}
	}
	if isOnion(e.name) && p.onionProxy == "" {
		return invalid("an onion service needs a SOCKS5 proxy")
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
	var err error
	n.prefix, err = parsePrefix(addr + "/" + bits)
	return n, err == nil
}

// parsePrefix reads a CIDR in its canonical form. An IPv4-mapped one would match
// nothing, since addresses are unmapped first, and is refused.
func parsePrefix(s string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(s)
	if err != nil || prefix != prefix.Masked() || prefix.Addr().Is4In6() {
		return netip.Prefix{}, errors.New("it must be an address, a slash and the length of the prefix, with no bit set behind it")
	}
	return prefix, nil
}

// target finds the endpoint that a route means, or refuses it. Nothing is asked
// of the network: a name that is not allowed is never resolved.
func (p *policy) target(r route) (endpoint, error) {
	if !p.routes[r.kind] {
		return endpoint{}, refusedRouteOff
	}
	if r.kind == routeNode {
		if e, ok := p.nodes[r.node]; ok {
			return e, nil
		}
		return endpoint{}, refusedTarget
	}
	e := r.endpoint
	switch {
	case p.endpoints[e]:
		return e, nil
	case e.addr.IsValid():
		return e, p.checkAddress(e.addr, e.port, slices.Contains(p.publicPorts, e.port))
	case !slices.Contains(p.publicPorts, e.port):
		return endpoint{}, refusedTarget
	case isOnion(e.name) && p.onionProxy != "", isPublicName(e.name):
		return e, nil
	}
	return endpoint{}, refusedTarget
}

// isPublicName tells whether a name can be one of the public DNS: names of one
// label mean hosts of the local network.
func isPublicName(name string) bool {
	return strings.Contains(name, ".") && !isOnion(name)
}

// addresses returns the addresses to dial for an endpoint that target allowed
// and that is no onion service. A name is resolved once; an answer with one
// address that is neither public nor listed itself refuses the name as a whole,
// so that whoever controls the name cannot lead the bridge into a private
// network.
func (p *policy) addresses(ctx context.Context, res resolver, e endpoint) ([]netip.AddrPort, error) {
	if e.addr.IsValid() {
		// Once more, for addresses that are listed: they may be denied.
		if err := p.checkAddress(e.addr, e.port, true); err != nil {
			return nil, err
		}
		return []netip.AddrPort{netip.AddrPortFrom(e.addr, e.port)}, nil
	}
	name := e.name
	if !p.endpoints[e] {
		// As it stands: a search list could turn a client's name into another.
		name += "."
	}
	found, err := res.LookupNetIP(ctx, "ip", name)
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
		if p.checkAddress(addr, e.port, true) != nil {
			return nil, refusedAddress
		}
		out = append(out, netip.AddrPortFrom(addr, e.port))
	}
	return out, nil
}

// checkAddress refuses what must not be dialled: a denied address, one of the
// bridge's own or of no public block unless it is listed itself, and, unless
// public is set, every other one that is not listed.
func (p *policy) checkAddress(addr netip.Addr, port uint16, public bool) error {
	if p.isDenied(addr) {
		return refusedTarget
	}
	if p.endpoints[endpoint{addr: addr, port: port}] {
		return nil
	}
	named, whole := p.namedBy(addr, port)
	if !named && !public {
		return refusedTarget
	}
	// A network opens a special block only if it is no more than that block:
	// 0.0.0.0/0 means the internet, and not the loopback interface.
	if block, special := specialBlock(addr); special && !(named && whole.Bits() >= block.Bits()) {
		return refusedTarget
	}
	// The bridge's own network may be special, so it may be one that is opened.
	switch own, err := p.isOwn(addr); {
	case err != nil:
		return err
	case own && !(named && whole.IsSingleIP()):
		return refusedTarget
	}
	return nil
}

// namedBy returns the smallest listed network that an address is in.
func (p *policy) namedBy(addr netip.Addr, port uint16) (bool, netip.Prefix) {
	var smallest netip.Prefix
	found := false
	for _, n := range p.networks {
		if n.port == port && n.prefix.Contains(addr) && (!found || n.prefix.Bits() > smallest.Bits()) {
			found, smallest = true, n.prefix
		}
	}
	return found, smallest
}

func (p *policy) isDenied(addr netip.Addr) bool {
	return slices.ContainsFunc(p.denied, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

func (p *policy) isOwn(addr netip.Addr) (bool, error) {
	if slices.Contains(p.ownNames, addr) {
		return true, nil
	}
	own, err := p.own()
	if err != nil {
		return false, refusedAddress
	}
	return slices.Contains(own, addr), nil
}
