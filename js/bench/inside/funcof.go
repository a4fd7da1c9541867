//go:build js && wasm

package main

import "syscall/js"

var (
	buffer     = make([]byte, 0, 1<<17)
	uint8Array = js.Global().Get("Uint8Array")
)

// funcofMessage does through js.FuncOf what one call of the real module does
// through go:wasmexport: it takes bytes and returns them behind a message type.
func funcofMessage(_ js.Value, args []js.Value) any {
	size := args[1].Get("length").Int()
	messageType := args[0].Int()
	buffer = buffer[:2+size]
	buffer[0], buffer[1] = byte(messageType>>8), byte(messageType)
	js.CopyBytesToGo(buffer[2:], args[1])
	out := uint8Array.New(len(buffer))
	js.CopyBytesToJS(out, buffer)
	return out
}
