//go:build !js

package bridge

import (
	"time"

	"golang.org/x/time/rate"
)

// throttle holds bytes back. Its limiters are nil where there is no limit.
type throttle struct {
	own *rate.Limiter // of one connection, both directions together
	all *rate.Limiter // of the bridge
}

// newLimiter lets bytesPerSecond through, and as much at once, but never less
// than one chunk.
func newLimiter(bytesPerSecond int) *rate.Limiter {
	if bytesPerSecond == 0 {
		return nil
	}
	return rate.NewLimiter(rate.Limit(bytesPerSecond), max(bytesPerSecond, chunkSize))
}

// wait returns when n bytes may pass, at most a chunk, or when done is closed:
// what is on its way at the end is bounded, and is not held up.
func (t throttle) wait(done <-chan struct{}, n int) {
	now := time.Now()
	var delay time.Duration
	for _, l := range []*rate.Limiter{t.own, t.all} {
		if l != nil {
			delay = max(delay, l.ReserveN(now, n).DelayFrom(now))
		}
	}
	if delay == 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-done:
	}
}
