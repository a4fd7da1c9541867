//go:build !(js && wasm)

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/alecthomas/kong"

	"github.com/brontosig/brontosig/bridge"
)

// envPrefix is the start of the environment variables that stand for options.
const envPrefix = "BRONTOSIG_BRIDGE"

// options are what the command line, the environment and the configuration file
// say together, in this order of precedence.
type options struct {
	Config string `placeholder:"FILE" help:"Read options from a TOML file, whose keys are the names of these options without the dashes before them."`

	Listen       string `default:"127.0.0.1:8080" placeholder:"ADDRESS" help:"Address to listen on; port 0 takes a free one (default: ${default})."`
	StatusListen string `placeholder:"ADDRESS" help:"Address for /healthz, /readyz and /metrics, which must not be reachable from outside."`
	TLSCert      string `name:"tls-cert" placeholder:"FILE" help:"Certificate chain in PEM. With it the bridge serves wss."`
	TLSKey       string `name:"tls-key" placeholder:"FILE" help:"Private key of the certificate in PEM."`

	Allow       []string `placeholder:"TARGET" help:"What clients may reach: NODEID@HOST:PORT, HOST:PORT, or CIDR[:PORT]. May be repeated."`
	AllowPublic bool     `help:"Let clients reach every public address, at the public ports."`
	PublicPort  []int    `placeholder:"PORT" help:"A port that --allow-public opens (default: 9735). May be repeated."`
	Deny        []string `placeholder:"CIDR" help:"Addresses that are never reached, whatever allows them. May be repeated."`
	Route       []string `enum:"address,v1,node" default:"address,v1,node" placeholder:"NAME" help:"A form of path that is served: address, v1 or node (default: all). May be repeated."`
	OnionProxy  string   `placeholder:"ADDRESS" help:"SOCKS5 proxy through which onion services are reached, and nothing else."`

	PublicHost    []string `placeholder:"HOST" help:"A host that the bridge is reached by, such as bridge.example (default: the address that a client connects to, and localhost). May be repeated."`
	Origin        []string `placeholder:"ORIGIN" help:"An origin whose pages may use the bridge, such as https://wallet.example. May be repeated."`
	AllowNoOrigin bool     `help:"Accept programs, which send no origin, from other machines too."`
	Token         []string `placeholder:"SECRET" help:"A secret that clients must send; better given in the file or the environment, where other users do not see it. May be repeated."`
	TrustedProxy  []string `placeholder:"CIDR" help:"A reverse proxy whose X-Forwarded-For is believed. May be repeated."`

	MaxConnections      int           `default:"${maxConnections}" placeholder:"N" help:"Connections in all (default: ${default}, or what the limit on open files allows)."`
	MaxPerClient        int           `default:"${maxPerClient}" placeholder:"N" help:"Connections of one IPv4 address or IPv6 /64 (default: ${default})."`
	MaxPerTarget        int           `default:"${maxPerTarget}" placeholder:"N" help:"Connections to one target (default: ${default})."`
	MaxDials            int           `default:"${maxDials}" placeholder:"N" help:"Connections being made at a time (default: ${default})."`
	MaxMessageBytes     int           `default:"${maxMessageBytes}" placeholder:"N" help:"Bytes in one WebSocket message (default: ${default})."`
	BytesPerSecond      int           `default:"0" placeholder:"N" help:"Bytes that one connection carries in a second (default: no limit)."`
	TotalBytesPerSecond int           `default:"0" placeholder:"N" help:"Bytes that all connections carry in a second (default: no limit)."`
	DialTimeout         time.Duration `default:"${dialTimeout}" placeholder:"TIME" help:"Time to look a name up and connect to it (default: ${default})."`
	HandshakeTimeout    time.Duration `default:"${handshakeTimeout}" placeholder:"TIME" help:"Time for each of the first two acts of BOLT-8 (default: ${default})."`
	IdleTimeout         time.Duration `default:"${idleTimeout}" placeholder:"TIME" help:"Time without a byte in either direction (default: ${default})."`
	MaxLifetime         time.Duration `default:"${maxLifetime}" placeholder:"TIME" help:"Time that a connection lasts (default: ${default})."`
	PingInterval        time.Duration `default:"${pingInterval}" placeholder:"TIME" help:"Silence of a client after which it is pinged; it may take four times as long to answer (default: ${default})."`
	DrainTimeout        time.Duration `default:"20s" placeholder:"TIME" help:"Time for open connections to close after SIGTERM (default: ${default})."`

	LogFormat string `enum:"text,json" default:"text" placeholder:"FORMAT" help:"Form of the logs on the standard error: text or json (default: ${default})."`
	Demo      bool   `help:"Run a Lightning peer that answers init and ping on loopback, and allow it."`
}

// defaults are those of the package.
var defaults = kong.Vars{
	"maxConnections":   fmt.Sprint(bridge.DefaultMaxConnections),
	"maxPerClient":     fmt.Sprint(bridge.DefaultMaxPerClient),
	"maxPerTarget":     fmt.Sprint(bridge.DefaultMaxPerTarget),
	"maxDials":         fmt.Sprint(bridge.DefaultMaxDials),
	"maxMessageBytes":  fmt.Sprint(bridge.DefaultMaxMessageBytes),
	"dialTimeout":      bridge.DefaultDialTimeout.String(),
	"handshakeTimeout": bridge.DefaultHandshakeTimeout.String(),
	"idleTimeout":      bridge.DefaultIdleTimeout.String(),
	"maxLifetime":      bridge.DefaultMaxLifetime.String(),
	"pingInterval":     bridge.DefaultPingInterval.String(),
}

// errHelp means that help was asked for, and given.
var errHelp = errors.New("help was asked for")

// newParser makes a parser that writes into o.
func newParser(o *options, out io.Writer, exit func(int), more ...kong.Option) (*kong.Kong, error) {
	return kong.New(o, append([]kong.Option{
		kong.Name("brontosig-bridge"),
		kong.Description("Carries BOLT-8 connections from WebSocket clients to Lightning nodes that listen on TCP, " +
			"by allow-list. Every option can also be set in the environment (" + envPrefix + "_…, lists separated by commas) or in a file."),
		kong.DefaultEnvars(envPrefix),
		kong.Writers(out, out),
		kong.Exit(exit),
		defaults,
	}, more...)...)
}

// parseOptions reads the options from all three places.
func parseOptions(args []string, stdout io.Writer) (*options, error) {
	o, err := parseWith(args, stdout)
	if err != nil || o.Config == "" {
		return o, err
	}
	file, err := readFile(o.Config)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Config, err)
	}
	return parseWith(args, stdout, kong.Resolvers(file))
}

func parseWith(args []string, stdout io.Writer, more ...kong.Option) (*options, error) {
	var o options
	helped := false
	parser, err := newParser(&o, stdout, func(int) { helped = true }, more...)
	if err != nil {
		return nil, err
	}
	_, err = parser.Parse(args)
	if helped {
		return nil, errHelp
	}
	if err == nil && (o.TLSCert == "") != (o.TLSKey == "") {
		err = errors.New("--tls-cert and --tls-key belong together")
	}
	return &o, err
}

// file is a configuration file.
type file map[string]any

func readFile(path string) (file, error) {
	var f file
	_, err := toml.DecodeFile(path, &f)
	return f, err
}

// Validate refuses keys that are no options: a limit that is misspelt would not
// be there.
func (f file) Validate(app *kong.Application) error {
	var names []string
	for _, flag := range app.Flags {
		if flag.Name != "help" && flag.Name != "config" {
			names = append(names, flag.Name)
		}
	}
	var unknown []string
	for key := range f {
		if !slices.Contains(names, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return fmt.Errorf("unknown option in the configuration file: %s", strings.Join(unknown, ", "))
	}
	return nil
}

// Resolve returns what the file says of an option, unless the environment, which
// has precedence, says something.
func (f file) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, name := range flag.Envs {
		if _, ok := os.LookupEnv(name); ok {
			return nil, nil
		}
	}
	return f[flag.Name], nil
}

// bridge returns the options that are the bridge's own.
func (o *options) bridge() bridge.Config {
	return bridge.Config{
		Allow: o.Allow, AllowPublic: o.AllowPublic, PublicPorts: o.PublicPort, Deny: o.Deny,
		Routes: o.Route, OnionProxy: o.OnionProxy,
		PublicHosts: o.PublicHost, Origins: o.Origin, AllowNoOrigin: o.AllowNoOrigin,
		Tokens: o.Token, TrustedProxies: o.TrustedProxy,
		MaxConnections: o.MaxConnections, MaxPerClient: o.MaxPerClient, MaxPerTarget: o.MaxPerTarget, MaxDials: o.MaxDials,
		MaxMessageBytes: o.MaxMessageBytes, BytesPerSecond: o.BytesPerSecond, TotalBytesPerSecond: o.TotalBytesPerSecond,
		DialTimeout: o.DialTimeout, HandshakeTimeout: o.HandshakeTimeout, IdleTimeout: o.IdleTimeout,
		MaxLifetime: o.MaxLifetime, PingInterval: o.PingInterval,
	}
}
