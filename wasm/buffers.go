//go:build js && wasm

package main

import (
	"encoding/binary"
	"unsafe"

	"github.com/brontosig/brontosig/internal/abi"
)

// initialSize is enough for the largest brontide message with its arguments,
// so that the buffers rarely grow.
const initialSize = 128 << 10

var (
	inBuffer  = make([]byte, initialSize)
	outBuffer = make([]byte, initialSize)
	// outUsed is the number of bytes of outBuffer that the last call has
	// written.
	outUsed int
)

// abiFingerprint returns a number that the wrapper compares with its own, so
// that a module of another version is refused when it is loaded.
//
//go:wasmexport abi_fingerprint
func abiFingerprint() int32 { return abi.Fingerprint }

// inReserve makes the input buffer at least size bytes long. What it held is
// lost. It returns 0, or a negated code if size is above abi.MaxInputSize.
//
//go:wasmexport in_reserve
func inReserve(size uint32) int32 {
	if size > abi.MaxInputSize {
		return refuse(limitError("the arguments have %d bytes, %d are allowed", size, abi.MaxInputSize))
	}
	if int(size) > len(inBuffer) {
		clear(inBuffer)
		inBuffer = make([]byte, size)
	}
	return 0
}

// inPointer returns the address of the input buffer. Only inReserve changes it.
//
//go:wasmexport in_pointer
func inPointer() uint32 { return address(inBuffer) }

// outPointer returns the address of the output buffer. Whoever asks for it wipes what
// the last call has written there.
//
//go:wasmexport out_pointer
func outPointer() uint32 {
	outUsed = 0
	return address(outBuffer)
}

// detailPointer returns the address of the detail buffer.
//
//go:wasmexport detail_pointer
func detailPointer() uint32 { return address(detailBuffer[:]) }

// address returns where b lies in linear memory. It stays valid as long as b
// is referenced, since the collector does not move objects.
func address(b []byte) uint32 {
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(b))))
}

// put writes the concatenation of parts to the output buffer and returns its
// length, in the form in which an export returns it.
func put(parts ...[]byte) (int32, error) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	out := room(size)
	for _, part := range parts {
		out = append(out, part...)
	}
	return keep(out)
}

// room returns the output buffer, empty and with room for size bytes, for an
// export that appends its output there and hands it to keep.
func room(size int) []byte {
	if size > len(outBuffer) {
		clear(outBuffer[:outUsed])
		outBuffer = make([]byte, size)
	}
	// Until keep knows better, so that what a failure leaves is wiped.
	outUsed = size
	return outBuffer[:0:size]
}

// keep makes out, which was appended to what room returned, the output of the
// export.
func keep(out []byte) (int32, error) {
	if len(out) > outUsed {
		return 0, &boundaryError{abi.Internal, "the output is longer than its room"}
	}
	outUsed = len(out)
	return int32(len(out)), nil
}

// appendSized appends a part and its length before it.
func appendSized(parts [][]byte, part []byte) [][]byte {
	return append(parts, binary.LittleEndian.AppendUint32(nil, uint32(len(part))), part)
}

// clearOutput wipes what the last call has written to the output buffer.
func clearOutput() {
	clear(outBuffer[:outUsed])
	outUsed = 0
}

// input reads the byte arguments of one call. What it returns is part of the
// input buffer and is wiped when the call returns: whoever keeps bytes copies
// them.
type input struct {
	rest []byte
}

// take returns the next size bytes.
func (in *input) take(size int) ([]byte, error) {
	if size < 0 || size > len(in.rest) {
		return nil, argumentError("%d more bytes of input expected, %d are there", size, len(in.rest))
	}
	taken := in.rest[:size:size]
	in.rest = in.rest[size:]
	return taken, nil
}

// takeAll returns all bytes that are left.
func (in *input) takeAll() []byte {
	taken := in.rest
	in.rest = nil
	return taken
}

// end fails if bytes are left. An export calls it before it changes anything.
func (in *input) end() error {
	if len(in.rest) != 0 {
		return argumentError("%d bytes of input too many", len(in.rest))
	}
	return nil
}
