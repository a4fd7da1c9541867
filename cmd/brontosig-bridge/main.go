//go:build !(js && wasm)

// Brontosig-bridge lets web pages reach Lightning nodes that only listen on
// TCP. Each WebSocket becomes one TCP connection to a node that was allowed; the
// bridge sees ciphertext only.
//
// When it is ready it prints one line of JSON to the standard output:
//
//	{"bridge":"ws://127.0.0.1:8080","status":"http://127.0.0.1:9090",
//	 "demoPeer":{"nodeId":"02…","address":"127.0.0.1:40000","rune":"…"}}
//
// where status is there with --status-listen only, and demoPeer with --demo; the
// rune allows commando calls.
// Logs go to the standard error. On SIGHUP it reads its configuration file and
// its certificate again: what is allowed and who may use it changes, and limits
// stay. It ends on SIGINT or SIGTERM, after it has closed every connection; a
// second signal ends it at once.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"

	"github.com/brontosig/brontosig/bridge"
	"github.com/brontosig/brontosig/internal/demopeer"
)

// The exit codes beside 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		cancel()
		// A second signal ends the program at once, with the code that shells
		// give one that a signal has ended.
		second := <-signals
		os.Exit(128 + int(second.(syscall.Signal)))
	}()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	os.Exit(run(ctx, hangups, os.Args[1:], os.Stdout, os.Stderr))
}

// run is the program. It returns the exit code, after everything it started has
// ended.
func run(ctx context.Context, hangups <-chan os.Signal, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stdout)
	switch {
	case errors.Is(err, errHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "brontosig-bridge: %v\n", err)
		return exitUsage
	}
	p := &program{args: args, options: o, log: newLog(stderr, o.LogFormat)}
	err = p.serve(ctx, hangups, stdout)
	var invalid bridge.Error
	switch {
	case errors.Is(err, bridge.ErrNothingAllowed):
		fmt.Fprintln(stderr, "no target is allowed: give at least one --allow, or --allow-public, or --demo")
		return exitUsage
	case errors.As(err, &invalid):
		fmt.Fprintln(stderr, invalid.Desc)
		return exitUsage
	case err != nil:
		p.log.Error("failed", "err", err)
		return exitFailed
	}
	return 0
}

func newLog(w io.Writer, format string) *slog.Logger {
	if format == "json" {
		return slog.New(slog.NewJSONHandler(w, nil))
	}
	return slog.New(slog.NewTextHandler(w, nil))
}

// ready is the line that tells scripts where the bridge is.
type ready struct {
	Bridge   string     `json:"bridge"`
	Status   string     `json:"status,omitempty"`
	DemoPeer *readyPeer `json:"demoPeer,omitempty"`
}

type readyPeer struct {
	NodeID  string `json:"nodeId"`
	Address string `json:"address"`
	Rune    string `json:"rune"`
}

// program is a run of the program.
type program struct {
	args    []string
	options *options
	log     *slog.Logger
	peer    *demopeer.Peer // nil without --demo
	cert    *certificate   // nil without TLS
	bridge  *bridge.Bridge
}

// config returns what options say to the bridge.
func (p *program) config(o *options) bridge.Config {
	c := o.bridge()
	c.Logger = p.log
	if p.peer != nil {
		c.Allow = append(c.Allow, p.peer.NodeID()+"@"+p.peer.Address())
	}
	return c
}

// serve runs the bridge, and what belongs to it, until ctx ends.
func (p *program) serve(ctx context.Context, hangups <-chan os.Signal, stdout io.Writer) (err error) {
	var line ready
	if p.options.Demo {
		if p.peer, err = demopeer.Start(p.log); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, p.peer.Close()) }()
		line.DemoPeer = &readyPeer{p.peer.NodeID(), p.peer.Address(), p.peer.Rune()}
	}
	if p.options.TLSCert != "" {
		if p.cert, err = loadCertificate(p.options.TLSCert, p.options.TLSKey); err != nil {
			return err
		}
	}
	registry := newRegistry()
	config := p.config(p.options)
	config.Registerer = registry
	if p.bridge, err = bridge.New(config); err != nil {
		return err
	}
	if n := p.bridge.Capacity(); n < p.options.MaxConnections {
		p.log.Info("the limit on open files (ulimit -n) allows fewer connections than --max-connections", "connections", n)
	}
	if p.options.StatusListen != "" {
		l, err := net.Listen("tcp", p.options.StatusListen)
		if err != nil {
			return err
		}
		s := startStatus(l, p.bridge.Ready, registry)
		defer func() { err = errors.Join(err, s.stop()) }()
		line.Status = "http://" + l.Addr().String()
	}
	server, address, err := p.listen()
	if err != nil {
		return err
	}
	line.Bridge = address
	served := make(chan error, 1)
	go func() { served <- server.Serve() }()
	if err := json.NewEncoder(stdout).Encode(line); err != nil {
		return errors.Join(err, p.stop(server))
	}
	for {
		select {
		case <-ctx.Done():
			p.log.Info("shutting down")
			return p.stop(server)
		case err := <-served:
			return errors.Join(err, p.stop(server))
		case <-hangups:
			p.reload()
		}
	}
}

func (p *program) listen() (*bridge.Server, string, error) {
	l, err := net.Listen("tcp", p.options.Listen)
	if err != nil {
		return nil, "", err
	}
	address := l.Addr().String()
	if p.cert == nil {
		return bridge.NewServer(p.bridge, l.(*net.TCPListener), nil), "ws://" + address, nil
	}
	return bridge.NewServer(p.bridge, l.(*net.TCPListener), p.cert.config()), "wss://" + address, nil
}

// reload reads the configuration and the certificate again. What is wrong with
// one leaves the old one in place.
func (p *program) reload() {
	o, err := parseOptions(p.args, io.Discard)
	if err == nil {
		err = p.bridge.Reload(p.config(o))
	}
	if err != nil {
		p.log.Error("the configuration was not reloaded", "err", err)
	} else {
		p.log.Info("the configuration was reloaded")
	}
	if p.cert == nil {
		return
	}
	if err := p.cert.reload(); err != nil {
		p.log.Error("the certificate was not reloaded", "err", err)
	} else {
		p.log.Info("the certificate was reloaded")
	}
}

// stop ends the open connections, and then the listener. When some take longer
// than they may, they are cut off, and that is no failure.
func (p *program) stop(server *bridge.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), p.options.DrainTimeout)
	defer cancel()
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		p.log.Warn("connections were cut off: they took too long to close")
		return nil
	}
	return err
}
