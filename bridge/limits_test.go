//go:build !js

package bridge

import (
	"errors"
	"net/netip"
	"testing"
)

func TestLimits(t *testing.T) {
	a, b := netip.MustParsePrefix("1.2.3.4/32"), netip.MustParsePrefix("2001:db8::/64")
	l := newLimits(caps{total: 3, perClient: 2})
	enter := func(client netip.Prefix, want error) *place {
		t.Helper()
		p, err := l.enter(client)
		if !errors.Is(err, want) {
			t.Fatalf("got %v, want %v", err, want)
		}
		return p
	}
	first := enter(a, nil)
	second := enter(a, nil)
	enter(a, refusedClientLimit)
	third := enter(b, nil)
	enter(b, refusedFull)
	if total, _, open := l.state(); total != 3 || open {
		t.Errorf("%d connections, open %v", total, open)
	}
	first.leave()
	fourth := enter(b, nil)
	third.leave()
	fourth.leave()
	fifth := enter(a, nil)
	l.close()
	second.leave()
	enter(a, refusedShuttingDown)
	fifth.leave()
	if l.total != 0 || len(l.perClient) != 0 {
		t.Errorf("%d connections of %d clients are left", l.total, len(l.perClient))
	}
	l.active.Wait()
}

func TestTargetAndDialLimits(t *testing.T) {
	a, b, c := netip.MustParsePrefix("1.2.3.4/32"), netip.MustParsePrefix("1.2.3.5/32"), netip.MustParsePrefix("1.2.3.6/32")
	one, two := endpoint{name: "one.example", port: 9735}, endpoint{name: "two.example", port: 9735}
	l := newLimits(caps{total: 100, perClient: 100, perTarget: 2, dials: 3, dialsPerClient: 2})
	aim := func(client netip.Prefix, target endpoint, want error) *place {
		t.Helper()
		p, err := l.enter(client)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.aim(target); !errors.Is(err, want) {
			t.Fatalf("got %v, want %v", err, want)
		} else if err != nil {
			p.leave()
		}
		return p
	}
	first := aim(a, one, nil)
	second := aim(a, two, nil)
	aim(a, two, refusedClientDials)
	third := aim(b, one, nil)
	aim(b, one, refusedTargetLimit)
	aim(c, two, refusedDials)
	first.landed()
	fourth := aim(c, two, nil)
	aim(c, one, refusedTargetLimit) // landed, but there
	first.leave()
	second.landed()
	fifth := aim(c, one, nil)
	for _, p := range []*place{third, fourth, fifth} {
		p.landed()
	}
	for _, p := range []*place{second, third, fourth, fifth} {
		p.leave()
	}
	if l.dials != 0 || len(l.dialsPerClient) != 0 || len(l.perTarget) != 0 || len(l.perClient) != 0 || l.total != 0 {
		t.Errorf("left: %+v", l)
	}
	l.active.Wait()
}
