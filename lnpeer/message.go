package lnpeer

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// MaxMessageSize is the length in bytes of the longest message, with its type.
const MaxMessageSize = 65535

// Message types of BOLT-1.
const (
	TypeWarning = 1
	TypeInit    = 16
	TypeError   = 17
	TypePing    = 18
	TypePong    = 19
)

const (
	typeSize      = 2
	channelIDSize = 32
)

// evenTypes are the even types that the BOLTs assign beyond those of BOLT-1. A
// node may send some of them, such as gossip, to a peer that asked for nothing.
// They are known, so they do not end the connection; they go to the application.
var evenTypes = map[uint16]bool{
	// BOLT-2
	2: true, 32: true, 34: true, 36: true, 38: true, 40: true, 64: true, 66: true,
	68: true, 70: true, 72: true, 74: true, 80: true, 128: true, 130: true,
	132: true, 134: true, 136: true,
	// BOLT-7
	256: true, 258: true, 262: true, 264: true,
}

// Event is something that the application learns: an *Init, *Message, *Pong,
// *Warning, *PeerError, *CommandoPart or *CommandoTooLong.
type Event interface{ event() }

// Message is a message of a type that this package does not handle.
type Message struct {
	// Type is the type of the message.
	Type uint16
	// Payload is what follows the type. It is a part of the message given
	// to Receive.
	Payload []byte
}

// Pong answers a Ping.
type Pong struct {
	// ID is the number of the Ping.
	ID uint32
	// Length is the length in bytes of its padding, as the Ping asked for.
	Length uint16
}

// Notice is what a warning and an error consist of.
type Notice struct {
	// ChannelID is the channel that it is about; all zeros for none or all.
	ChannelID [channelIDSize]byte
	// Data is the text as it came. It may hold anything.
	Data []byte
}

// Warning is a warning of the other side. The connection goes on.
type Warning struct{ Notice }

// PeerError is an error of the other side: the channel, or all of them, has
// failed. The connection goes on unless the other side ends it.
type PeerError struct{ Notice }

func (*Message) event()   {}
func (*Pong) event()      {}
func (*Warning) event()   {}
func (*PeerError) event() {}
func (*Init) event()      {}

// Text returns the data fit for a screen: printable ASCII as it is, every other
// byte, and the backslash, as \x and two hexadecimal digits.
func (n *Notice) Text() string {
	var b strings.Builder
	for _, c := range n.Data {
		if c < 0x20 || c > 0x7e || c == '\\' {
			fmt.Fprintf(&b, `\x%02x`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

func parseNotice(payload []byte) (Notice, error) {
	var n Notice
	if len(payload) < channelIDSize {
		return n, newError(ErrMalformed, "an error or warning has no channel id")
	}
	copy(n.ChannelID[:], payload)
	data, _, err := lengthPrefixed(payload[channelIDSize:])
	if err != nil {
		return n, err
	}
	n.Data = data
	return n, nil
}

// lengthPrefixed splits b after a field that begins with its length in two
// bytes.
func lengthPrefixed(b []byte) (field, rest []byte, err error) {
	if len(b) < 2 {
		return nil, nil, newError(ErrMalformed, "the message ends before a length")
	}
	n := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; n > len(b) {
		return nil, nil, newError(ErrMalformed, fmt.Sprintf("a field of %d bytes in a message with %d left", n, len(b)))
	}
	return b[:n], b[n:], nil
}

func appendPrefixed(b, field []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, uint16(len(field)))
	return append(b, field...)
}

func newMessage(typ uint16) []byte {
	return binary.BigEndian.AppendUint16(nil, typ)
}

// warning encodes a warning that is about no channel.
func warning(text string) []byte {
	b := append(newMessage(TypeWarning), make([]byte, channelIDSize)...)
	return appendPrefixed(b, []byte(text))
}
