//go:build !(js && wasm)

// Brontosig-bridge lets web pages reach Lightning nodes that only listen on
// TCP. Each WebSocket becomes one TCP connection to a node that was allowed; the
// bridge sees ciphertext only.
//
// When it is ready it prints one line of JSON to the standard output:
//
//	{"bridge":"ws://127.0.0.1:8080","demoPeer":{"nodeId":"02…","address":"127.0.0.1:40000"}}
//
// where demoPeer is there with --demo only. Logs go to the standard error. It
// ends on SIGINT or SIGTERM, after it has closed every connection.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/brontosig/brontosig/bridge"
	"github.com/brontosig/brontosig/internal/demopeer"
)

const (
	// headerTimeout bounds how long a client may take to send a request.
	headerTimeout = 10 * time.Second

	// answerTimeout bounds how long a request may take that is not upgraded,
	// dialling included.
	answerTimeout = 30 * time.Second

	// maxHeaderBytes bounds the request's headers. Browsers send less than 2 KiB.
	maxHeaderBytes = 16 << 10

	// shutdownTimeout bounds how long open connections may take to close.
	shutdownTimeout = 15 * time.Second
)

// The exit codes beside 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	listen string
	demo   bool
	bridge bridge.Config
}

func parseOptions(args []string, stderr io.Writer) (*options, error) {
	var o options
	flags := flag.NewFlagSet("brontosig-bridge", flag.ContinueOnError)
	flags.SetOutput(stderr)
	list := func(name, usage string, to *[]string) {
		flags.Func(name, usage, func(s string) error {
			*to = append(*to, s)
			return nil
		})
	}
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address` to listen on; port 0 takes a free one")
	list("allow", "a `target` that clients may reach: NODEID@HOST:PORT, HOST:PORT, or CIDR[:PORT]; may be repeated", &o.bridge.Allow)
	list("origin", "an `origin` whose pages may use the bridge, such as https://wallet.example; may be repeated", &o.bridge.Origins)
	list("public-host", "a `host` that the bridge is reached by, such as bridge.example; may be repeated\n(default: the address that a client connects to, and localhost)", &o.bridge.PublicHosts)
	flags.BoolVar(&o.bridge.AllowNoOrigin, "allow-no-origin", false, "accept programs, which send no origin, from other machines too")
	flags.BoolVar(&o.demo, "demo", false, "run a Lightning peer that answers init and ping on loopback, and allow it")
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() > 0 {
		err := fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintln(stderr, err)
		flags.Usage()
		return nil, err
	}
	return &o, nil
}

// run is the program. It returns the exit code, after everything it started has
// ended.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parseOptions(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return exitUsage
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	err = o.serve(ctx, stdout, log)
	var invalid bridge.Error
	switch {
	case errors.Is(err, bridge.ErrNothingAllowed):
		fmt.Fprintln(stderr, "no target is allowed: give at least one -allow, or -demo")
		return exitUsage
	case errors.As(err, &invalid):
		fmt.Fprintln(stderr, invalid.Desc)
		return exitUsage
	case err != nil:
		log.Error("failed", "err", err)
		return exitFailed
	}
	return 0
}

// ready is the line that tells scripts where the bridge is.
type ready struct {
	Bridge   string     `json:"bridge"`
	DemoPeer *readyPeer `json:"demoPeer,omitempty"`
}

type readyPeer struct {
	NodeID  string `json:"nodeId"`
	Address string `json:"address"`
}

// serve runs the bridge, and with --demo the peer, until ctx ends.
func (o *options) serve(ctx context.Context, stdout io.Writer, log *slog.Logger) (err error) {
	var line ready
	o.bridge.Logger = log
	if o.demo {
		peer, err := demopeer.Start(log)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, peer.Close()) }()
		line.DemoPeer = &readyPeer{peer.NodeID(), peer.Address()}
		o.bridge.Allow = append(o.bridge.Allow, peer.NodeID()+"@"+peer.Address())
	}
	b, err := bridge.New(o.bridge)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	server := newServer(b, headerTimeout, log)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	line.Bridge = "ws://" + listener.Addr().String()
	if err := json.NewEncoder(stdout).Encode(line); err != nil {
		return errors.Join(err, stop(server, b))
	}
	select {
	case <-ctx.Done():
		log.Info("shutting down")
		return stop(server, b)
	case err := <-served:
		return errors.Join(err, stop(server, b))
	}
}

// newServer makes a server that gives no client more than timeout to send the
// first request or, after a refusal, the next.
func newServer(handler http.Handler, timeout time.Duration, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: timeout,
		// For bodies that nobody reads, and answers that nobody takes. What is
		// upgraded has its own limits: hijacking removes these.
		ReadTimeout:    timeout,
		WriteTimeout:   answerTimeout,
		IdleTimeout:    timeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// stop ends the open connections, and then the listener. In between, clients
// are told that the bridge is shutting down.
func stop(server *http.Server, b *bridge.Bridge) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := b.Shutdown(ctx)
	if server.Shutdown(ctx) != nil {
		// Some client keeps its connection busy. It has had its time.
		return errors.Join(err, server.Close())
	}
	return err
}
