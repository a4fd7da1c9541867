//go:build js && wasm

package main

import (
	"fmt"
	"path"
	"runtime"
	"strings"

	"github.com/brontosig/brontosig/internal/abi"
)

// export runs the body of a wasm export. The input are the first n bytes of
// the input buffer; they are wiped before export returns. An error of body, or
// a panic in it, becomes a negated code.
func export(n uint32, body func(in *input) (int32, error)) (status int32) {
	clearOutput()
	used := inBuffer[:min(int(n), len(inBuffer))]
	defer func() {
		if value := recover(); value != nil {
			// The value is left out: it may hold what the code worked on.
			status = refuse(&boundaryError{abi.Internal, "panic at " + panicSite()})
		}
		clear(used)
	}()
	if int(n) > len(inBuffer) {
		return refuse(argumentError("%d bytes of input in a buffer of %d", n, len(inBuffer)))
	}
	result, err := body(&input{rest: used})
	if err != nil {
		return refuse(err)
	}
	return result
}

// panicSite names the function and line that panicked. It must be called from
// the deferred function that recovers.
func panicSite() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	inRuntime := false
	for {
		frame, more := frames.Next()
		isRuntime := strings.HasPrefix(frame.Function, "runtime.")
		if inRuntime && !isRuntime {
			return fmt.Sprintf("%s (%s:%d)", path.Base(frame.Function), path.Base(frame.File), frame.Line)
		}
		inRuntime = inRuntime || isRuntime
		if !more {
			return "an unknown place"
		}
	}
}

// handleDispose wipes the object of the handle and forgets it.
//
//go:wasmexport handle_dispose
func handleDispose(n, handle uint32) int32 {
	return export(n, func(in *input) (int32, error) {
		if err := in.end(); err != nil {
			return 0, err
		}
		return 0, handles.drop(handle)
	})
}
