package lnpeer

import (
	"testing"
)

func TestPing(t *testing.T) {
	p := ready(t)
	for _, c := range []struct{ ping, pong string }{
		{"0012 0000 0000", "0013 0000"},
		{"0012 0003 0002 ffff", "0013 0003 000000"},
		{"0012 fffc 0000", ""}, // 65532
		{"0012 ffff 0000", ""},
		{"0012 0001 0000 0102", "0013 0001 00"}, // an extension
	} {
		event, reply := deliver(t, p, unhex(t, c.ping))
		if event != nil {
			t.Fatalf("%s: event %T", c.ping, event)
		}
		requireHex(t, c.ping, reply, c.pong)
	}
	_, reply := deliver(t, p, unhex(t, "0012 fffb 0000")) // 65531
	if len(reply) != MaxMessageSize {
		t.Fatalf("the longest pong has %d bytes", len(reply))
	}
	for _, bad := range []string{"0012", "0012 00", "0012 0000", "0012 0000 00", "0012 0000 0001", "0013", "0013 0001"} {
		p := ready(t)
		_, reply, err := p.Receive(0, unhex(t, bad))
		requireKind(t, bad, err, ErrMalformed)
		requireWarning(t, reply, err)
	}
}

// ping expects no error, and returns the number of the ping.
func ping(t testing.TB, p *Peer, now Millis, pongBytes int) uint32 {
	t.Helper()
	id, _, err := p.Ping(now, pongBytes, 0)
	requireNil(t, err)
	return id
}

// pong delivers a pong of a length and returns the number of the ping that it
// answers, or 0.
func pong(t testing.TB, p *Peer, now Millis, length int) uint32 {
	t.Helper()
	event, reply, err := p.Receive(now, appendPrefixed(newMessage(TypePong), make([]byte, length)))
	requireNil(t, err)
	if reply != nil {
		t.Fatalf("a pong was answered with %x", reply)
	}
	if event == nil {
		return 0
	}
	e := event.(*Pong)
	if int(e.Length) != length {
		t.Fatalf("a pong of %d bytes is said to have %d", length, e.Length)
	}
	return e.ID
}

func TestPingMessages(t *testing.T) {
	p := ready(t)
	_, msg, err := p.Ping(0, 2, 3)
	requireNil(t, err)
	requireHex(t, "ping", msg, "0012 0002 0003 000000")
	_, msg, err = p.Ping(1000, NoPong, MaxPingPadding)
	requireNil(t, err)
	if len(msg) != MaxMessageSize {
		t.Fatalf("the longest ping has %d bytes", len(msg))
	}
	for _, c := range []struct{ pongBytes, padding int }{{0, -1}, {0, MaxPingPadding + 1}, {-2, 0}, {1 << 16, 0}} {
		_, _, err := p.Ping(9000, c.pongBytes, c.padding)
		requireKind(t, "sizes", err, ErrArgument)
	}
}

func TestPingInterval(t *testing.T) {
	p := ready(t)
	ping(t, p, 5000, 1)
	for now, want := range map[Millis]Millis{5000: 1000, 5001: 999, 5999: 1, 6000: 0, 9000: 0} {
		if got := p.PingDelay(now); got != want {
			t.Fatalf("at %d the delay is %d, want %d", now, got, want)
		}
	}
	_, _, err := p.Ping(5999, 1, 0)
	requireKind(t, "too soon", err, ErrPingTooSoon)
	ping(t, p, 6000, 1)
	if got := ready(t).PingDelay(0); got != 0 {
		t.Fatalf("the first ping has a delay of %d", got)
	}
}

func TestPong(t *testing.T) {
	p := ready(t)
	var now Millis
	next := func(pongBytes int) uint32 {
		now += PingInterval
		return ping(t, p, now, pongBytes)
	}
	first, second := next(2), next(5)
	next(NoPong)
	for _, c := range []struct {
		length int
		want   uint32
	}{{5, second}, {2, first}, {2, 0}, {5, 0}, {0, 0}} {
		if got := pong(t, p, now, c.length); got != c.want {
			t.Fatalf("a pong of %d bytes answers %d, want %d", c.length, got, c.want)
		}
	}

	// One that is never answered holds no other up, whatever their lengths.
	lost := next(7)
	p.AbandonPing(lost)
	p.AbandonPing(12345)
	for range 3 * maxPongs {
		again := next(7)
		if got := pong(t, p, now, 7); got != again {
			t.Fatalf("a pong answers %d, want %d", got, again)
		}
	}
	// The late one is nobody's, and equal ones come in order.
	third, fourth := next(7), next(7)
	for _, want := range []uint32{third, fourth, 0, 0} {
		if got := pong(t, p, now, 7); got != want {
			t.Fatalf("a pong answers %d, want %d", got, want)
		}
	}

	// AnyPong tells all apart, also when nothing is ever answered.
	lengths := make(map[int]bool)
	for range 10 * maxPongs {
		id := next(AnyPong)
		p.AbandonPing(id)
		if len(p.pings) > maxPongs {
			t.Fatalf("%d pings are remembered", len(p.pings))
		}
	}
	for _, sent := range p.pings {
		lengths[sent.length] = true
	}
	if len(lengths) != maxPongs {
		t.Fatalf("%d pings have %d lengths", maxPongs, len(lengths))
	}
	// What is waited for is never forgotten.
	waiting := make([]uint32, MaxPings)
	for i := range waiting {
		waiting[i] = next(40000 + i)
	}
	now += PingInterval
	_, _, err := p.Ping(now, 0, 0)
	requireKind(t, "one more", err, ErrTooManyPings)
	next(NoPong)
	for i, want := range waiting {
		if got := pong(t, p, now, 40000+i); got != want {
			t.Fatalf("a pong answers %d, want %d", got, want)
		}
	}
	next(0)
}
