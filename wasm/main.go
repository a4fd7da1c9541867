//go:build js && wasm

package main

func main() {
	// The program must not end: its exports are called until the page or the
	// process does.
	select {}
}
