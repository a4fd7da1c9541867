package brontide

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
)

// inbound is the reading half of a Machine. What has arrived of a header or a
// body stays here when the reader fails, so that a later call goes on.
type inbound struct {
	cipher cipherState
	header [HeaderSize]byte
	// bodySize is the length of the body with its tag; 0 until the header
	// is complete.
	bodySize int
	// body holds the part of the body that has arrived, still encrypted; nil
	// if there is none.
	body *buffer
	// n counts the bytes that have arrived of the header or of the body.
	n int
}

// next forgets the message that has been read.
func (in *inbound) next() {
	if in.body != nil {
		putBuffer(in.body)
		in.body = nil
	}
	in.bodySize, in.n = 0, 0
}

// wipe forgets everything. The copy of the key inside the AEAD is unreachable
// afterwards but cannot be overwritten.
func (in *inbound) wipe() {
	in.next()
	*in = inbound{}
}

// outbound is the writing half of a Machine.
type outbound struct {
	cipher cipherState
	length [lengthSize]byte
	// packet is an encrypted message, in buffer, of which n bytes have been
	// written.
	packet []byte
	buffer *buffer
	n      int
}

// next forgets the packet.
func (out *outbound) next() {
	if out.buffer != nil {
		putBuffer(out.buffer)
	}
	out.buffer, out.packet, out.n = nil, nil, 0
}

// wipe is like that of inbound.
func (out *outbound) wipe() {
	out.next()
	*out = outbound{}
}

// WriteMessage encrypts message, which may be empty, and keeps it for Flush.
// The errors are ErrMaxMessageLengthExceeded and ErrMessageNotFlushed, which
// change nothing, ErrHandshakeIncomplete and ErrPoisoned.
func (m *Machine) WriteMessage(message []byte) error {
	out := &m.out
	if len(out.packet) > 0 && m.writable() == nil {
		return newError(ErrMessageNotFlushed, "the message before has not been flushed")
	}
	b := getBuffer()
	packet, err := m.appendPacket(b.packet(), message)
	if err != nil {
		putBuffer(b)
		return err
	}
	out.buffer, out.packet = b, packet
	return nil
}

// appendPacket encrypts message and appends header and body to dst.
func (m *Machine) appendPacket(dst, message []byte) ([]byte, error) {
	if err := m.writable(); err != nil {
		return nil, err
	}
	if len(message) > MaxMessageSize {
		return nil, newError(ErrMaxMessageLengthExceeded,
			fmt.Sprintf("a message of %d bytes; the longest has %d", len(message), MaxMessageSize))
	}
	out := &m.out
	binary.BigEndian.PutUint16(out.length[:], uint16(len(message)))
	dst = slices.Grow(dst, HeaderSize+len(message)+MACSize)
	dst, err := out.cipher.seal(dst, out.length[:])
	if err == nil {
		dst, err = out.cipher.seal(dst, message)
	}
	if err != nil {
		m.poisoned.Store(true)
		out.wipe()
		return nil, describe(err, "message")
	}
	return dst, nil
}

// Flush writes what is left of the encrypted message to w, in one Write if w
// takes all of it, and returns how many bytes of the message itself, without
// the header and the tags, went out. After an error of w, the next Flush goes on
// where w stopped: nothing is encrypted twice. With nothing to write it returns
// 0 and nil.
func (m *Machine) Flush(w io.Writer) (int, error) {
	if err := m.writable(); err != nil {
		return 0, err
	}
	out := &m.out
	before := out.flushed()
	for out.n < len(out.packet) {
		n, err := w.Write(out.packet[out.n:])
		if n < 0 || n > len(out.packet)-out.n {
			return out.flushed() - before, errors.New("brontide: the writer returned an impossible count")
		}
		out.n += n
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil && out.n < len(out.packet) {
			return out.flushed() - before, err
		}
	}
	n := out.flushed() - before
	out.next()
	return n, nil
}

// flushed returns how many bytes of the message have been written.
func (out *outbound) flushed() int {
	return max(0, min(out.n, len(out.packet)-MACSize)-HeaderSize)
}

// writable is usable for the writing half, whose key it wipes once the machine
// is poisoned.
func (m *Machine) writable() error {
	err := m.usable()
	if err != nil && m.poisoned.Load() {
		m.out.wipe()
	}
	return err
}

// ReadHeader reads the header of the next message and returns the length of its
// body with the tag, MACSize to MaxMessageSize+MACSize bytes. After an error of
// r, which is returned as it is, the next call goes on and no byte is lost;
// io.EOF means that not one byte of the header came, io.ErrUnexpectedEOF that
// some did. Called again before ReadBody, it returns the same length. A header
// that does not authenticate gives ErrMAC and poisons the machine.
func (m *Machine) ReadHeader(r io.Reader) (uint32, error) {
	if err := m.readable(); err != nil {
		return 0, err
	}
	in := &m.in
	if in.bodySize == 0 {
		if err := fill(r, in.header[:], &in.n); err != nil {
			if err == io.EOF && in.n > 0 {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		length, err := in.cipher.open(in.header[:0], in.header[:])
		if err != nil {
			return 0, m.failRead(describe(err, "header"))
		}
		in.bodySize = int(binary.BigEndian.Uint16(length)) + MACSize
		in.n = 0
	}
	return uint32(in.bodySize), nil
}

// ReadBody reads the body of a message into buf, which is as long as ReadHeader
// said, decrypts it there and returns the message, a part of buf. After an error
// of r it can be called again, with the same buffer or another, and goes on;
// meanwhile buf may be used for something else. A body that does not
// authenticate gives ErrMAC and poisons the machine.
func (m *Machine) ReadBody(r io.Reader, buf []byte) ([]byte, error) {
	if err := m.readable(); err != nil {
		return nil, err
	}
	in := &m.in
	if in.bodySize == 0 {
		return nil, newError(ErrHeaderNotRead, "a body is read after its header")
	}
	if len(buf) != in.bodySize {
		return nil, newError(ErrBufferSize,
			fmt.Sprintf("a buffer of %d bytes for a body of %d", len(buf), in.bodySize))
	}
	if in.n > 0 {
		copy(buf, in.body.body(in.n))
	}
	if err := fill(r, buf, &in.n); err != nil {
		if in.n > 0 {
			in.takeBuffer()
			copy(in.body.body(in.n), buf)
		}
		return nil, endInBody(err)
	}
	return m.openBody(buf[:0], buf)
}

// AppendMessage reads the next message and appends it to dst, which it makes
// longer only where its capacity does not suffice; dst[:0] of a slice of
// MaxMessageSize bytes always does. Its errors are those of ReadHeader and
// ReadBody. After an error of r it returns dst as it was, and the next call goes
// on, with the same slice or another.
func (m *Machine) AppendMessage(dst []byte, r io.Reader) ([]byte, error) {
	size, err := m.ReadHeader(r)
	if err != nil {
		return dst, err
	}
	in := &m.in
	in.takeBuffer()
	body := in.body.body(int(size))
	if err := fill(r, body, &in.n); err != nil {
		return dst, endInBody(err)
	}
	longer, err := m.openBody(slices.Grow(dst, len(body)-MACSize), body)
	if err != nil {
		return dst, err
	}
	return longer, nil
}

// ReadMessage reads the next message into a new slice. Its errors are those of
// ReadHeader and ReadBody; after an error of r, the next call goes on.
func (m *Machine) ReadMessage(r io.Reader) ([]byte, error) {
	message, err := m.AppendMessage([]byte{}, r)
	if err != nil {
		return nil, err
	}
	return message, nil
}

// takeBuffer makes sure that there is room for a body that arrives in pieces.
func (in *inbound) takeBuffer() {
	if in.body == nil {
		in.body = getBuffer()
	}
}

// openBody decrypts a complete body, appending to dst, and is done with it.
func (m *Machine) openBody(dst, body []byte) ([]byte, error) {
	message, err := m.in.cipher.open(dst, body)
	if err != nil {
		return nil, m.failRead(describe(err, "body"))
	}
	m.in.next()
	return message, nil
}

// endInBody names an end of the stream where it must not be.
func endInBody(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// readable is usable for the reading half, whose key it wipes once the machine
// is poisoned.
func (m *Machine) readable() error {
	err := m.usable()
	if err != nil && m.poisoned.Load() {
		m.in.wipe()
	}
	return err
}

func (m *Machine) failRead(err error) error {
	m.poisoned.Store(true)
	m.in.wipe()
	return err
}

// fill reads until buf is full, counting in n, and keeps its place on an error.
// An error that comes together with the last byte is left for the next read.
func fill(r io.Reader, buf []byte, n *int) error {
	for empty := 0; *n < len(buf); {
		got, err := r.Read(buf[*n:])
		if got < 0 || got > len(buf)-*n {
			return errImpossibleRead
		}
		*n += got
		if *n == len(buf) {
			return nil
		}
		if err != nil {
			return err
		}
		if got > 0 {
			empty = 0
		} else if empty++; empty == maxEmptyReads {
			return io.ErrNoProgress
		}
	}
	return nil
}

var errImpossibleRead = errors.New("brontide: the reader returned an impossible count")

// maxEmptyReads is how often a reader may return neither bytes nor an error.
const maxEmptyReads = 100
