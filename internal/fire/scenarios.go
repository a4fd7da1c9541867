//go:build unix

package fire

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

// quantile sorts and returns the element below which q of all lie.
func quantile(times []time.Duration, q float64) time.Duration {
	slices.Sort(times)
	return times[int(q*float64(len(times)-1))]
}

// idle opens as many connections as it is told, past act two, and looks at the
// bridge's memory, at an honest client's wait, and at what the bridge says when
// it is full.
func idle(o Options) error {
	s, err := newStage(o, "echo", "--max-per-target=100000", "--max-connections="+strconv.Itoa(o.Connections+extra))
	if err != nil {
		return err
	}
	return s.finish(s.idle(o))
}

// extra is how many connections the bridge takes beyond the idle ones.
const extra = 10

func (s *stage) idle(o Options) error {
	before, err := rss(s.pid)
	if err != nil {
		return err
	}
	start := time.Now()
	crowd, err := o.Helper.start("crowd", s.address, s.path, strconv.Itoa(o.Connections), "0")
	if err != nil {
		return err
	}
	took := time.Since(start)
	err = s.withCrowd(o, before, took)
	// The crowd ends with its input.
	return errors.Join(err, crowd.input.Close(), crowd.cmd.Wait())
}

func (s *stage) withCrowd(o Options, before int, took time.Duration) error {
	after, err := rss(s.pid)
	if err != nil {
		return err
	}
	open, err := s.metric("brontosig_bridge_connections")
	if err != nil {
		return err
	}
	each := (after - before) / o.Connections
	fmt.Fprintf(o.Out, "  %d connections in %.1f s: %.1f KiB of memory each\n", open, took.Seconds(), float64(each)/1024)
	if open != o.Connections {
		return fmt.Errorf("%d connections are open, not %d", open, o.Connections)
	}
	if each > mostMemory && !o.AnyMemory {
		return fmt.Errorf("a connection takes %d bytes", each)
	}
	wait, err := s.honest(20)
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "  %s\n", wait)
	return s.beyond(o)
}

// beyond fills the bridge and makes sure that it says so.
func (s *stage) beyond(o Options) error {
	var last []io.Closer
	defer func() {
		for _, c := range last {
			_ = c.Close()
		}
	}()
	capacity, err := s.metric("brontosig_bridge_capacity")
	if err != nil {
		return err
	}
	// Those of the honest clients may still be ending.
	for deadline := time.Now().Add(ioTimeout); len(last) < capacity-o.Connections; {
		c, err := connect(s.at(loopback(6000)))
		if err == nil {
			last = append(last, c)
		} else if time.Now().After(deadline) {
			return fmt.Errorf("connection %d of %d: %w", o.Connections+len(last), capacity, err)
		}
	}
	var status refused
	if _, err := connect(s.at(loopback(6001))); !errors.As(err, &status) || status.status != 503 {
		return fmt.Errorf("a program too many: %w", err)
	}
	page := s.at(loopback(6002))
	page.origin = testOrigin
	var code closed
	if _, err := connect(page); !errors.As(err, &code) || code.code != 4503 {
		return fmt.Errorf("a page too many: %w", err)
	}
	fmt.Fprintf(o.Out, "  beyond %d: HTTP status 503, close code 4503\n", capacity)
	return nil
}

// slow opens connections from many addresses that send a part of what they
// should: of the HTTP request, of a WebSocket frame, of act one. All must end,
// and honest clients be served in the meantime.
func slow(o Options) error {
	s, err := newStage(o, "echo", "--handshake-timeout=5s")
	if err != nil {
		return err
	}
	return s.finish(s.slow(o))
}

func (s *stage) slow(o Options) error {
	kinds := []struct {
		about string
		open  func(address) (net.Conn, error)
	}{
		{"a part of the HTTP request", func(a address) (net.Conn, error) {
			return sendRaw(a, "GET / HTTP/1.1\r\nHost: "+a.bridge+"\r\nX-")
		}},
		{"all but the end of the handshake", func(a address) (net.Conn, error) {
			request := a.request()
			return sendRaw(a, request[:len(request)-2])
		}},
		{"a part of a frame header", func(a address) (net.Conn, error) { return slowFrame(a, []byte{0x82}) }},
		{"a part of act one", func(a address) (net.Conn, error) {
			return slowFrame(a, append([]byte{0x82, 0x80 | 50, 0, 0, 0, 0}, act[:49]...))
		}},
		{"nothing", func(a address) (net.Conn, error) { return sendRaw(a, "") }},
	}
	errs, figures := make([]error, len(kinds)), make([]string, len(kinds))
	var work sync.WaitGroup
	for i, kind := range kinds {
		work.Go(func() {
			var err error
			if figures[i], err = s.slowly(o, i, kind.open); err != nil {
				errs[i] = fmt.Errorf("%s: %w", kind.about, err)
			}
		})
	}
	work.Wait()
	for i, kind := range kinds {
		fmt.Fprintf(o.Out, "  %d that send %s: %s\n", o.Attackers, kind.about, figures[i])
	}
	return errors.Join(errs...)
}

func (s *stage) slowly(o Options, nth int, open func(address) (net.Conn, error)) (figures string, err error) {
	conns := make([]net.Conn, 0, o.Attackers)
	defer func() {
		for _, c := range conns {
			_ = c.Close()
		}
	}()
	start := time.Now()
	for i := range o.Attackers {
		c, err := open(s.at(loopback(1000*nth + i/20)))
		if err != nil {
			return "", err
		}
		conns = append(conns, c)
	}
	wait, err := s.honest(20)
	if err != nil {
		return "", err
	}
	for i, c := range conns {
		if _, err := io.Copy(io.Discard, c); errors.Is(err, os.ErrDeadlineExceeded) {
			return "", fmt.Errorf("connection %d is still open", i)
		}
	}
	return fmt.Sprintf("%s; all gone after %.1f s", wait, time.Since(start).Seconds()), nil
}

func sendRaw(a address, text string) (net.Conn, error) {
	conn, err := dialTCP(a.from, a.bridge)
	if err != nil {
		return nil, err
	}
	_, err = io.WriteString(conn, text)
	return conn, err
}

func slowFrame(a address, frame []byte) (net.Conn, error) {
	c, _, err := patiently(a)
	if err != nil {
		return nil, err
	}
	_, err = c.Conn.Write(frame)
	return c.Conn, err
}

// flood opens connections from one address, as fast as it can and without an
// end, while others come from elsewhere.
func flood(o Options) error {
	s, err := newStage(o, "echo")
	if err != nil {
		return err
	}
	return s.finish(s.flood(o))
}

func (s *stage) flood(o Options) error {
	var attack sync.WaitGroup
	done := make(chan struct{})
	var mu sync.Mutex
	turnedAway, failed := 0, 0
	var open []io.Closer
	for range 8 {
		attack.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				c, err := connect(s.at(loopback(7000)))
				mu.Lock()
				var status refused
				switch {
				case err == nil:
					open = append(open, c)
				case errors.As(err, &status):
					turnedAway++
				default:
					failed++
				}
				mu.Unlock()
			}
		})
	}
	wait, err := s.honest(o.Attackers)
	close(done)
	attack.Wait()
	served := len(open)
	for _, c := range open {
		_ = c.Close()
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(o.Out, "  the address got %d connections, was refused %d times and cut off %d times; %s\n",
		served, turnedAway, failed, wait)
	if served > 64 {
		return fmt.Errorf("one address has %d connections", served)
	}
	return nil
}

// abort connects and breaks off, each time somewhere else.
func abort(o Options) error {
	s, err := newStage(o, "echo")
	if err != nil {
		return err
	}
	return s.finish(s.abort(o))
}

func (s *stage) abort(o Options) error {
	request := s.at("").request()
	for i := range o.Cycles {
		a := s.at(loopback(i % 50))
		var c net.Conn
		var err error
		switch at := i / 6; i % 6 {
		case 0:
			c, err = sendRaw(a, "")
		case 1:
			c, err = sendRaw(a, request[:at%len(request)])
		case 2:
			c, err = sendRaw(a, request) // gone before the answer, perhaps during the dial
		case 3:
			c, err = slowFrame(a, append([]byte{0x82, 0x80 | 50, 0, 0, 0, 0}, act[:at%50]...))
		case 4:
			c, err = asConn(connect(a))
		case 5:
			if c, err = asConn(connect(a)); err == nil {
				_, err = c.Write(make([]byte, at%4096))
			}
		}
		if err != nil {
			return fmt.Errorf("cycle %d: %w", i, err)
		}
		if i%2 == 0 {
			reset(c)
		}
		_ = c.Close()
	}
	fmt.Fprintf(o.Out, "  %d cycles\n", o.Cycles)
	return nil
}

func asConn(c *wsClient, err error) (net.Conn, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// reset makes a close break the connection off.
func reset(c net.Conn) {
	if ws, ok := c.(*wsClient); ok {
		c = ws.Conn
	}
	_ = c.(*net.TCPConn).SetLinger(0)
}

// deaf fills connections to targets that never read. The bridge must stop
// reading, and let go when nothing moves.
func deaf(o Options) error { return stuck(o, "deaf") }

// endless leaves unread what targets send that never stop.
func endless(o Options) error { return stuck(o, "flood") }

func stuck(o Options, kind string) error {
	s, err := newStage(o, kind, "--idle-timeout=1s")
	if err != nil {
		return err
	}
	return s.finish(s.stuck(o, kind))
}

func (s *stage) stuck(o Options, kind string) error {
	before, err := rss(s.pid)
	if err != nil {
		return err
	}
	n := min(o.Attackers, 50)
	conns := make([]*wsClient, n)
	var work sync.WaitGroup
	sent := make([]int, n)
	for i := range conns {
		c, err := connect(s.at(loopback(i / 10)))
		if err != nil {
			return err
		}
		conns[i] = c
		if err := c.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
			return err
		}
		work.Go(func() {
			chunk := make([]byte, 16<<10)
			for sent[i] < 64<<20 {
				if _, err := c.Write(chunk); err != nil {
					return
				}
				sent[i] += len(chunk)
			}
		})
	}
	work.Wait()
	after, err := rss(s.pid)
	if err != nil {
		return err
	}
	wait, err := s.honest(20)
	if err != nil {
		return err
	}
	for i, c := range conns {
		if kind == "deaf" && sent[i] >= 64<<20 {
			return fmt.Errorf("the bridge took %d bytes that nobody reads", sent[i])
		}
		_ = c.Close()
	}
	each := (after - before) / n
	fmt.Fprintf(o.Out, "  %d clients, %.1f KiB of memory each; %s\n",
		n, float64(each)/1024, wait)
	if each > 4*mostMemory && !o.AnyMemory {
		return fmt.Errorf("a stuck connection takes %d bytes", each)
	}
	return nil
}

// killed kills a target in the middle of what it sends. Every client must hear
// of it.
func killed(o Options) error {
	s, err := newStage(o, "flood")
	if err != nil {
		return err
	}
	ends := make(chan error)
	// The kernel may hold some 10 MiB for each, which they read first.
	n := min(o.Attackers, 10)
	for i := range n {
		c, err := connect(s.at(loopback(i / 10)))
		if err != nil {
			return s.finish(err)
		}
		go func() {
			defer c.Close()
			_, err := io.Copy(io.Discard, c)
			ends <- err
		}()
	}
	if err := s.target.cmd.Process.Kill(); err != nil {
		return s.finish(err)
	}
	codes := map[int]int{}
	for range n {
		var code closed
		if err := <-ends; !errors.As(err, &code) || code.code != 1000 && code.code != 4502 {
			return s.finish(fmt.Errorf("a client got %w", err))
		}
		codes[code.code]++
	}
	fmt.Fprintf(o.Out, "  %d clients heard close codes %v\n", n, codes)
	return s.finish(nil)
}
