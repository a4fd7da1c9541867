// Buildnodes builds the nodes that the tests of this folder talk to, each from
// the source that the Go module proxy has under a version, and prints where each
// program is:
//
//	go run ./buildnodes DIR
//
// A source is copied out of the module cache, compared with the sum below, and
// built in the copy, so that the node's own go.mod, replace lines included, says
// what goes into it. The programs stay in DIR and are built again only for
// another version, other tags or another Go. Any number of runs may share DIR.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

// A node is a program to build: the main package of a folder of a module.
type node struct {
	name    string
	module  string
	version string
	sum     string // of the module's files, as go.sum writes it
	folder  string // of the main package
	tags    string
}

// nodes lists what is built. The tags of lnd are those of its MuSig2 calls and
// of the keys they sign with.
var nodes = []node{
	{
		name:    "btcd",
		module:  "github.com/btcsuite/btcd",
		version: "v0.25.0",
		sum:     "h1:JPbjwvHGpSywBRuorFFqTjaVP4y6Qw69XJ1nQ6MyWJM=",
		folder:  ".",
	},
	{
		name:    "lnd",
		module:  "github.com/lightningnetwork/lnd",
		version: "v0.21.1-beta",
		sum:     "h1:XYr8CRY3EB5bQ8I43/6QbOZP1dRi/XI6dwzTHlS2jxQ=",
		folder:  "cmd/lnd",
		tags:    "signrpc,walletrpc",
	},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: go run ./buildnodes DIR")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		program, err := n.provide(ctx, dir)
		if err != nil {
			return fmt.Errorf("%s %s: %w", n.name, n.version, err)
		}
		fmt.Println(program)
	}
	return nil
}
