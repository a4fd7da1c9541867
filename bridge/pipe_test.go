//go:build !js

package bridge

import (
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// reset ends a TCP connection with RST.
func (p *pair) reset(t *testing.T) {
	t.Helper()
	if err := p.target.SetLinger(0); err != nil {
		t.Fatal(err)
	}
	if err := p.target.Close(); err != nil {
		t.Fatal(err)
	}
	p.broken = true
}

func (p *pair) answer(t *testing.T, b []byte) {
	t.Helper()
	if _, err := p.target.Write(b); err != nil {
		t.Fatal(err)
	}
}

func (p *pair) hangUp(t *testing.T) {
	t.Helper()
	if err := p.target.CloseWrite(); err != nil {
		t.Fatal(err)
	}
}

// TestEndings reaches every ending that the client is told of, and looks at
// what each side got before it.
func TestEndings(t *testing.T) {
	short := 50 * time.Millisecond
	for _, tc := range []struct {
		about string
		cfg   Config
		do    func(t *testing.T, p *pair)
		data  []byte // what the client gets after an open gate's act two
		want  ending
	}{
		{"node closes", Config{}, func(t *testing.T, p *pair) {
			p.open(t)
			p.answer(t, []byte("last words"))
			p.hangUp(t)
		}, []byte("last words"), endNodeClosed},
		{"node breaks", Config{}, func(t *testing.T, p *pair) {
			p.open(t)
			p.reset(t)
		}, nil, endNodeLost},
		{"node closes before act one", Config{}, func(t *testing.T, p *pair) {
			p.hangUp(t)
		}, nil, endNodeClosed},
		{"node breaks before act one", Config{}, func(t *testing.T, p *pair) {
			p.reset(t)
		}, nil, endNodeLost},
		{"node hangs up after act one", Config{}, func(t *testing.T, p *pair) {
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
			p.hangUp(t)
		}, nil, endNoActTwo},
		{"node breaks after act one", Config{}, func(t *testing.T, p *pair) {
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
			p.reset(t)
		}, nil, endNoActTwo},
		{"node hangs up in act two", Config{}, func(t *testing.T, p *pair) {
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
			p.answer(t, anAct[:49])
			p.hangUp(t)
		}, nil, endNotActTwo},
		{"node hangs up after one byte of act two", Config{}, func(t *testing.T, p *pair) {
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
			p.answer(t, anAct[:1])
			p.hangUp(t)
		}, nil, endNotActTwo},
		{"text message first", Config{}, func(t *testing.T, p *pair) {
			if err := p.ws.Write(testContext(t), websocket.MessageText, []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}, nil, endText},
		{"text message later", Config{}, func(t *testing.T, p *pair) {
			p.open(t)
			if err := p.ws.Write(testContext(t), websocket.MessageText, []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}, nil, endText},
		{"51 bytes at first", Config{}, func(t *testing.T, p *pair) {
			p.send(t, append(bytes.Clone(anAct), 0))
		}, nil, endTooEarly},
		{"act one twice", Config{}, func(t *testing.T, p *pair) {
			p.send(t, anAct)
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
		}, nil, endTooEarly},
		{"more after half an act two", Config{}, func(t *testing.T, p *pair) {
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
			p.answer(t, anAct[:25])
			p.send(t, []byte{0})
		}, nil, endTooEarly},
		{"no act one", Config{HandshakeTimeout: short}, func(*testing.T, *pair) {
		}, nil, endLateActOne},
		{"half an act one", Config{HandshakeTimeout: short}, func(t *testing.T, p *pair) {
			p.send(t, anAct[:49])
		}, nil, endLateActOne},
		{"no act two", Config{HandshakeTimeout: short}, func(t *testing.T, p *pair) {
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
		}, nil, endLateActTwo},
		{"half an act two", Config{HandshakeTimeout: short}, func(t *testing.T, p *pair) {
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
			p.answer(t, anAct[:49])
		}, nil, endLateActTwo},
		{"idle", Config{IdleTimeout: short}, func(t *testing.T, p *pair) {
			p.open(t)
		}, nil, endIdle},
		{"act two that nobody asked for", Config{}, func(t *testing.T, p *pair) {
			p.answer(t, anAct)
		}, nil, endNotActTwo},
		{"a message too big", Config{MaxMessageBytes: 1000}, func(t *testing.T, p *pair) {
			p.open(t)
			p.send(t, make([]byte, 1000))
			p.send(t, make([]byte, 1001))
			p.expectAtTarget(t, make([]byte, 1000))
		}, nil, endTooBig},
		{"too old", Config{MaxLifetime: short}, func(t *testing.T, p *pair) {
		}, nil, endTooOld},
		{"shutdown before act one", Config{}, func(t *testing.T, p *pair) {
			p.bridge.pipes.endAll()
		}, nil, endShutdown},
		{"shutdown later", Config{}, func(t *testing.T, p *pair) {
			p.open(t)
			p.bridge.pipes.endAll()
		}, nil, endShutdown},
	} {
		t.Run(tc.about, func(t *testing.T) {
			t.Parallel()
			if n := len(tc.want.reason); n > maxReasonSize {
				t.Errorf("the reason has %d bytes", n)
			}
			p := join(t, tc.cfg)
			tc.do(t, p)
			expectEnd(t, p.ws, tc.data, tc.want)
			if !p.broken {
				p.expectTargetEnd(t)
			}
		})
	}
}

func TestActOneRefused(t *testing.T) {
	for about, act := range badActs() {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			p := join(t, Config{})
			p.send(t, act)
			expectEnd(t, p.ws, nil, endNotActOne)
			p.expectTargetEnd(t)
		})
	}
}

func TestActTwoRefused(t *testing.T) {
	for about, act := range badActs() {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			p := join(t, Config{})
			p.send(t, anAct)
			p.expectAtTarget(t, anAct)
			p.answer(t, act)
			expectEnd(t, p.ws, nil, endNotActTwo)
			p.expectTargetEnd(t)
		})
	}
}

// TestActsInPieces sends both acts byte by byte, with empty messages between.
func TestActsInPieces(t *testing.T) {
	p := join(t, Config{})
	for i := range anAct {
		p.send(t, nil)
		p.send(t, anAct[i:i+1])
	}
	p.expectAtTarget(t, anAct)
	for i := range anAct {
		p.answer(t, anAct[i:i+1])
	}
	p.hangUp(t)
	expectEnd(t, p.ws, anAct, endNodeClosed)
}

// TestClientEnds makes sure that the target has all that the client sent, and
// then the end of the stream, whether the client says goodbye or not.
func TestClientEnds(t *testing.T) {
	for about, leave := range map[string]func(*websocket.Conn) error{
		"with a close frame": func(ws *websocket.Conn) error { return ws.Close(websocket.StatusNormalClosure, "") },
		"without":            func(ws *websocket.Conn) error { return ws.CloseNow() },
	} {
		t.Run(about, func(t *testing.T) {
			p := join(t, Config{})
			p.open(t)
			sent := newPattern(1<<20, newRand(t))
			p.send(t, sent)
			left := make(chan error, 1)
			go func() { left <- leave(p.ws) }()
			got, err := io.ReadAll(p.target)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("target got %d bytes and %v, want %d", len(got), err, len(sent))
			}
			if err := <-left; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestClientEndsWhileNodeSends makes sure that a node which keeps sending still
// gets all that the client sent before it left.
func TestClientEndsWhileNodeSends(t *testing.T) {
	t.Parallel()
	p := join(t, Config{})
	p.open(t)
	sent := newPattern(1<<20, newRand(t))
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		chunk := make([]byte, 1<<16)
		// The bridge ends it, by not reading any more.
		for _, err := p.target.Write(chunk); err == nil; {
			_, err = p.target.Write(chunk)
		}
	}()
	go func() { _, _ = io.Copy(io.Discard, &clientStream{ws: p.ws}) }()
	p.send(t, sent)
	go func() { _ = p.ws.Close(websocket.StatusNormalClosure, "") }()
	got := make([]byte, len(sent))
	if n, err := io.ReadFull(p.target, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("target got %d bytes and %v", n, err)
	}
	<-wrote
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	p := join(t, Config{})
	p.open(t)
	done := make(chan error, 1)
	go func() { done <- p.bridge.Shutdown(testContext(t)) }()
	expectEnd(t, p.ws, nil, endShutdown)
	p.expectTargetEnd(t)
	if err := <-done; err != nil {
		t.Error(err)
	}
}
