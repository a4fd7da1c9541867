//go:build !js

package bridge

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
)

// gatekeeper decides from a request's headers who may use the bridge.
type gatekeeper struct {
	origins       map[string]bool
	publicHosts   map[string]bool
	allowNoOrigin bool
	tokens        tokens
	proxies       proxies
}

func newGatekeeper(cfg Config) (*gatekeeper, error) {
	g := &gatekeeper{
		origins:       map[string]bool{},
		publicHosts:   map[string]bool{},
		allowNoOrigin: cfg.AllowNoOrigin,
	}
	for _, origin := range cfg.Origins {
		if err := validateOrigin(origin); err != nil {
			return nil, err
		}
		g.origins[origin] = true
	}
	for _, host := range cfg.PublicHosts {
		e, ok := parseEndpoint(host, defaultHTTPPort)
		if !ok {
			return nil, Error{ErrInvalidPublicHost, fmt.Sprintf("public host %q: it must be a host with an optional port", host)}
		}
		g.publicHosts[e.String()] = true
	}
	var err error
	if g.tokens, err = newTokens(cfg.Tokens); err != nil {
		return nil, err
	}
	if g.proxies, err = newProxies(cfg.TrustedProxies); err != nil {
		return nil, err
	}
	return g, nil
}

// validateOrigin makes sure that an entry of the list can match at all: browsers
// send the scheme and the host in lower case, no default port and no path.
func validateOrigin(origin string) error {
	if origin == "null" {
		return nil
	}
	invalid := func(why string) error {
		return Error{ErrInvalidOrigin, fmt.Sprintf("origin %q: %s", origin, why)}
	}
	u, err := url.Parse(origin)
	if err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host || u.Hostname() == "" {
		return invalid("it must be a scheme, :// and a host, with no path")
	}
	if origin != strings.ToLower(origin) {
		return invalid("browsers send origins in lower case")
	}
	if port := u.Port(); port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		return invalid("browsers leave out the default port")
	}
	return nil
}

// defaultHTTPPort is the port that a Host header without one means.
const defaultHTTPPort = 80

// checkHost refuses requests whose Host header is not one of the bridge's
// names, and so a page whose own name was made to resolve to the bridge. With
// no list, the address that the client reached and localhost are its names.
func (g *gatekeeper) checkHost(r *http.Request) error {
	e, ok := parseEndpoint(r.Host, defaultHTTPPort)
	if !ok {
		return refusedHost
	}
	if len(g.publicHosts) > 0 {
		if !g.publicHosts[e.String()] {
			return refusedHost
		}
		return nil
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return refusedHost
	}
	ap, err := netip.ParseAddrPort(local.String())
	if err != nil || e.port != ap.Port() {
		return refusedHost
	}
	if e.name != "localhost" && e.addr != ap.Addr().Unmap().WithZone("") {
		return refusedHost
	}
	return nil
}

// checkClient accepts a page by its Origin, and a program, which sends none, by
// its token or where it comes from. Where there are tokens, everybody needs one:
// programs can send any Origin. It also tells whether the client is a page whose
// Origin was accepted.
func (g *gatekeeper) checkClient(r *http.Request) (browser bool, err error) {
	switch values := r.Header.Values("Origin"); {
	case len(values) == 0:
		if len(g.tokens) == 0 && !g.allowNoOrigin && !g.fromLoopback(r) {
			return false, refusedNoOrigin
		}
	case len(values) == 1 && g.origins[values[0]]:
		browser = true
	default:
		return false, refusedOrigin
	}
	if len(g.tokens) > 0 && !g.tokens.contain(offeredToken(r.Header)) {
		return browser, refusedToken
	}
	return browser, nil
}

// forwardingHeaders are set by reverse proxies. A request with one of them
// reached the loopback address, but did not start there.
var forwardingHeaders = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}

// fromLoopback tells whether a request started on this machine. What comes from
// a trusted proxy never counts as such, whatever it forgot to add.
func (g *gatekeeper) fromLoopback(r *http.Request) bool {
	for _, name := range forwardingHeaders {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	addr := remoteAddr(r)
	return addr.IsLoopback() && !g.proxies.contain(addr)
}
