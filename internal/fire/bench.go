//go:build unix

package fire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// What Bench does: rounds of all ways in turn, so that a machine that becomes
// slower does so for all.
const (
	benchRounds = 5
	benchBytes  = 256 << 20 // echoed in each round
	benchFrame  = 16 << 10
	benchPings  = 4000
	benchIdle   = 200 // connections whose memory is measured
)

// way is one of the ways to the target that are compared.
type way struct {
	name string
	open func() (stream, error)
	pid  int // of the process in between; 0 if there is none

	throughput []float64 // MiB/s, one for each round
	cpu        []float64 // seconds for a GiB in each direction
	roundTrip  []time.Duration
}

// Bench compares the bridge with Debian's websockify and with bare TCP: one
// client, one connection, the same bytes.
func Bench(o Options) error {
	s, err := newStage(o, "echo")
	if err != nil {
		return err
	}
	to := s.path[1:]
	ways := []*way{
		{name: "bare TCP", open: func() (stream, error) { return dialTCP("", to) }},
		{name: "brontosig-bridge", pid: s.pid, open: func() (stream, error) { return asStream(dialWS(s.bench())) }},
	}
	ws, err := startWebsockify(to)
	if err != nil {
		fmt.Fprintf(o.Out, "websockify is left out: %v (Debian: apt-get install websockify)\n", err)
	} else {
		defer ws.stop()
		ways = append(ways, &way{name: "websockify", pid: ws.pid(), open: func() (stream, error) {
			return asStream(dialWS(address{bridge: ws.address, path: "/websockify", buffer: 64 << 10}))
		}})
	}
	err = measure(ways)
	if err == nil {
		report(o.Out, ways)
		err = idleMemory(o.Out, ways[1:])
	}
	return errors.Join(err, s.end())
}

func (s *stage) bench() address {
	a := s.at("")
	a.buffer = 64 << 10
	return a
}

func asStream(c *wsClient, err error) (stream, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

func measure(ways []*way) error {
	for range benchRounds {
		for _, w := range ways {
			if err := w.round(); err != nil {
				return fmt.Errorf("%s: %w", w.name, err)
			}
		}
	}
	return nil
}

// connect opens a connection past act two.
func (w *way) connect() (stream, error) {
	c, err := w.open()
	if err != nil {
		return nil, err
	}
	if err := errors.Join(c.SetDeadline(time.Now().Add(5*time.Minute)), handshake(c)); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (w *way) round() error {
	c, err := w.connect()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := w.pings(c); err != nil {
		return err
	}
	return w.bulk(c)
}

// pings sends small messages, each when the last has come back.
func (w *way) pings(c stream) error {
	message := make([]byte, 64)
	for range benchPings {
		start := time.Now()
		if _, err := c.Write(message); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, message); err != nil {
			return err
		}
		w.roundTrip = append(w.roundTrip, time.Since(start))
	}
	return nil
}

// bulk sends many bytes and reads them back.
func (w *way) bulk(c stream) error {
	before, err := w.used()
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	start := time.Now()
	go func() {
		frame := make([]byte, benchFrame)
		for range benchBytes / benchFrame {
			if _, err := c.Write(frame); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	_, err = io.CopyBuffer(io.Discard, onlyReader{io.LimitReader(c, benchBytes)}, make([]byte, 64<<10))
	took := time.Since(start)
	if err := errors.Join(err, <-sent); err != nil {
		return err
	}
	after, err := w.used()
	w.throughput = append(w.throughput, benchBytes/took.Seconds()/(1<<20))
	w.cpu = append(w.cpu, (after-before).Seconds()*(1<<30)/benchBytes)
	return err
}

// onlyReader keeps io.Copy from more clever ways.
type onlyReader struct{ io.Reader }

func (w *way) used() (time.Duration, error) {
	if w.pid == 0 {
		return 0, nil
	}
	return cpu(w.pid)
}

func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[len(sorted)/2]
}

func report(out io.Writer, ways []*way) {
	fmt.Fprintf(out, "%d rounds: %d MiB echoed in frames of %d KiB, and %d round trips of 64 bytes; medians\n",
		benchRounds, benchBytes>>20, benchFrame>>10, benchPings)
	fmt.Fprintf(out, "%-18s %12s %14s %12s %12s\n", "", "MiB/s", "CPU s per GiB", "p50", "p99")
	for _, w := range ways {
		cpu := "-"
		if w.pid != 0 {
			cpu = fmt.Sprintf("%.2f", median(w.cpu))
		}
		fmt.Fprintf(out, "%-18s %12.0f %14s %12v %12v\n", w.name, median(w.throughput), cpu,
			quantile(w.roundTrip, 0.5).Round(time.Microsecond), quantile(w.roundTrip, 0.99).Round(time.Microsecond))
	}
	bridge := ways[1]
	fmt.Fprintf(out, "the bridge adds %v to a round trip at the median\n",
		(quantile(bridge.roundTrip, 0.5) - quantile(ways[0].roundTrip, 0.5)).Round(time.Microsecond))
	if len(ways) > 2 {
		fmt.Fprintf(out, "against websockify: %.1f times the throughput, %.2f of the CPU for a GiB\n",
			median(bridge.throughput)/median(ways[2].throughput), median(bridge.cpu)/median(ways[2].cpu))
	}
}

// idleMemory opens connections that do nothing past act two.
func idleMemory(out io.Writer, ways []*way) error {
	for _, w := range ways {
		before, err := pss(w.pid)
		if err != nil {
			return err
		}
		var conns []io.Closer
		for i := range benchIdle {
			c, err := w.connect()
			if err != nil {
				// The bridge takes 64 of one client.
				if i >= 50 {
					break
				}
				return err
			}
			conns = append(conns, c)
		}
		after, err := pss(w.pid)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-18s %8.1f KiB of memory for each of %d idle connections\n", w.name,
			float64(after-before)/1024/float64(len(conns)), len(conns))
		for _, c := range conns {
			_ = c.Close()
		}
	}
	return nil
}

// pss returns the memory of a process and its descendants, what they share
// divided among them.
func pss(pid int) (int, error) {
	all, err := family(pid)
	if err != nil {
		return 0, err
	}
	sum := 0
	for _, pid := range all {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
		if err != nil {
			return 0, err
		}
		n, err := field(b, "\nPss:")
		if err != nil {
			return 0, err
		}
		sum += n
	}
	return sum, nil
}

// websockify is a running one.
type websockify struct {
	cmd     *exec.Cmd
	address string
}

func (w *websockify) pid() int { return w.cmd.Process.Pid }

func startWebsockify(to string) (*websockify, error) {
	program, err := exec.LookPath("websockify")
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w := &websockify{address: l.Addr().String()}
	if err := l.Close(); err != nil {
		return nil, err
	}
	w.cmd = exec.Command(program, w.address, to)
	if err := w.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(ioTimeout); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.Dial("tcp", w.address)
		if err == nil {
			return w, c.Close()
		}
		if time.Now().After(deadline) {
			w.stop()
			return nil, fmt.Errorf("it does not start: %s", strings.TrimSpace(err.Error()))
		}
	}
}

func (w *websockify) stop() {
	_ = w.cmd.Process.Kill()
	_ = w.cmd.Wait()
}
