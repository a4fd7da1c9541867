//go:build js && wasm

// Command inside does work inside Go wasm, to compare with the same work called
// from JavaScript: what the boundary costs, and what another way over it would.
// Only the benchmarks use it.
package main

import (
	"fmt"
	"syscall/js"
)

// works are what insideRun can do. Each does its work calls times for a party
// of n signers and returns the milliseconds of its phases.
var works = map[string]func(n, calls int) ([]float64, error){
	"session":  oursSession,
	"btcec":    btcecSession,
	"message":  message,
	"brontide": brontideMessage,
}

func main() {
	js.Global().Set("funcofMessage", js.FuncOf(funcofMessage))
	js.Global().Set("insideRun", js.FuncOf(func(_ js.Value, args []js.Value) any {
		phases, err := run(args[0].String(), args[1].Int(), args[2].Int())
		if err != nil {
			return err.Error()
		}
		list := make([]any, len(phases))
		for i, ms := range phases {
			list[i] = ms
		}
		return list
	}))
	select {}
}

func run(name string, n, calls int) ([]float64, error) {
	work, ok := works[name]
	if !ok {
		return nil, fmt.Errorf("no work has the name %q", name)
	}
	return work(n, calls)
}
