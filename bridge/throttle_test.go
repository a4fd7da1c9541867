//go:build !js

package bridge

import (
	"bytes"
	"io"
	"testing"
	"time"
)

// TestThrottle carries more than a second's worth of bytes, and makes sure that
// it takes as long as it must.
func TestThrottle(t *testing.T) {
	const rate = 256 << 10
	for about, cfg := range map[string]Config{
		"one connection": {BytesPerSecond: rate},
		"all":            {TotalBytesPerSecond: rate},
	} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			p := join(t, cfg)
			p.open(t)
			sent := newPattern(rate+rate/2, newRand(t)) // a second's worth may pass at once
			start := time.Now()
			go func() {
				_, _ = p.target.Write(sent)
			}()
			got := make([]byte, len(sent))
			if _, err := io.ReadFull(&clientStream{ws: p.ws}, got); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, sent) {
				t.Error("the client got other bytes than the target sent")
			}
			if took := time.Since(start); took < 300*time.Millisecond {
				t.Errorf("it took %v only", took)
			}
		})
	}
	// An end is not held up.
	done := make(chan struct{})
	close(done)
	l := newLimiter(1)
	throttle{own: l}.wait(done, chunkSize)
	throttle{own: l, all: l}.wait(done, chunkSize)
}
