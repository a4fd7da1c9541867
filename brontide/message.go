package brontide

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// inbound is the reading half of a Machine. What has arrived of a header or a
// body stays here when the reader fails, so that a later call goes on.
type inbound struct {
	cipher cipherState
	header [HeaderSize]byte
	// bodySize is the length of the body with its tag; 0 until the header
	// is complete.
	bodySize int
	// body is the buffer that the body is read into.
	body []byte
	// n counts the bytes that have arrived of the header or of the body.
	n int
}

func (in *inbound) wipe() {
	in.cipher.wipe()
	clear(in.body)
	*in = inbound{}
}

// outbound is the writing half of a Machine.
type outbound struct {
	cipher cipherState
	length [lengthSize]byte
	// packet is an encrypted message, of which n bytes have been written.
	packet []byte
	n      int
}

func (out *outbound) wipe() {
	out.cipher.wipe()
	*out = outbound{}
}

// WriteMessage encrypts message, which may be empty, and keeps it for Flush.
// The errors are ErrMaxMessageLengthExceeded and ErrMessageNotFlushed, which
// change nothing, ErrHandshakeIncomplete and ErrPoisoned.
func (m *Machine) WriteMessage(message []byte) error {
	if err := m.writable(); err != nil {
		return err
	}
	out := &m.out
	if len(out.packet) > 0 {
		return newError(ErrMessageNotFlushed, "the message before has not been flushed")
	}
	if len(message) > MaxMessageSize {
		return newError(ErrMaxMessageLengthExceeded,
			fmt.Sprintf("a message of %d bytes; the longest has %d", len(message), MaxMessageSize))
	}
	binary.BigEndian.PutUint16(out.length[:], uint16(len(message)))
	if size := HeaderSize + len(message) + MACSize; cap(out.packet) < size {
		out.packet = make([]byte, 0, size)
	}
	packet, err := out.cipher.seal(out.packet[:0], out.length[:])
	if err == nil {
		packet, err = out.cipher.seal(packet, message)
	}
	if err != nil {
		m.poisoned.Store(true)
		out.wipe()
		return describe(err, "message")
	}
	out.packet, out.n = packet, 0
	return nil
}

// Flush writes what is left of the encrypted message to w and returns how many
// bytes w took. After an error of w, the next Flush goes on where w stopped:
// nothing is encrypted twice. With nothing to write it returns 0 and nil.
func (m *Machine) Flush(w io.Writer) (int, error) {
	if err := m.writable(); err != nil {
		return 0, err
	}
	out := &m.out
	total := 0
	for out.n < len(out.packet) {
		n, err := w.Write(out.packet[out.n:])
		if n < 0 || n > len(out.packet)-out.n {
			return total, errors.New("brontide: the writer returned an impossible count")
		}
		out.n += n
		total += n
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil && out.n < len(out.packet) {
			return total, err
		}
	}
	out.packet, out.n = out.packet[:0], 0
	return total, nil
}

// writable is usable for the writing half, whose key it wipes once the machine
// is poisoned.
func (m *Machine) writable() error {
	err := m.usable()
	if errors.Is(err, ErrPoisoned) {
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
		length, err := in.cipher.open(in.header[:])
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
// of r it can be called again, with the same buffer or another, and goes on. A
// body that does not authenticate gives ErrMAC and poisons the machine.
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
	// A no-op when buf is the buffer of the call before.
	copy(buf[:in.n], in.body)
	in.body = buf
	if err := fill(r, buf, &in.n); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, err
	}
	message, err := in.cipher.open(buf)
	if err != nil {
		return nil, m.failRead(describe(err, "body"))
	}
	in.body, in.bodySize, in.n = nil, 0, 0
	return message, nil
}

// ReadMessage reads the next message into a new slice. Its errors are those of
// ReadHeader and ReadBody; after an error of r, the next call goes on.
func (m *Machine) ReadMessage(r io.Reader) ([]byte, error) {
	size, err := m.ReadHeader(r)
	if err != nil {
		return nil, err
	}
	buf := m.in.body
	if buf == nil {
		buf = make([]byte, size)
	}
	return m.ReadBody(r, buf)
}

// readable is usable for the reading half, whose key it wipes once the machine
// is poisoned.
func (m *Machine) readable() error {
	err := m.usable()
	if errors.Is(err, ErrPoisoned) {
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
			return errors.New("brontide: the reader returned an impossible count")
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

// maxEmptyReads is how often a reader may return neither bytes nor an error.
const maxEmptyReads = 100
