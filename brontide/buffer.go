package brontide

// packetPad puts the body of a packet on a boundary of 64 bytes, after a header
// that is not one; the cipher is faster there.
const packetPad = 64 - HeaderSize

// maxBodySize is the length in bytes of the longest body with its tag.
const maxBodySize = MaxMessageSize + MACSize

// buffer holds a message while it is in flight, encrypted or not. Buffers are
// shared by all machines of the program, so an idle one has none. What is given
// back with putBuffer holds no plaintext any more.
type buffer [packetPad + HeaderSize + maxBodySize]byte

// packet returns room for a header and a body.
func (b *buffer) packet() []byte { return b[packetPad:packetPad] }

// body returns room for size bytes of a body.
func (b *buffer) body(size int) []byte { return b[64 : 64+size : 64+size] }
