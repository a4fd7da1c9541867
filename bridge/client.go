//go:build !js

package bridge

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the reverse proxies whose X-Forwarded-For is believed.
type proxies []netip.Prefix

func newProxies(list []string) (proxies, error) {
	var p proxies
	for _, entry := range list {
		prefix, err := parsePrefix(entry)
		if addr, single := netip.ParseAddr(entry); single == nil && addr.Zone() == "" {
			prefix, err = netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
		}
		if err != nil {
			return nil, Error{ErrInvalidProxy, fmt.Sprintf("trusted proxy %q: it must be an address or a network", entry)}
		}
		p = append(p, prefix)
	}
	return p, nil
}

func (p proxies) contain(addr netip.Addr) bool {
	return slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(addr) })
}

// maxForwardedFor bounds how many entries of X-Forwarded-For are looked at.
const maxForwardedFor = 32

// client returns the address that a request started from. What a trusted proxy
// says was its client is believed, and so on backwards through other trusted
// proxies; what comes before that was written by the client itself. The zero
// Addr stands for clients without an address, on a Unix socket.
func (p proxies) client(r *http.Request) (netip.Addr, error) {
	addr := remoteAddr(r)
	if !p.contain(addr) {
		return addr, nil
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	if len(hops) == 1 && strings.TrimSpace(hops[0]) == "" {
		return addr, nil
	}
	for i := len(hops) - 1; i >= max(0, len(hops)-maxForwardedFor); i-- {
		var ok bool
		if addr, ok = parseHop(strings.TrimSpace(hops[i])); !ok {
			return netip.Addr{}, refusedForwarded
		}
		if !p.contain(addr) {
			break
		}
	}
	return addr, nil
}

// parseHop reads an address, which some proxies write with a port.
func parseHop(s string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	ap, err := netip.ParseAddrPort(s)
	return ap.Addr().Unmap().WithZone(""), err == nil
}

// remoteAddr returns the address at the other end of a request's connection.
func remoteAddr(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// clientKey is what connections of one client are counted by: its IPv4 address,
// or its IPv6 /64, which is the least that a single customer holds. Clients
// whose address is not known count as one.
func clientKey(addr netip.Addr) netip.Prefix {
	if !addr.IsValid() {
		return netip.Prefix{}
	}
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	return netip.PrefixFrom(addr, bits).Masked()
}
