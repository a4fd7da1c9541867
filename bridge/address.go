//go:build !js

package bridge

import (
	"encoding/binary"
	"net"
	"net/netip"
	"slices"
)

// isPublic tells whether addr, unmapped, is an address of the open internet.
func isPublic(addr netip.Addr) bool {
	_, special := specialBlock(addr)
	return !special
}

// specialBlock finds the block for which addr, unmapped, is no address of the
// open internet. Addresses of IPv6 that are not handed out for global unicast
// are special unseen, each in a /16 of its own unless a larger block is known.
func specialBlock(addr netip.Addr) (netip.Prefix, bool) {
	blocks := specialIPv6
	if addr.Is4() {
		blocks = specialIPv4
	}
	for _, block := range blocks {
		if block.Contains(addr.WithZone("")) {
			return block, true
		}
	}
	switch {
	case addr.Is4():
		return netip.Prefix{}, false
	case !globalIPv6.Contains(addr.WithZone("")):
		return netip.PrefixFrom(addr.WithZone(""), 16).Masked(), true
	case addr.Zone() != "" || isISATAP(addr):
		return netip.PrefixFrom(addr.WithZone(""), 128), true
	}
	return netip.Prefix{}, false
}

// isISATAP tells whether an IPv6 address tunnels to the IPv4 address in its last
// 32 bits (RFC 5214).
func isISATAP(addr netip.Addr) bool {
	b := addr.As16()
	return binary.BigEndian.Uint32(b[8:12])&^0x02000000 == 0x00005efe
}

// globalIPv6 is all of IPv6 that is handed out for global unicast.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// The blocks of IANA's special-purpose address registries that are not, or not
// certainly, hosts of the open internet.
var (
	specialIPv4 = prefixes(
		"0.0.0.0/8",       // this network, unspecified
		"10.0.0.0/8",      // private
		"100.64.0.0/10",   // shared by carriers
		"127.0.0.0/8",     // loopback
		"169.254.0.0/16",  // link-local, metadata of clouds
		"172.16.0.0/12",   // private
		"192.0.0.0/24",    // protocol assignments
		"192.0.2.0/24",    // documentation
		"192.31.196.0/24", // AS112
		"192.52.193.0/24", // AMT
		"192.88.99.0/24",  // 6to4 relays
		"192.168.0.0/16",  // private
		"192.175.48.0/24", // AS112
		"198.18.0.0/15",   // benchmarks
		"198.51.100.0/24", // documentation
		"203.0.113.0/24",  // documentation
		"224.0.0.0/4",     // multicast
		"240.0.0.0/4",     // reserved, broadcast
	)
	specialIPv6 = prefixes(
		"::/128",            // unspecified
		"::1/128",           // loopback
		"::/96",             // IPv4-compatible
		"::ffff:0:0/96",     // IPv4-mapped
		"::ffff:0:0:0/96",   // IPv4-translated
		"64:ff9b::/96",      // NAT64
		"64:ff9b:1::/48",    // NAT64 of local use
		"100::/64",          // discard-only
		"2001::/23",         // protocol assignments, among them Teredo
		"2001:db8::/32",     // documentation
		"2002::/16",         // 6to4, which can embed any IPv4 address
		"2620:4f:8000::/48", // AS112
		"3fff::/20",         // documentation
		"fc00::/7",          // unique local
		"fe80::/10",         // link-local
		"fec0::/10",         // site-local
		"ff00::/8",          // multicast
	)
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// ownAddresses returns the addresses of this machine, but for those of its
// loopback interface, which are special anyway.
func ownAddresses() ([]netip.Addr, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var own []netip.Addr
	for _, a := range found {
		if network, ok := a.(*net.IPNet); ok {
			if addr, ok := netip.AddrFromSlice(network.IP); ok && !addr.IsLoopback() {
				own = append(own, addr.Unmap())
			}
		}
	}
	return slices.Clip(own), nil
}
