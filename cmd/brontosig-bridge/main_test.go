//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/brontosig/brontosig/internal/fire"
)

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"unknown flag":     {[]string{"--nonsense"}, exitUsage, "nonsense"},
		"argument":         {[]string{"extra"}, exitUsage, "unexpected argument extra"},
		"nothing allowed":  {[]string{"--listen", "127.0.0.1:0"}, exitUsage, "--demo"},
		"bad target":       {[]string{"--listen", "127.0.0.1:0", "--allow", "not a target"}, exitUsage, "not a target"},
		"bad origin":       {[]string{"--listen", "127.0.0.1:0", "--demo", "--origin", "nonsense"}, exitUsage, "nonsense"},
		"bad route":        {[]string{"--demo", "--route", "v2"}, exitUsage, "v2"},
		"bad time":         {[]string{"--demo", "--idle-timeout", "soon"}, exitUsage, "soon"},
		"negative limit":   {[]string{"--listen", "127.0.0.1:0", "--demo", "--max-dials=-1"}, exitUsage, "MaxDials"},
		"short token":      {[]string{"--listen", "127.0.0.1:0", "--demo", "--token", "hush"}, exitUsage, "16"},
		"key alone":        {[]string{"--demo", "--tls-key", "key.pem"}, exitUsage, "--tls-cert"},
		"no certificate":   {[]string{"--demo", "--tls-key", "/nowhere/key.pem", "--tls-cert", "/nowhere/cert.pem"}, exitFailed, "/nowhere/cert.pem"},
		"no file":          {[]string{"--demo", "--config", "/nowhere/bridge.toml"}, exitUsage, "/nowhere/bridge.toml"},
		"bad address":      {[]string{"--listen", "256.0.0.1:1", "--demo"}, exitFailed, "256.0.0.1"},
		"bad status":       {[]string{"--listen", "127.0.0.1:0", "--status-listen", "256.0.0.1:1", "--demo"}, exitFailed, "256.0.0.1"},
		"missing argument": {[]string{"--listen"}, exitUsage, "--listen"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if code := run(t.Context(), nil, c.args, &stdout, &stderr); code != c.code {
				t.Errorf("exit code %d, want %d; it said:\n%s", code, c.code, stderr.String())
			}
			if !strings.Contains(stderr.String(), c.says) {
				t.Errorf("it does not say %q but:\n%s", c.says, stderr.String())
			}
			if strings.Contains(stderr.String(), "hush") {
				t.Errorf("it repeats a token:\n%s", stderr.String())
			}
			if stdout.Len() > 0 {
				t.Errorf("output %q", stdout.String())
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run(t.Context(), nil, []string{"-h"}, &stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Errorf("exit code %d; it said:\n%s", code, stderr.String())
	}
	if !strings.Contains(stdout.String(), "--allow") {
		t.Errorf("it does not say what it takes:\n%s", stdout.String())
	}
}

// TestMain lets the test binary be the program, for tests that need a process.
func TestMain(m *testing.M) {
	switch os.Getenv(testRuns) {
	case "main":
		if n, err := strconv.Atoi(os.Getenv(testLimit)); err == nil {
			limit := syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}
			if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
				panic(err)
			}
		}
		main()
	case "helper":
		if err := fire.Helper(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// testRuns says what the test binary does instead of running tests.
const testRuns = "BRONTOSIG_BRIDGE_TEST_RUNS"

// testLimit is how many files the program may open.
const testLimit = "BRONTOSIG_BRIDGE_TEST_LIMIT"

// TestUnderFire is a small version of "make fire".
func TestUnderFire(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("it reads memory and descriptors from /proc, which this system does not have")
	}
	var figures strings.Builder
	err := fire.Run(fire.Options{
		Bridge:      fire.Command{Args: os.Args[:1], Env: []string{testRuns + "=main"}},
		Helper:      fire.Command{Args: os.Args[:1], Env: []string{testRuns + "=helper"}},
		Connections: 300,
		Attackers:   100,
		Cycles:      200,
		Bytes:       16 << 20,
		Together:    true,
		AnyMemory:   true, // the race detector takes much of its own
		Out:         &figures,
	})
	t.Logf("\n%s", figures.String())
	if err != nil {
		t.Error(err)
	}
}

// process is the program as a process of its own.
type process struct {
	*exec.Cmd
	ready  ready
	output *bufio.Reader
	log    logLines
}

// start runs the program and makes sure that it ends. What is in env is added to
// the environment.
func start(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	p := &process{Cmd: exec.CommandContext(ctx, os.Args[0], append([]string{"--listen=127.0.0.1:0"}, args...)...)}
	p.Env = append(append(os.Environ(), testRuns+"=main"), env...)
	p.Stderr = &p.log
	stdout, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	// Ends and reaps it where the test stops early; else it has ended already.
	t.Cleanup(func() {
		cancel()
		_ = p.Wait()
	})
	p.output = bufio.NewReader(stdout)
	line, err := p.output.ReadBytes('\n')
	if err != nil {
		t.Fatalf("%v; it said:\n%s", err, p.log.String())
	}
	if err := json.Unmarshal(line, &p.ready); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *process) signal(t *testing.T, s os.Signal) {
	t.Helper()
	if err := p.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// expectEnd makes sure that the program ends well and says no more.
func (p *process) expectEnd(t *testing.T) {
	t.Helper()
	if rest, err := io.ReadAll(p.output); err != nil || len(rest) > 0 {
		t.Errorf("more output: %q, %v", rest, err)
	}
	if err := p.Wait(); err != nil {
		t.Errorf("%v; it said:\n%s", err, p.log.String())
	}
}

// logLines keeps what a program logs and tells who waits for a line.
type logLines struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{}
}

func (l *logLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.more != nil {
		close(l.more)
		l.more = nil
	}
	return l.text.Write(b)
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// await waits until a text has been logged n times.
func (l *logLines) await(t *testing.T, text string, n int) {
	t.Helper()
	for {
		l.mu.Lock()
		if strings.Count(l.text.String(), text) >= n {
			l.mu.Unlock()
			return
		}
		more := make(chan struct{})
		l.more = more
		l.mu.Unlock()
		select {
		case <-more:
		case <-time.After(30 * time.Second):
			t.Fatalf("it does not say %q but:\n%s", text, l.String())
		}
	}
}

// TestDemo starts the program with its peer, opens a WebSocket to the peer and
// sends SIGTERM while it is open.
func TestDemo(t *testing.T) {
	p := start(t, nil, "--demo")
	if p.ready.DemoPeer == nil || len(p.ready.DemoPeer.NodeID) != 66 || !strings.HasPrefix(p.ready.Bridge, "ws://127.0.0.1:") {
		t.Fatalf("ready line %+v", p.ready)
	}
	conn, _, err := websocket.Dial(t.Context(), p.ready.Bridge+"/"+p.ready.DemoPeer.Address, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.signal(t, syscall.SIGTERM)
	_, _, err = conn.Read(t.Context())
	if status := websocket.CloseStatus(err); status != websocket.StatusGoingAway {
		t.Errorf("the open connection ended with %v, want close code 1001", err)
	}
	p.expectEnd(t)
}

// failingWriter is a standard output that nobody reads.
type failingWriter struct{}

func (failingWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestUnreadReadyLine makes sure that a bridge which cannot say where it is does
// not stay.
func TestUnreadReadyLine(t *testing.T) {
	var stderr strings.Builder
	if code := run(t.Context(), nil, []string{"--listen", "127.0.0.1:0", "--demo"}, failingWriter{}, &stderr); code != exitFailed {
		t.Errorf("exit code %d; it said:\n%s", code, stderr.String())
	}
}
