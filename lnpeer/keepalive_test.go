package lnpeer

import "testing"

// alive is a peer with a Keepalive whose init came at 0.
type alive struct {
	*Peer
	t *testing.T
}

func newAlive(t *testing.T) alive {
	return newAliveWith(t, Keepalive{Interval: 30000, Timeout: 20000})
}

func newAliveWith(t *testing.T, keepalive Keepalive) alive {
	p := started(t, Config{Keepalive: keepalive})
	deliver(t, p, unhex(t, "0010 0000 0000"))
	return alive{p, t}
}

// poll expects a ping or none, and a time to wait.
func (a alive) poll(now Millis, wantPing bool, wantWait Millis) {
	a.t.Helper()
	ping, wait, err := a.Poll(now)
	requireNil(a.t, err)
	if (ping != nil) != wantPing || wait != wantWait {
		a.t.Fatalf("at %d: ping %x, wait %d; want %v and %d", now, ping, wait, wantPing, wantWait)
	}
	if ping != nil && (len(ping) != 6 || ping[1] != TypePing) {
		a.t.Fatalf("at %d: no ping but %x", now, ping)
	}
}

func (a alive) gone(now Millis) {
	a.t.Helper()
	_, _, err := a.Poll(now)
	requireKind(a.t, "Poll", err, ErrSilent)
	_, _, err = a.Poll(now)
	requireKind(a.t, "Poll afterwards", err, ErrClosed)
}

// receive delivers a message that is no pong.
func (a alive) receive(now Millis) {
	a.t.Helper()
	_, _, err := a.Receive(now, unhex(a.t, "8001"))
	requireNil(a.t, err)
}

func (a alive) send(now Millis) {
	a.t.Helper()
	_, err := a.Message(now, 0x8001, nil)
	requireNil(a.t, err)
}

// answer delivers the pong to the last ping.
func (a alive) answer(now Millis) {
	a.t.Helper()
	if got := pong(a.t, a.Peer, now, a.pings[len(a.pings)-1].length); got != 0 {
		a.t.Fatalf("the application hears of the keepalive's own ping %d", got)
	}
}

func TestKeepalivePings(t *testing.T) {
	a := newAlive(t)
	a.poll(0, false, 30000)
	a.poll(30000, true, 20000)
	a.answer(30050)
	a.poll(50000, false, 10000)
	a.poll(60000, true, 20000)
	a.poll(79999, false, 1)
	a.gone(80000)
}

// TestKeepaliveFrequent has a timeout that is longer than the interval: pings that
// are answered come at the interval all the same.
func TestKeepaliveFrequent(t *testing.T) {
	a := newAliveWith(t, Keepalive{Interval: 25000, Timeout: 30000})
	for now := Millis(25000); now <= 250000; now += 25000 {
		a.poll(now, true, 25000)
		a.answer(now + 100)
	}
	a.poll(275000, true, 25000)
	a.poll(300000, false, 5000)
	a.gone(305000)
}

func TestKeepaliveAdaptsToTraffic(t *testing.T) {
	a := newAlive(t)
	// Traffic in both directions needs no pings.
	for now := Millis(20000); now <= 1000000; now += 20000 {
		a.receive(now)
		a.send(now)
		a.poll(now, false, 30000)
	}
	// In one direction only it does: of the other nothing is known.
	a.receive(1025000)
	a.poll(1030000, true, 20000)
	a.answer(1030100)
	for now := Millis(1035000); now <= 1055000; now += 5000 {
		a.send(now)
	}
	a.poll(1060100, true, 20000)
	a.answer(1060200)
	// A pong that is sent counts, as does a call.
	a.receive(1080000)
	deliverAt(a.t, a.Peer, 1080000, "0012 0001 0000")
	a.poll(1080000, false, 30000)
	_, _, err := a.Call(1100000, []byte("{}"), 10)
	requireNil(t, err)
	a.receive(1100000)
	a.poll(1100000, false, 30000)
}

func deliverAt(t *testing.T, p *Peer, now Millis, msg string) {
	t.Helper()
	_, _, err := p.Receive(now, unhex(t, msg))
	requireNil(t, err)
}

// TestKeepalivePatience has a node that is busy with other messages: they buy
// time, but not without end.
func TestKeepalivePatience(t *testing.T) {
	a := newAlive(t)
	a.poll(30000, true, 20000)
	a.receive(45000)
	a.poll(50000, false, 10000)
	a.poll(60000, false, 5000)
	a.receive(65000)
	a.poll(65000, false, 20000)
	a.receive(85000)
	a.receive(100000)
	a.poll(105000, false, 5000)
	a.receive(109000)
	a.gone(110000)
}

// TestKeepaliveDrained has a slow link on which the ping waits behind what this
// side sends.
func TestKeepaliveDrained(t *testing.T) {
	a := newAlive(t)
	a.poll(30000, true, 20000)
	a.Drained(40000)
	a.poll(50000, false, 10000)
	a.Drained(59000)
	a.poll(60000, false, 19000)
	a.gone(79000)
	// One that drained before the ping does not count.
	a = newAlive(t)
	a.Drained(29999)
	a.poll(30000, true, 20000)
	a.gone(50000)
}

// TestKeepaliveLate has timers that come late: in a hidden page by up to a
// minute, after a sleep by hours.
func TestKeepaliveLate(t *testing.T) {
	// The ping itself is late: no harm done.
	a := newAlive(t)
	a.poll(9000000, true, 20000)
	a.answer(9000100)
	a.poll(9020000, false, 10000)

	// The deadline is late. One fresh ping, which is answered.
	a = newAlive(t)
	a.poll(30000, true, 20000)
	a.poll(3600000, true, 20000)
	a.answer(3600100)
	a.poll(3630100, true, 20000)
	// And another time, since the first was answered.
	a.poll(3700000, true, 20000)
	a.answer(3700100)

	// The fresh ping is not answered, on time or late.
	for _, end := range []Millis{3620000, 7200000} {
		a = newAlive(t)
		a.poll(30000, true, 20000)
		a.poll(3600000, true, 20000)
		a.gone(end)
	}

	// A little late is on time.
	a = newAlive(t)
	a.poll(30000, true, 20000)
	a.gone(50000 + lateness)

	// A pong that was waiting to be read is as good as one in time.
	a = newAlive(t)
	a.poll(30000, true, 20000)
	a.poll(3600000, true, 20000)
	if got := pong(t, a.Peer, 3600001, a.pings[0].length); got != 0 {
		t.Fatalf("got %d", got)
	}
	a.poll(3620000, false, 10000)
}

// TestKeepaliveSharesPings has pings of the application: never two in a second.
func TestKeepaliveSharesPings(t *testing.T) {
	a := newAlive(t)
	a.send(100)
	a.receive(100)
	ping(t, a.Peer, 29900, 9)
	a.poll(30100, false, 800)
	a.poll(30900, true, 20000)
	// The application's own pong is a sign of life too.
	if pong(t, a.Peer, 31000, 9) == 0 {
		t.Fatal("the application's pong was lost")
	}
	a.poll(50900, false, 10000)
	// A fresh ping after a late timer waits for its turn as well, and is not
	// forgotten.
	a.poll(60900, true, 20000)
	ping(t, a.Peer, 99500, 9)
	a.poll(100000, false, 500)
	a.poll(100500, true, 20000)
	a.gone(120500)
	// Pings that are all unanswered do not stop the keepalive's.
	a = newAlive(t)
	for i := range MaxPings {
		ping(t, a.Peer, Millis(i)*PingInterval, 9)
	}
	a.poll(40000, true, 20000)
}

func TestKeepaliveOff(t *testing.T) {
	p := ready(t)
	ping, wait, err := p.Poll(1 << 40)
	requireNil(t, err)
	if ping != nil || wait != 0 {
		t.Fatalf("ping %x, wait %d", ping, wait)
	}
	_, _, err = started(t, Config{}).Poll(0)
	requireKind(t, "before init", err, ErrNotReady)
}
