package bridge

import "net/netip"

// isPublic tells whether addr, unmapped, is an address of the open internet.
func isPublic(addr netip.Addr) bool {
	blocks := specialIPv6
	if addr.Is4() {
		blocks = specialIPv4
	} else if !globalIPv6.Contains(addr) || addr.Zone() != "" {
		return false
	}
	for _, block := range blocks {
		if block.Contains(addr) {
			return false
		}
	}
	return true
}

// globalIPv6 is all of IPv6 that is handed out for global unicast. What lies
// outside is refused unseen: loopback, IPv4-compatible, NAT64 (64:ff9b::/96,
// 64:ff9b:1::/48), discard-only, unique local, link-local, site-local, multicast.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

// The blocks of IANA's special-purpose address registries that are not, or not
// certainly, hosts of the open internet.
var (
	specialIPv4 = prefixes(
		"0.0.0.0/8",       // this network
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
		"2001::/23",         // protocol assignments, among them Teredo
		"2001:db8::/32",     // documentation
		"2002::/16",         // 6to4, which can embed any IPv4 address
		"2620:4f:8000::/48", // AS112
		"3fff::/20",         // documentation
	)
)

func prefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// clientKey is what connections of one client are counted by: its IPv4 address,
// or its IPv6 /64, which is the least that a single customer holds. Clients
// whose address is not known (a Unix socket has none) count as one.
func clientKey(remote string) netip.Prefix {
	ap, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Prefix{}
	}
	addr := ap.Addr().Unmap().WithZone("")
	if addr.Is4() {
		return netip.PrefixFrom(addr, 32)
	}
	return netip.PrefixFrom(addr, 64).Masked()
}
