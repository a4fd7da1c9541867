//go:build unix

// Package fire loads a bridge as the open internet would, and measures it. The
// bridge, its clients and its targets are processes of their own; everything
// stays on 127.0.0.0/8, is bounded, and ends by itself.
package fire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options say what is loaded, and how much.
type Options struct {
	Bridge Command // starts the bridge
	Helper Command // starts a program that calls Helper with its arguments

	// Connections is how many idle ones there are at a time; 0 means as many as
	// the limit on open files allows, at most 10,000.
	Connections int
	// Attackers is how many connections each attack uses.
	Attackers int
	// Cycles is how many clients come and go.
	Cycles int
	// Bytes is how many are sent through and compared.
	Bytes int
	// Together does everything at the same time.
	Together bool
	// AnyMemory accepts any use of memory.
	AnyMemory bool

	Only string    // if set, what is done: all whose description has it
	Out  io.Writer // where the figures go
}

// The largest number of idle connections, and what each may take of the bridge's
// memory.
const (
	mostConnections = 10_000
	mostMemory      = 40 << 10
)

// Run does everything, prints figures, and returns all that is wrong.
func Run(o Options) error {
	if o.Connections == 0 {
		var limit syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
			return err
		}
		o.Connections = int(min(mostConnections, (limit.Max-500)/2))
	}
	scenarios := []scenario{
		{"idle connections", idle},
		{"slow clients", slow},
		{"a flood from one address", flood},
		{"connect and abort", abort},
		{"targets that never read", deaf},
		{"targets that never stop", endless},
		{"a target that is killed", killed},
		{"many bytes", bytesThrough},
	}
	var errs []error
	var together sync.WaitGroup
	var mu sync.Mutex
	for _, s := range scenarios {
		if !strings.Contains(s.about, o.Only) {
			continue
		}
		do := func() {
			figures, err := s.do(o)
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			if _, err := o.Out.Write(figures); err != nil {
				errs = append(errs, err)
			}
		}
		if o.Together {
			together.Go(do)
		} else {
			do()
		}
	}
	together.Wait()
	return errors.Join(errs...)
}

// scenario is one thing that is done to a bridge.
type scenario struct {
	about string
	run   func(Options) error
}

// do returns the figures beside the error.
func (s scenario) do(o Options) ([]byte, error) {
	var out bytes.Buffer
	o.Out = &out
	start := time.Now()
	fmt.Fprintf(&out, "%s\n", s.about)
	err := s.run(o)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.about, err)
		fmt.Fprintf(&out, "  FAILED: %v\n", err)
	}
	fmt.Fprintf(&out, "  %.1f s\n", time.Since(start).Seconds())
	return out.Bytes(), err
}

// stage is a bridge with a target of one kind.
type stage struct {
	*bridge
	target *process
	path   string
	before usage
}

func newStage(o Options, kind string, args ...string) (*stage, error) {
	t, err := o.Helper.start("target", kind)
	if err != nil {
		return nil, err
	}
	s := &stage{target: t, path: "/" + strings.TrimSpace(string(t.line))}
	if s.bridge, err = startBridge(o.Bridge, append([]string{"--allow=" + s.path[1:]}, args...)...); err != nil {
		return nil, errors.Join(err, t.kill())
	}
	// The first connection makes what stays: the poller, pools, the threads.
	c, err := connect(s.at(loopback(9999)))
	if err != nil {
		return nil, errors.Join(err, s.end())
	}
	if err := c.Close(); err != nil {
		return nil, errors.Join(err, s.end())
	}
	for deadline := time.Now().Add(ioTimeout); ; time.Sleep(10 * time.Millisecond) {
		if s.before, err = s.usage(); err != nil || time.Now().After(deadline) {
			return nil, errors.Join(errors.New("the first connection does not end"), err, s.end())
		}
		if s.before.connections == 0 {
			return s, nil
		}
	}
}

func (s *stage) at(from string) address { return address{from: from, bridge: s.address, path: s.path} }

// end ends both processes. The bridge must end well.
func (s *stage) end() error {
	s.asker.CloseIdleConnections()
	_ = s.target.cmd.Process.Kill() // it may be dead already
	_ = s.target.cmd.Wait()
	return s.bridge.stop()
}

// finish makes sure that nothing is left of what was done, and ends.
func (s *stage) finish(err error) error {
	if err == nil {
		err = s.settle(s.before, 2*ioTimeout)
	}
	ended := s.end()
	if err != nil {
		err = fmt.Errorf("%w; the bridge's last words: %s", err, tail(s.bridge.stderr.String()))
	}
	return errors.Join(err, ended)
}

func tail(s string) string { return s[max(0, len(s)-2000):] }

// honest connects clients that mean it, one after the other, and says how long
// they waited for act two.
func (s *stage) honest(n int) (waits string, err error) {
	times := make([]time.Duration, n)
	again := 0
	for i := range times {
		start := time.Now()
		c, cut, err := patiently(s.at(loopback(5000 + i)))
		again += cut
		if err == nil {
			err = handshake(c)
		}
		if err != nil {
			return "", fmt.Errorf("an honest client: %w", err)
		}
		times[i] = time.Since(start)
		if err := c.Close(); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("an honest client waits %v for act two (longest of %d: %v; %d times it lost its place and came again)",
		quantile(times, 0.5).Round(time.Microsecond), n, quantile(times, 1).Round(time.Microsecond), again), nil
}
