//go:build !js

package bridge

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// newPattern returns bytes in which nothing can be lost, doubled or moved
// without a difference.
func newPattern(n int, rng *rand.Rand) []byte {
	b := make([]byte, n)
	seed := [32]byte{}
	for i := range seed {
		seed[i] = byte(rng.Uint32())
	}
	_, _ = rand.NewChaCha8(seed).Read(b)
	return b
}

// inPieces calls send with pieces of b whose sizes are between 1 and most.
func inPieces(b []byte, most int, rng *rand.Rand, send func([]byte) error) error {
	for len(b) > 0 {
		n := min(len(b), 1+rng.IntN(most))
		if err := send(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// sendMessage sends one message, at times as several frames.
func (p *pair) sendMessage(t *testing.T, b []byte, rng *rand.Rand) error {
	if rng.IntN(2) == 0 {
		return p.ws.Write(testContext(t), websocket.MessageBinary, b)
	}
	w, err := p.ws.Writer(testContext(t), websocket.MessageBinary)
	if err != nil {
		return err
	}
	if err := inPieces(b, 5000, rng, func(b []byte) error { _, err := w.Write(b); return err }); err != nil {
		return err
	}
	return w.Close()
}

// TestRandomSplits sends both ways at once, cut at random, and compares sums.
func TestRandomSplits(t *testing.T) {
	const size = 4 << 20
	rng := newRand(t)
	for i := range 4 {
		start := (*httptest.Server).Start
		if i == 3 {
			start = (*httptest.Server).StartTLS
		}
		p := joinWith(t, Config{}, start)
		p.open(t)
		up, down := newPattern(size, rng), newPattern(size, rng)
		clientRand, targetRand := rand.New(rand.NewPCG(rng.Uint64(), 1)), rand.New(rand.NewPCG(rng.Uint64(), 2))

		var work sync.WaitGroup
		fail := func(err error) {
			if err != nil {
				t.Error(err)
			}
		}
		work.Go(func() {
			fail(inPieces(up, 1<<17, clientRand, func(b []byte) error { return p.sendMessage(t, b, clientRand) }))
		})
		work.Go(func() {
			fail(inPieces(down, 1<<17, targetRand, func(b []byte) error { _, err := p.target.Write(b); return err }))
		})
		fromClient, fromTarget := sha256.New(), sha256.New()
		copyN := func(sum hash.Hash, from io.Reader) {
			_, err := io.CopyN(sum, from, size)
			fail(err)
		}
		client := &clientStream{ws: p.ws}
		work.Go(func() { copyN(fromClient, p.target) })
		work.Go(func() { copyN(fromTarget, client) })
		work.Wait()

		if sum := sha256.Sum256(up); !bytes.Equal(fromClient.Sum(nil), sum[:]) {
			t.Error("the target got other bytes than the client sent")
		}
		if sum := sha256.Sum256(down); !bytes.Equal(fromTarget.Sum(nil), sum[:]) {
			t.Error("the client got other bytes than the target sent")
		}
		p.hangUp(t)
		_, err := client.Read(make([]byte, 1))
		expectClose(t, err, endNodeClosed)
	}
}

// slowly reads to the end, in pieces, with pauses, and returns what came before
// the end and why it ended.
func slowly(from io.Reader, rng *rand.Rand) (got []byte, err error) {
	buf := make([]byte, 1+rng.IntN(1<<16))
	pause := rng.IntN(4) == 0
	for {
		n, err := from.Read(buf)
		got = append(got, buf[:n]...)
		if err != nil {
			return got, err
		}
		if pause && rng.IntN(8) == 0 {
			time.Sleep(time.Millisecond)
		}
	}
}

// TestAbruptEnds lets either side end, in good order or not, at any moment while
// both send. Each must have got the first part of what the other sent, and all
// of it from a side that ended in good order.
func TestAbruptEnds(t *testing.T) {
	rng := newRand(t)
	for i := range 60 {
		p := join(t, Config{})
		p.open(t)
		up, down := newPattern(rng.IntN(1<<21), rng), newPattern(rng.IntN(1<<21), rng)
		rngs := make([]*rand.Rand, 4)
		for i := range rngs {
			rngs[i] = rand.New(rand.NewPCG(rng.Uint64(), uint64(i)))
		}
		var work sync.WaitGroup
		var fromClient, fromTarget []byte
		var clientEnd error
		work.Go(func() { fromClient, _ = slowly(p.target, rngs[0]) })
		work.Go(func() { fromTarget, clientEnd = slowly(&clientStream{ws: p.ws}, rngs[1]) })
		// The side that ends does so when it has sent all, the other goes on.
		sendUp := func() error {
			return inPieces(up, 1<<16, rngs[2], func(b []byte) error { return p.sendMessage(t, b, rngs[2]) })
		}
		sendDown := func() error {
			return inPieces(down, 1<<16, rngs[3], func(b []byte) error { _, err := p.target.Write(b); return err })
		}
		how := i % 4
		work.Go(func() {
			err := sendUp()
			switch {
			case how == 0 && err == nil:
				_ = p.ws.Close(websocket.StatusNormalClosure, "")
			case how == 1:
				_ = p.ws.CloseNow()
			}
		})
		work.Go(func() {
			err := sendDown()
			switch {
			case how == 2 && err == nil:
				_ = p.target.CloseWrite()
			case how == 3:
				p.reset(t)
			}
		})
		work.Wait()
		if !bytes.HasPrefix(up, fromClient) || how == 0 && len(fromClient) != len(up) {
			t.Errorf("way %d: the target got %d bytes of %d", how, len(fromClient), len(up))
		}
		if !bytes.HasPrefix(down, fromTarget) || how == 2 && len(fromTarget) != len(down) {
			t.Errorf("way %d: the client got %d bytes of %d, then %v", how, len(fromTarget), len(down), clientEnd)
		}
		if t.Failed() {
			return
		}
	}
}

// maxInFlight is what the kernel's buffers of two loopback connections may hold,
// and what of a stream may be on its way through the bridge. Without backpressure
// there would be no such bound.
const maxInFlight = 32 << 20

// untilBlocked sends pattern, again and again, until the way is full: a write
// then waits, and its deadline passes. It returns how many bytes were taken.
func untilBlocked(t *testing.T, pattern []byte, write func([]byte) (int, error)) int {
	t.Helper()
	sent := 0
	for sent < 2*maxInFlight {
		n, err := write(pattern[sent%len(pattern):])
		sent += n
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if sent > maxInFlight {
		t.Fatalf("%d bytes were taken without a reader", sent)
	}
	return sent
}

func repeated(pattern []byte, n int) []byte {
	return bytes.Repeat(pattern, n/len(pattern)+1)[:n]
}

func TestSlowClient(t *testing.T) {
	// Many times longer than that it takes nothing, and is not dropped for it.
	p := join(t, Config{PingInterval: 20 * time.Millisecond})
	p.open(t)
	pattern := newPattern(1<<20, newRand(t))
	sent := untilBlocked(t, pattern, func(b []byte) (int, error) {
		if err := p.target.SetWriteDeadline(time.Now().Add(300 * time.Millisecond)); err != nil {
			return 0, err
		}
		return p.target.Write(b)
	})
	p.hangUp(t)
	expectEnd(t, p.ws, repeated(pattern, sent), endNodeClosed)
}

func TestSlowNode(t *testing.T) {
	p := join(t, Config{})
	p.open(t)
	pattern := newPattern(1<<16, newRand(t))
	// The library ends a connection whose write was given up, so one message
	// is written in the background, until it can be.
	sent := make(chan int)
	go func() {
		n := 0
		for n < 2*maxInFlight {
			if err := p.ws.Write(testContext(t), websocket.MessageBinary, pattern); err != nil {
				break
			}
			n += len(pattern)
			sent <- n
		}
		close(sent)
	}()
	total := 0
	for blocked := false; !blocked; {
		select {
		case n, ok := <-sent:
			if !ok {
				t.Fatalf("%d bytes were taken without a reader", total)
			}
			total = n
		case <-time.After(300 * time.Millisecond):
			blocked = true
		}
	}
	if total > maxInFlight {
		t.Fatalf("%d bytes were taken without a reader", total)
	}
	go func() {
		for range sent {
		}
		_ = p.ws.Close(websocket.StatusNormalClosure, "")
	}()
	// The sender goes on as soon as somebody reads, up to its own end.
	sum, want := sha256.New(), sha256.New()
	if n, err := io.Copy(sum, p.target); n != 2*maxInFlight || err != nil {
		t.Fatalf("target got %d bytes and %v", n, err)
	}
	for range 2 * maxInFlight / len(pattern) {
		_, _ = want.Write(pattern)
	}
	if !bytes.Equal(sum.Sum(nil), want.Sum(nil)) {
		t.Error("the target got other bytes than the client sent")
	}
}

// TestNothingLeft ends connections in all ways and looks for goroutines of this
// package and for descriptors that are left.
func TestNothingLeft(t *testing.T) {
	before := descriptors(t)
	t.Run("connections", func(t *testing.T) {
		for i := range 200 {
			p := join(t, Config{})
			switch i % 8 {
			case 0: // no act one
			case 1:
				p.send(t, anAct)
			case 2:
				p.open(t)
			case 3:
				p.open(t)
				_ = p.ws.CloseNow()
			case 4:
				p.open(t)
				p.reset(t)
			case 5:
				p.open(t)
				p.hangUp(t)
			case 6:
				p.send(t, []byte("not an act"))
				_ = p.ws.CloseNow()
			case 7:
				p.open(t)
				p.bridge.pipes.endAll()
			}
			_ = p.ws.CloseNow()
			_ = p.target.Close()
			if err := p.bridge.Shutdown(testContext(t)); err != nil {
				t.Fatal(err)
			}
		}
	})
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for _, stack := range strings.Split(string(stacks), "\n\n") {
		if strings.Contains(stack, "bridge.(*pipe)") || strings.Contains(stack, "bridge.(*Bridge)") {
			t.Errorf("left behind:\n%s", stack)
		}
	}
	// Fewer are possible: others may have been on their way out at the start.
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// descriptors counts the open descriptors, where the system shows them.
func descriptors(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Logf("descriptors are not counted: %v", err)
	}
	return len(entries)
}
