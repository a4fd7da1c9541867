//go:build !(js && wasm)

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
)

func TestUsage(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"help":             {[]string{"-h"}, 0, "-allow"},
		"unknown flag":     {[]string{"-nonsense"}, exitUsage, "nonsense"},
		"argument":         {[]string{"extra"}, exitUsage, `unexpected argument "extra"`},
		"bad target":       {[]string{"-listen", "127.0.0.1:0", "-allow", "not a target"}, exitUsage, "not a target"},
		"bad origin":       {[]string{"-listen", "127.0.0.1:0", "-demo", "-origin", "nonsense"}, exitUsage, "nonsense"},
		"bad address":      {[]string{"-listen", "256.0.0.1:1", "-demo"}, exitFailed, "256.0.0.1"},
		"missing argument": {[]string{"-listen"}, exitUsage, "-listen"},
	} {
		t.Run(name, func(t *testing.T) {
			var stdout, stderr strings.Builder
			if code := run(t.Context(), c.args, &stdout, &stderr); code != c.code {
				t.Errorf("exit code %d, want %d; it said:\n%s", code, c.code, stderr.String())
			}
			if !strings.Contains(stderr.String(), c.says) {
				t.Errorf("it does not say %q but:\n%s", c.says, stderr.String())
			}
			if stdout.Len() > 0 {
				t.Errorf("output %q", stdout.String())
			}
		})
	}
}

// TestDemo starts the bridge with its peer, opens a WebSocket to the peer and
// ends the program while it is open.
func TestDemo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader, writer := io.Pipe()
	var log strings.Builder
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"-listen", "127.0.0.1:0", "-demo"}, writer, &log)
		writer.Close()
	}()
	line, err := bufio.NewReader(reader).ReadBytes('\n')
	if err != nil {
		t.Fatalf("%v; it said:\n%s", err, log.String())
	}
	var got ready
	if err := json.Unmarshal(line, &got); err != nil {
		t.Fatal(err)
	}
	if got.DemoPeer == nil || len(got.DemoPeer.NodeID) != 66 || !strings.HasPrefix(got.Bridge, "ws://127.0.0.1:") {
		t.Fatalf("ready line %s", line)
	}

	timeout, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	conn, _, err := websocket.Dial(timeout, got.Bridge+"/"+got.DemoPeer.Address, nil)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_, _, err = conn.Read(timeout)
	if status := websocket.CloseStatus(err); status != websocket.StatusGoingAway {
		t.Errorf("the open connection ended with %v, want close code 1001", err)
	}
	if got := <-code; got != 0 {
		t.Errorf("exit code %d; it said:\n%s", got, log.String())
	}
}
