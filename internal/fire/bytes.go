//go:build unix

package fire

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"time"
)

// bytesThrough sends bytes to a target that echoes them, cut at random, and
// reads them in pieces of random sizes, at times slowly. The sums must be equal.
func bytesThrough(o Options) error {
	s, err := newStage(o, "echo")
	if err != nil {
		return err
	}
	return s.finish(s.bytes(o))
}

func (s *stage) bytes(o Options) error {
	seed := rand.Uint64()
	a := s.at("")
	a.buffer = 64 << 10
	c, err := connect(a)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(10 * time.Minute)); err != nil {
		return err
	}
	start := time.Now()
	wrote := make(chan error, 1)
	sent := sha256.New()
	go func() {
		pattern, sizes := rand.NewChaCha8([32]byte{byte(seed)}), rand.New(rand.NewPCG(seed, 1))
		buf := make([]byte, 60_000)
		for left := o.Bytes; left > 0; {
			b := buf[:min(left, 1+sizes.IntN(len(buf)))]
			_, _ = pattern.Read(b) // never fails
			_, _ = sent.Write(b)   // never fails
			if _, err := c.Write(b); err != nil {
				wrote <- err
				return
			}
			left -= len(b)
		}
		wrote <- nil
	}()
	got := sha256.New()
	sizes := rand.New(rand.NewPCG(seed, 2))
	buf := make([]byte, 100_000)
	for left := o.Bytes; left > 0; {
		n, err := c.Read(buf[:min(left, 1+sizes.IntN(len(buf)))])
		if err != nil {
			return fmt.Errorf("seed %d: %d bytes are missing: %w", seed, left, err)
		}
		_, _ = got.Write(buf[:n])
		left -= n
		if sizes.IntN(2000) == 0 {
			time.Sleep(10 * time.Millisecond)
		}
	}
	if err := <-wrote; err != nil {
		return err
	}
	if sum := got.Sum(nil); string(sum) != string(sent.Sum(nil)) {
		return fmt.Errorf("seed %d: other bytes came back", seed)
	}
	fmt.Fprintf(o.Out, "  %d MiB there and back, SHA-256 %x… equal, %.0f MiB/s\n", o.Bytes>>20, got.Sum(nil)[:4],
		float64(o.Bytes)/(1<<20)/time.Since(start).Seconds())
	return nil
}
