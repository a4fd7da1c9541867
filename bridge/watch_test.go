//go:build !js

package bridge

import (
	"io"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// TestJudge looks at the clock of a pipe at chosen moments.
func TestJudge(t *testing.T) {
	limits := &timeouts{handshake: 10, idle: 100, lifetime: 1000, ping: 20}
	for _, tc := range []struct {
		about                      string
		stage                      int32
		since, moved, heard, asked int64
		deaf                       bool
		now                        int64
		want                       verdict
	}{
		{"waits for act one", awaitActOne, 0, 0, 0, 0, false, 4, verdict{again: 6}},
		{"act one is late", awaitActOne, 0, 0, 0, 0, false, 10, verdict{ending: endLateActOne, ended: true}},
		{"waits for act two", awaitActTwo, 20, 20, 20, 0, false, 25, verdict{again: 5}},
		{"act two is late", awaitActTwo, 20, 20, 20, 0, false, 30, verdict{ending: endLateActTwo, ended: true}},
		{"bytes move", open, 20, 490, 490, 0, false, 500, verdict{again: 10}},
		{"nothing moves", open, 20, 400, 490, 0, false, 500, verdict{ending: endIdle, ended: true}},
		{"the client is silent", open, 20, 450, 470, 0, false, 500, verdict{ping: true, again: 20}},
		{"the client is silent, soon idle", open, 20, 405, 470, 0, false, 500, verdict{ping: true, again: 5}},
		{"a ping is out", open, 20, 450, 450, 480, false, 500, verdict{again: 50}},
		{"a ping was not answered", open, 20, 480, 350, 480, false, 570, verdict{ending: endNoPong, ended: true}},
		{"a ping was not answered, but bytes moved", open, 20, 560, 350, 380, false, 570, verdict{again: 70}},
		{"a ping was not answered, but nobody reads", open, 20, 550, 350, 380, true, 570, verdict{again: 20}},
		{"a ping was answered", open, 20, 450, 495, 490, false, 500, verdict{again: 15}},
		{"it has lasted long", open, 20, 999, 999, 0, false, 1000, verdict{ending: endTooOld, ended: true}},
	} {
		// Nanoseconds pass while the test runs, so it counts in minutes.
		scale := int64(time.Minute)
		w := watch{
			clock: clock{time.Now().Add(-time.Duration(tc.now * scale))},
			timeouts: &timeouts{
				handshake: limits.handshake * time.Minute, idle: limits.idle * time.Minute,
				lifetime: limits.lifetime * time.Minute, ping: limits.ping * time.Minute,
			},
		}
		w.stage.Store(tc.stage)
		w.since.Store(tc.since * scale)
		w.moved.Store(tc.moved * scale)
		w.pinged.Store(tc.asked * scale)
		got := w.judge(tc.heard*scale, tc.deaf)
		if !got.ended {
			got.again = got.again.Round(time.Minute)
			tc.want.again *= time.Minute
		} else {
			got.again = 0
		}
		if got != tc.want {
			t.Errorf("%s: got %+v, want %+v", tc.about, got, tc.want)
		}
	}
}

// TestPings makes sure that a client which answers stays, that one which does
// not is dropped, and that a client's own ping is answered.
func TestPings(t *testing.T) {
	cfg := Config{PingInterval: 50 * time.Millisecond}
	t.Run("a client that reads", func(t *testing.T) {
		t.Parallel()
		p := join(t, cfg)
		p.open(t)
		pinged := make(chan struct{})
		go func() {
			// The library answers pings while it reads.
			_, _ = io.Copy(io.Discard, &clientStream{ws: p.ws})
			close(pinged)
		}()
		if err := p.ws.Ping(testContext(t)); err != nil {
			t.Errorf("the bridge does not answer: %v", err)
		}
		select {
		case <-pinged:
			t.Error("it was dropped")
		case <-time.After(5 * cfg.PingInterval):
		}
		p.hangUp(t)
		<-pinged
	})
	t.Run("a client that is gone", func(t *testing.T) {
		t.Parallel()
		l := listen(t)
		cfg := cfg
		cfg.Allow = []string{l.Addr().String()}
		b := serve(t, cfg)
		conn := rawClient(t, b, "/"+l.Addr().String(), "")
		target, err := l.AcceptTCP()
		if err != nil {
			t.Fatal(err)
		}
		defer target.Close()
		if _, err := conn.Write(maskedFrame(websocket.MessageBinary, anAct)); err != nil {
			t.Fatal(err)
		}
		p := &pair{bridge: b, target: target}
		p.expectAtTarget(t, anAct)
		p.answer(t, anAct)
		got, err := io.ReadAll(conn)
		if err != nil {
			t.Fatal(err)
		}
		want := append([]byte{frameBinary, byte(len(anAct))}, anAct...)
		want = append(want, framePing, 0, frameClose, byte(2+len(endNoPong.reason)), byte(endNoPong.code>>8), byte(endNoPong.code&0xff))
		want = append(want, endNoPong.reason...)
		if string(got) != string(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// maskedFrame returns a whole message of at most 125 bytes, masked with zeros.
func maskedFrame(kind websocket.MessageType, payload []byte) []byte {
	return append([]byte{final | byte(kind), masked | byte(len(payload)), 0, 0, 0, 0}, payload...)
}
