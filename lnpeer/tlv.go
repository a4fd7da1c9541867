package lnpeer

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// record is one record of a TLV stream.
type record struct {
	typ   uint64
	value []byte
}

// parseTLV decodes a TLV stream by the rules of BOLT-1, "Type-Length-Value
// Format": types strictly rise, numbers are as short as can be, nothing is cut
// off, and a type that is even must be one of known.
func parseTLV(b []byte, known ...uint64) ([]record, error) {
	var records []record
	for len(b) > 0 {
		typ, rest, err := bigSize(b)
		if err != nil {
			return nil, err
		}
		if n := len(records); n > 0 && typ <= records[n-1].typ {
			return nil, newError(ErrTLV, fmt.Sprintf("TLV type %d after %d", typ, records[n-1].typ))
		}
		length, rest, err := bigSize(rest)
		if err != nil {
			return nil, err
		}
		if length > uint64(len(rest)) {
			return nil, newError(ErrTLV, fmt.Sprintf("TLV type %d is cut off", typ))
		}
		if typ%2 == 0 && !slices.Contains(known, typ) {
			return nil, newError(ErrTLV, fmt.Sprintf("unknown even TLV type %d", typ))
		}
		records = append(records, record{typ, rest[:length]})
		b = rest[length:]
	}
	return records, nil
}

// bigSize decodes a BigSize number, which is minimally encoded, and returns what
// follows it.
func bigSize(b []byte) (n uint64, rest []byte, err error) {
	if len(b) == 0 {
		return 0, nil, newError(ErrTLV, "a TLV number is missing")
	}
	size, least := 0, uint64(0)
	switch b[0] {
	case 0xfd:
		size, least = 2, 0xfd
	case 0xfe:
		size, least = 4, 1<<16
	case 0xff:
		size, least = 8, 1<<32
	default:
		return uint64(b[0]), b[1:], nil
	}
	b = b[1:]
	if len(b) < size {
		return 0, nil, newError(ErrTLV, "a TLV number is cut off")
	}
	var full [8]byte
	copy(full[8-size:], b)
	if n = binary.BigEndian.Uint64(full[:]); n < least {
		return 0, nil, newError(ErrTLV, "a TLV number is not minimally encoded")
	}
	return n, b[size:], nil
}

// appendBigSize encodes n in as few bytes as can be.
func appendBigSize(b []byte, n uint64) []byte {
	switch {
	case n < 0xfd:
		return append(b, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, 0xfd), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, 0xfe), uint32(n))
	default:
		return binary.BigEndian.AppendUint64(append(b, 0xff), n)
	}
}

func appendRecord(b []byte, typ uint64, value []byte) []byte {
	b = appendBigSize(b, typ)
	b = appendBigSize(b, uint64(len(value)))
	return append(b, value...)
}
