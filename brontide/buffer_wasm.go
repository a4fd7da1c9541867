//go:build js && wasm

package brontide

// spare are the buffers that nobody uses. A program under js/wasm has one
// thread, which nothing interrupts here, so there is no lock; a few are enough
// where one call at a time comes in.
var spare []*buffer

const maxSpare = 4

func getBuffer() *buffer {
	last := len(spare) - 1
	if last < 0 {
		return new(buffer)
	}
	b := spare[last]
	spare = spare[:last]
	return b
}

func putBuffer(b *buffer) {
	if len(spare) < maxSpare {
		spare = append(spare, b)
	}
}
