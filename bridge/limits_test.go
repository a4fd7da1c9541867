package bridge

import (
	"errors"
	"net/netip"
	"testing"
)

func TestLimits(t *testing.T) {
	a, b := netip.MustParsePrefix("1.2.3.4/32"), netip.MustParsePrefix("2001:db8::/64")
	l := limits{maxTotal: 3, maxPerClient: 2, perClient: map[netip.Prefix]int{}}
	expect := func(client netip.Prefix, want error) {
		t.Helper()
		if err := l.acquire(client); !errors.Is(err, want) {
			t.Fatalf("got %v, want %v", err, want)
		}
	}
	expect(a, nil)
	expect(a, nil)
	expect(a, refusedClientLimit)
	expect(b, nil)
	expect(b, refusedFull)
	l.release(a)
	expect(b, nil)
	l.release(b)
	l.release(b)
	expect(a, nil)
	l.close()
	l.release(a)
	expect(a, refusedShuttingDown)
	l.release(a)
	if l.total != 0 || len(l.perClient) != 0 {
		t.Errorf("%d connections of %d clients are left", l.total, len(l.perClient))
	}
	l.active.Wait()
}
