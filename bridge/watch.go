//go:build !js

package bridge

import (
	"sync"
	"sync/atomic"
	"time"
)

// timeouts are a bridge's, for connections that were upgraded.
type timeouts struct {
	handshake time.Duration // for act one, and again for act two
	idle      time.Duration // without a byte in either direction
	lifetime  time.Duration // in all
	ping      time.Duration // without a byte from the client, before it is asked

	answer time.Duration // until the client has answered a close frame
	drain  time.Duration // the same when the node ended the connection: before the close frame, the client may have much to read
	linger time.Duration // until the node has ended its side after the client
}

// The time that ends in good order take at most. Closing a connection on which
// unread bytes arrive would reset it, and take back what was sent before.
const (
	closeTimeout  = 5 * time.Second
	drainTimeout  = 30 * time.Second
	lingerTimeout = 10 * time.Second
)

// pongPatience is how many times the ping interval a client may take to answer a
// ping while nothing moves.
const pongPatience = 4

// lingerBytes bounds what is read of a node that goes on sending all the same.
const lingerBytes = 8 << 20

// The stages of a pipe.
const (
	awaitActOne int32 = iota
	awaitActTwo
	open
)

// watch ends a pipe whose time is over. It looks at the clock when the next of
// its times may have passed; carrying bytes only leaves a mark.
type watch struct {
	timeouts *timeouts
	clock    clock
	stage    atomic.Int32
	since    atomic.Int64 // when the stage began
	moved    atomic.Int64 // when a byte last moved, in either direction
	pinged   atomic.Int64 // when the last ping went out

	mu    sync.Mutex // held from a look to setting the timer
	timer *time.Timer
}

// enter begins a stage.
func (w *watch) enter(stage int32) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.clock.now()
	w.since.Store(now)
	w.moved.Store(now)
	w.stage.Store(stage)
	w.timer.Reset(0)
}

// stop ends the looking.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
}

func (w *watch) move() { w.moved.Store(w.clock.now()) }

// verdict is what a look at the clock says: an ending, or whether to ask the
// client whether it is there.
type verdict struct {
	ending ending
	ended  bool
	ping   bool
	again  time.Duration // until the next look
}

// look judges by the clock, and sets it for the next look. heard is when the
// client's last byte came; deaf means that its bytes are not being read, or that
// it does not read itself, so that its silence says nothing.
func (w *watch) look(heard int64, deaf bool) verdict {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.judge(heard, deaf)
	if !v.ended {
		w.timer.Reset(v.again)
	}
	return v
}

func (w *watch) judge(heard int64, deaf bool) verdict {
	now := w.clock.now()
	left := func(from int64, d time.Duration) time.Duration { return time.Duration(from-now) + d }
	v := verdict{again: left(0, w.timeouts.lifetime)}
	expire := func(from int64, d time.Duration, e ending) {
		if rest := left(from, d); rest <= 0 && !v.ended {
			v.ending, v.ended = e, true
		} else {
			v.again = min(v.again, rest)
		}
	}
	expire(0, w.timeouts.lifetime, endTooOld)
	switch w.stage.Load() {
	case awaitActOne:
		expire(w.since.Load(), w.timeouts.handshake, endLateActOne)
		return v
	case awaitActTwo:
		expire(w.since.Load(), w.timeouts.handshake, endLateActTwo)
		return v
	}
	expire(w.moved.Load(), w.timeouts.idle, endIdle)
	pinged := w.pinged.Load()
	switch asked := pinged > heard; {
	case asked && deaf:
		v.again = min(v.again, w.timeouts.ping)
	case asked:
		// The ping may be behind megabytes in the buffers of a slow network.
		expire(max(pinged, w.moved.Load()), pongPatience*w.timeouts.ping, endNoPong)
	case left(heard, w.timeouts.ping) <= 0:
		v.ping = true
		v.again = min(v.again, w.timeouts.ping)
	default:
		v.again = min(v.again, left(heard, w.timeouts.ping))
	}
	return v
}
