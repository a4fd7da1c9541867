//go:build !js

package bridge

import "sync"

const (
	// chunkSize is how many bytes the bridge takes from a connection at a time.
	// It is also the largest WebSocket message that it sends.
	chunkSize = 32 << 10

	// frameRoom is what the header of a frame that the bridge sends may take.
	frameRoom = 4
)

// chunk is a buffer for bytes on their way, with room for a frame header before
// them. A connection holds one only while bytes are in it, so that thousands of
// idle ones need no memory for theirs.
type chunk [frameRoom + chunkSize]byte

var chunks = sync.Pool{New: func() any { return new(chunk) }}

func newChunk() *chunk { return chunks.Get().(*chunk) }

func (c *chunk) free() { chunks.Put(c) }

// room is where the bytes go.
func (c *chunk) room() []byte { return c[frameRoom:] }
