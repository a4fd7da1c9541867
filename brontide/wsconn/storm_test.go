//go:build !(js && wasm)

package wsconn_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"time"

	"github.com/brontosig/brontosig/brontide"
)

// carriers are the connections that brontide is tried over.
var carriers = map[string]func(testing.TB) (net.Conn, net.Conn){
	"WebSocket": pair,
	"Pipe":      func(testing.TB) (net.Conn, net.Conn) { return net.Pipe() },
	"TCP": func(t testing.TB) (net.Conn, net.Conn) {
		l := must(net.Listen("tcp", "127.0.0.1:0"))(t)
		defer l.Close()
		dialed := must(net.Dial("tcp", l.Addr().String()))(t)
		return dialed, must(l.Accept())(t)
	},
}

// TestDeadlineStorm sends a stream each way while deadlines pass all the time,
// in the middle of whatever is under way. No byte is lost, doubled or changed.
func TestDeadlineStorm(t *testing.T) {
	for name, carrier := range carriers {
		t.Run(name, func(t *testing.T) {
			a, b := carrier(t)
			client, server := secure(t, a, b)
			defer closeBoth(client, server)
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			done := make(chan error, 4)
			for i, ends := range [][2]*brontide.Conn{{client, server}, {server, client}} {
				data := make([]byte, 1<<20)
				rand.NewChaCha8([32]byte{byte(seed), byte(i)}).Read(data)
				go func() { done <- writeInStorm(ends[0], data, rand.New(rand.NewPCG(seed, uint64(i)))) }()
				go func() { done <- readInStorm(ends[1], data, rand.New(rand.NewPCG(seed, uint64(2+i)))) }()
			}
			timeouts := 0
			for range 4 {
				err := <-done
				var count timeoutCount
				if !errors.As(err, &count) {
					t.Fatal(err)
				}
				timeouts += int(count)
			}
			t.Logf("%d timeouts", timeouts)
			if timeouts == 0 {
				t.Error("no deadline passed")
			}
		})
	}
}

// timeoutCount is what a side of the storm ends with if all went well.
type timeoutCount int

func (timeoutCount) Error() string { return "timeouts" }

// soon returns a deadline that passes before long; one in ten has passed.
func soon(rng *rand.Rand) time.Time {
	return time.Now().Add(time.Duration(rng.IntN(200)-20) * time.Microsecond)
}

func writeInStorm(c *brontide.Conn, data []byte, rng *rand.Rand) error {
	var timeouts timeoutCount
	for len(data) > 0 {
		if err := c.SetWriteDeadline(soon(rng)); err != nil {
			return err
		}
		n, err := c.Write(data[:min(len(data), 1+rng.IntN(20_000))])
		data = data[n:]
		if errors.Is(err, os.ErrDeadlineExceeded) {
			timeouts++
		} else if err != nil {
			return err
		}
	}
	if err := c.SetWriteDeadline(time.Time{}); err != nil {
		return err
	}
	if _, err := c.Flush(); err != nil {
		return err
	}
	return timeouts
}

func readInStorm(c *brontide.Conn, want []byte, rng *rand.Rand) error {
	var timeouts timeoutCount
	buf := make([]byte, 100_000)
	for len(want) > 0 {
		if err := c.SetReadDeadline(soon(rng)); err != nil {
			return err
		}
		n, err := c.Read(buf[:1+rng.IntN(len(buf))])
		if !bytes.HasPrefix(want, buf[:n]) {
			return errors.New("the bytes differ")
		}
		want = want[n:]
		if errors.Is(err, os.ErrDeadlineExceeded) {
			timeouts++
		} else if err == io.EOF {
			return io.ErrUnexpectedEOF
		} else if err != nil {
			return err
		}
	}
	return timeouts
}
