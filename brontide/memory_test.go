//go:build !(js && wasm)

package brontide

import (
	"net"
	"runtime"
	"testing"
)

// heap returns the bytes that are in use after everything else was collected.
// What a sync.Pool holds goes at the second collection.
func heap() int {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// TestIdleConnMemory measures what a Conn takes, apart from its carrier, once it
// has carried messages of the greatest length and has nothing to do.
func TestIdleConnMemory(t *testing.T) {
	const pairs, limit = 200, 8 << 10
	var carriers [pairs][2]net.Conn
	for i := range carriers {
		carriers[i][0], carriers[i][1] = net.Pipe()
	}
	before := heap()
	var conns [pairs][2]*Conn
	message := make([]byte, MaxMessageSize)
	for i := range conns {
		client, server := secure(t, carriers[i][0], carriers[i][1])
		conns[i] = [2]*Conn{client, server}
		for from := range 2 {
			sent := make(chan error, 1)
			go func() {
				_, err := conns[i][from].Write(message)
				sent <- err
			}()
			// In parts, so that a rest was kept.
			part := make([]byte, 40_000)
			got := must[int](t)(conns[i][1-from].Read(part))
			got += must[int](t)(conns[i][1-from].Read(part))
			if got != len(message) {
				t.Fatalf("read %d bytes", got)
			}
			requireNil(t, <-sent)
		}
	}
	each := (heap() - before) / (2 * pairs)
	t.Logf("%d bytes for each idle Conn", each)
	if each <= 0 || each >= limit {
		t.Errorf("%d bytes for each idle Conn, the limit is %d", each, limit)
	}
	for _, pair := range conns {
		pair[0].Close()
		pair[1].Close()
	}
}
