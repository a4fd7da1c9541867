//go:build js && wasm

// Command wasm is the module that JavaScript loads. It gives the packages
// musig2, brontide and lnpeer to JavaScript as wasm exports, and holds no
// protocol logic itself.
//
// # Calls
//
// Every export but the few of buffers.go has this form:
//
//	//go:wasmexport area_what
//	func areaWhat(n, handle, count uint32) int32
//
// The first parameter, n, is the number of bytes that the wrapper has written
// to the input buffer: all byte arguments of the call, one after the other. The
// other parameters are lengths, numbers, flags and handles. All are uint32 or
// int32, since 64-bit values would reach JavaScript as BigInt.
//
// The result is never negative on success: a handle, a number, or the number
// of bytes that lie in the output buffer. On failure it is an abi.Code,
// negated, and the detail buffer says more.
//
// The body of an export stands in a call of the function export, which opens
// the input, wipes it afterwards, turns errors into codes and survives panics.
// A new export needs: the function here, `go generate ./internal/abi`, and an
// entry in the table of the robustness test in js/test.
//
// # Buffers
//
// Three buffers in linear memory belong to Go and are shared with JavaScript.
// in_pointer, out_pointer and detail_pointer tell where they lie; in_reserve
// makes the input buffer long enough. A buffer may move when memory grows or
// the buffer does, so the wrapper asks again.
//
// The first n bytes of the input buffer are wiped before the call returns,
// whatever happens, because they may hold secret keys. The wrapper wipes the
// output buffer when it has copied the result out; what it leaves is wiped at
// the start of the next call.
//
// The detail buffer holds, after a failure, in little-endian order: the index
// of the signer to blame (int32, -1 for none), the number of the kind of
// contribution (int32, an index into abi.Contributions, -1 for none), the
// length of the text (uint32), and the text in UTF-8.
//
// # Handles
//
// Objects that hold state live in a table, and JavaScript has their handles. A
// handle carries the generation of its place in the table, so that one that
// outlived its object is an error and never means another object.
//
// # What must never happen
//
// No call may end or block the instance. recover catches panics, but a call
// that parks the goroutine returns garbage, so nothing that an export reaches
// may use channels, locks, timers, select or the network. Memory that runs out
// ends the program, so every length and the number and size of living objects
// are limited. The depth of recursion never depends on input.
package main
