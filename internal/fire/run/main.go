//go:build unix

// Run loads a bridge as the open internet would, or compares its speed:
//
//	run fire BRIDGE [ABOUT]   attacks the program BRIDGE; with ABOUT only so
//	run bench BRIDGE          compares it with websockify and with bare TCP
//
// It prints figures, and exits with 1 if something is wrong.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/brontosig/brontosig/internal/fire"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 {
		return errors.New("usage: run fire BRIDGE, or run bench BRIDGE")
	}
	o := fire.Options{
		Bridge:    fire.Command{Args: []string{args[1]}},
		Helper:    fire.Command{Args: []string{os.Args[0], "helper"}},
		Attackers: 300,
		Cycles:    1000,
		Bytes:     1 << 30,
		Out:       os.Stdout,
	}
	if len(args) > 2 {
		o.Only = args[2]
	}
	switch args[0] {
	case "fire":
		return fire.Run(o)
	case "bench":
		return fire.Bench(o)
	case "helper":
		return fire.Helper(args[1:])
	}
	return fmt.Errorf("no command %q", args[0])
}
