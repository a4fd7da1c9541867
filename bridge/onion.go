//go:build !js

package bridge

import (
	"context"
	"crypto/sha3"
	"encoding/base32"
	"errors"
	"net"
	"strings"

	"golang.org/x/net/proxy"
)

const onionSuffix = ".onion"

// isOnion tells whether a name of isName's form is that of an onion service. No
// such name is ever asked of the DNS (RFC 7686).
func isOnion(name string) bool {
	return name == onionSuffix[1:] || strings.HasSuffix(name, onionSuffix)
}

// isOnionAddress checks the address of a version 3 onion service without
// subdomains: a key of 32 bytes, two bytes of checksum and the version, in
// base32 (Tor's rend-spec-v3, section 6).
func isOnionAddress(name string) bool {
	b, err := base32.StdEncoding.DecodeString(strings.ToUpper(strings.TrimSuffix(name, onionSuffix)))
	if err != nil || len(b) != 35 || b[34] != 3 {
		return false
	}
	sum := sha3.Sum256(append(append([]byte(".onion checksum"), b[:32]...), 3))
	return sum[0] == b[32] && sum[1] == b[33]
}

// tcpOnly is the forward dialer of the SOCKS client. It keeps the connection,
// which the client would hide inside one of its own.
type tcpOnly struct{ conn *net.TCPConn }

func (d *tcpOnly) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d *tcpOnly) DialContext(ctx context.Context, _, address string) (net.Conn, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	d.conn = conn.(*net.TCPConn)
	return conn, nil
}

// dialOnion connects to an onion service through a SOCKS5 proxy, which resolves
// its name.
func dialOnion(ctx context.Context, socks string, e endpoint) (*net.TCPConn, error) {
	var forward tcpOnly
	dialer, err := proxy.SOCKS5("tcp", socks, nil, &forward)
	if err == nil {
		_, err = dialer.(proxy.ContextDialer).DialContext(ctx, "tcp", e.String())
	}
	switch {
	case err == nil:
		return forward.conn, nil
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case isTimeout(err) || ctx.Err() != nil:
		return nil, refusedDialTimeout
	}
	return nil, refusedUnreachable
}
