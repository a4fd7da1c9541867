package lnpeer

import "fmt"

// Millis is a point in time or a span of it, in milliseconds. This package has
// no clock: its callers pass the time, counted from any origin that stays the
// same for a Peer. It must not go back.
type Millis int64

// Keepalive says how a Peer finds out that the other side is gone. With an
// Interval of 0 it does not try.
type Keepalive struct {
	// Interval is how long nothing may be received, or nothing sent, until a
	// ping goes out. Traffic in both directions needs no pings.
	Interval Millis
	// Timeout is how long the other side may be silent after a ping. Other
	// messages from it, and a link that still takes messages (Drained), give it
	// more time, but no more than four times as much in all.
	Timeout Millis
}

const (
	// lateness is how much later than asked for Poll has to be called to
	// count as late. The process, the page or the machine has then slept, and
	// the pong may have come without anybody looking.
	lateness Millis = 1000
	// patience is how many times its Timeout a ping may take, whatever else is
	// received.
	patience = 4
)

// keepalive is what a Peer remembers for its Keepalive.
type keepalive struct {
	Keepalive
	// received and sent are when the last message was.
	received, sent Millis
	// drained is when the link last took a message that had to wait.
	drained Millis
	// waiting says that a ping was sent, at pinged, and that no pong has come.
	waiting bool
	pinged  Millis
	// again says that the ping that waits, or that goes out as soon as it may,
	// is the fresh one after a late Poll.
	again bool
	// due is when Poll should be called next.
	due Millis
}

func (k *keepalive) start(now Millis) {
	k.received, k.sent, k.due = now, now, now+k.Interval
}

// answered notes a pong.
func (k *keepalive) answered() { k.waiting, k.again = false, false }

// deadline is when the other side counts as gone if nothing comes until then.
func (k *keepalive) deadline() Millis {
	return min(max(k.pinged, k.received, k.drained)+k.Timeout, k.pinged+patience*k.Timeout)
}

// look is when to look at a ping that waits again: at its deadline, or before that
// when the next one would be due if it has been answered.
func (k *keepalive) look(now Millis) Millis {
	if next := k.pinged + k.Interval; next > now {
		return min(next, k.deadline())
	}
	return k.deadline()
}

// check returns an error for times that cannot be.
func (k *Keepalive) check() error {
	if k.Interval < 0 || k.Interval > 0 && (k.Interval < PingInterval || k.Timeout < PingInterval) {
		return newError(ErrArgument, fmt.Sprintf("keepalive: times of at least %d ms expected", PingInterval))
	}
	return nil
}

// Drained notes that the link has taken a message that had to wait for those
// before it. A ping may be waiting behind such messages too, so it gets more time.
func (p *Peer) Drained(now Millis) { p.keepalive.drained = now }

// Poll says what the Keepalive asks for: ping, if not nil, is to be sent, and
// Poll is to be called again after wait. The first call is due one Interval after
// the other side's init. A call that comes late does not end the Peer: another
// ping is sent first, once, since the pong to the first may be waiting to be
// read.
//
// ErrSilent says that the other side is gone; the Peer is then of no more use.
// Other errors are ErrNotReady and ErrClosed. Without a Keepalive wait is 0.
func (p *Peer) Poll(now Millis) (ping []byte, wait Millis, err error) {
	if err := p.sendable(); err != nil {
		return nil, 0, err
	}
	k := &p.keepalive
	if k.Interval == 0 {
		return nil, 0, nil
	}
	late := now > k.due+lateness
	next := now
	switch {
	case k.waiting && now < k.deadline():
		next = k.look(now)
	case k.waiting && (!late || k.again):
		p.closed = true
		return nil, 0, newError(ErrSilent, fmt.Sprintf("no answer to a ping for %d ms", now-k.pinged))
	case k.waiting:
		k.waiting, k.again = false, true
	case !k.again:
		next = max(now, min(k.received, k.sent)+k.Interval)
	}
	if next == now {
		next = now + p.PingDelay(now)
	}
	if next == now {
		k.waiting, k.pinged = true, now
		_, ping = p.ping(now, AnyPong, 0, true)
		next = k.look(now)
	}
	k.due = next
	return ping, next - now, nil
}
