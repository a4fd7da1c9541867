//go:build !race && !(js && wasm)

package brontide

import "testing"

// TestAllocations checks that messages of the greatest length go both ways
// without allocating. The changes of keys in between vanish in the average. Under
// the race detector a sync.Pool drops some of what it is given.
func TestAllocations(t *testing.T) {
	client, server := securePair(t, tcpPair)
	defer client.Close()
	defer server.Close()
	message, got := make([]byte, MaxMessageSize), make([]byte, 0, MaxMessageSize)
	body := make([]byte, maxBodySize)
	read := map[string]func() error{
		"AppendNextMessage": func() error {
			_, err := server.AppendNextMessage(got)
			return err
		},
		"Read": func() error {
			_, err := server.Read(body)
			return err
		},
		"Read in parts": func() error {
			_, err := server.Read(body[:40_000])
			if err == nil {
				_, err = server.Read(body)
			}
			return err
		},
		"ReadNextHeader and ReadNextBody": func() error {
			size, err := server.ReadNextHeader()
			if err == nil {
				_, err = server.ReadNextBody(body[:size])
			}
			return err
		},
	}
	for name, read := range read {
		want := make(chan struct{})
		failed := make(chan error, 1)
		go func() {
			for range want {
				if _, err := client.Write(message); err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
		allocations := testing.AllocsPerRun(200, func() {
			want <- struct{}{}
			requireNil(t, read())
		})
		close(want)
		requireNil(t, <-failed)
		if allocations != 0 {
			t.Errorf("%s: %v allocations for a message", name, allocations)
		}
	}
}
