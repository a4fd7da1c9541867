//go:build !(js && wasm)

package brontide

import "sync"

var buffers = sync.Pool{New: func() any { return new(buffer) }}

func getBuffer() *buffer { return buffers.Get().(*buffer) }

func putBuffer(b *buffer) { buffers.Put(b) }
