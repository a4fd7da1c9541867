//go:build !js

package bridge

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"time"
)

// dial connects to an endpoint that the policy's target returned.
func (p *policy) dial(ctx context.Context, res resolver, to endpoint) (*net.TCPConn, error) {
	if isOnion(to.name) {
		return dialOnion(ctx, p.onionProxy, to)
	}
	addrs, err := p.addresses(ctx, res, to)
	if err != nil {
		return nil, err
	}
	return dialAny(ctx, addrs)
}

// dialAny connects to the first address that answers. The addresses are those
// that the policy checked: no name is looked up again. Each has an equal share of
// the time that is left, so that one dead address does not hide the next.
func dialAny(ctx context.Context, addrs []netip.AddrPort) (*net.TCPConn, error) {
	timedOut := false
	for i, addr := range addrs {
		conn, err := dialOne(ctx, addr, len(addrs)-i)
		if err == nil {
			return conn, nil
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		timedOut = timedOut || isTimeout(err)
	}
	if timedOut {
		return nil, refusedDialTimeout
	}
	return nil, refusedUnreachable
}

func dialOne(ctx context.Context, addr netip.AddrPort, shares int) (*net.TCPConn, error) {
	var d net.Dialer
	if deadline, ok := ctx.Deadline(); ok {
		d.Timeout = time.Until(deadline) / time.Duration(shares)
	}
	return d.DialTCP(ctx, "tcp", netip.AddrPort{}, addr)
}

func isTimeout(err error) bool {
	var ne net.Error
	return errors.As(err, &ne) && ne.Timeout()
}
