package chachapoly

import (
	"encoding/binary"
	"math/bits"
)

const (
	blockSize = 16
	tagSize   = 16
)

// Numbers are held in five limbs of 26 bits each, the least first, so that
// products and their sums fit in 64 bits.
const (
	limbBits = 26
	limbMask = 1<<limbBits - 1
	// blockBit is the bit above a whole block, in the last limb.
	blockBit = 1 << (8*blockSize - 4*limbBits)
)

// mac computes Poly1305 (RFC 8439, 2.5) of whole blocks.
type mac struct {
	r, h [5]uint64
	// s is added at the end, modulo 2^128.
	s [2]uint64
}

// init sets the one-time key, of which r is clamped.
func (m *mac) init(key *[32]byte) {
	lo := binary.LittleEndian.Uint64(key[0:]) & 0x0ffffffc0fffffff
	hi := binary.LittleEndian.Uint64(key[8:]) & 0x0ffffffc0ffffffc
	*m = mac{
		r: split(lo, hi),
		s: [2]uint64{binary.LittleEndian.Uint64(key[16:]), binary.LittleEndian.Uint64(key[24:])},
	}
}

// split cuts 128 bits into limbs.
func split(lo, hi uint64) [5]uint64 {
	return [5]uint64{
		lo & limbMask,
		lo >> limbBits & limbMask,
		(lo>>(2*limbBits) | hi<<(64-2*limbBits)) & limbMask,
		hi >> (3*limbBits - 64) & limbMask,
		hi >> (4*limbBits - 64),
	}
}

// writePadded takes data followed by zeros up to the end of a block.
func (m *mac) writePadded(data []byte) {
	whole := len(data) &^ (blockSize - 1)
	m.blocks(data[:whole])
	if whole < len(data) {
		var last [blockSize]byte
		copy(last[:], data[whole:])
		m.blocks(last[:])
	}
}

// blocks takes whole blocks: h = (h + block + 2^128) r mod 2^130 - 5, for each.
//
// Limbs of r are below 2^26, and those of h below 2^26 but for the second, which
// is below 2^26 + 2^8: the carry into it is that of a limb to which five times
// a carry was added. With a block added the limbs of h are below 2^27 + 2^8 and
// those of 5r below 2^29, so a sum of five products is below 2^59.
func (m *mac) blocks(p []byte) {
	r0, r1, r2, r3, r4 := m.r[0], m.r[1], m.r[2], m.r[3], m.r[4]
	// 2^130 is 5, so what overflows comes back five times.
	s1, s2, s3, s4 := 5*r1, 5*r2, 5*r3, 5*r4
	h0, h1, h2, h3, h4 := m.h[0], m.h[1], m.h[2], m.h[3], m.h[4]
	for ; len(p) >= blockSize; p = p[blockSize:] {
		lo, hi := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:blockSize])
		h0 += lo & limbMask
		h1 += lo >> limbBits & limbMask
		h2 += (lo>>(2*limbBits) | hi<<(64-2*limbBits)) & limbMask
		h3 += hi >> (3*limbBits - 64) & limbMask
		h4 += hi>>(4*limbBits-64) | blockBit
		d0 := h0*r0 + h1*s4 + h2*s3 + h3*s2 + h4*s1
		d1 := h0*r1 + h1*r0 + h2*s4 + h3*s3 + h4*s2
		d2 := h0*r2 + h1*r1 + h2*r0 + h3*s4 + h4*s3
		d3 := h0*r3 + h1*r2 + h2*r1 + h3*r0 + h4*s4
		d4 := h0*r4 + h1*r3 + h2*r2 + h3*r1 + h4*r0
		d1 += d0 >> limbBits
		d2 += d1 >> limbBits
		d3 += d2 >> limbBits
		d4 += d3 >> limbBits
		h0 = d0&limbMask + 5*(d4>>limbBits)
		h1 = d1&limbMask + h0>>limbBits
		h0 &= limbMask
		h2, h3, h4 = d2&limbMask, d3&limbMask, d4&limbMask
	}
	m.h = [5]uint64{h0, h1, h2, h3, h4}
}

// tag returns h mod 2^130 - 5, plus s mod 2^128.
func (m *mac) tag() (tag [tagSize]byte) {
	h := m.h
	// Twice around, every limb is below 2^26: the first round may carry out of
	// the last limb, and then what it leaves is small.
	for range 2 {
		var carry uint64
		for i := range h {
			h[i] += carry
			carry = h[i] >> limbBits
			h[i] &= limbMask
		}
		h[0] += 5 * carry
	}
	// h + 5 - 2^130 is what is wanted unless it is negative.
	var g [5]uint64
	carry := uint64(5)
	for i := range g {
		g[i] = h[i] + carry
		carry = g[i] >> limbBits
		g[i] &= limbMask
	}
	take := -carry // all ones if h + 5 has reached 2^130
	for i := range h {
		h[i] = h[i]&^take | g[i]&take
	}
	lo := h[0] | h[1]<<limbBits | h[2]<<(2*limbBits)
	hi := h[2]>>(64-2*limbBits) | h[3]<<(3*limbBits-64) | h[4]<<(4*limbBits-64)
	lo, c := bits.Add64(lo, m.s[0], 0)
	hi, _ = bits.Add64(hi, m.s[1], c)
	binary.LittleEndian.PutUint64(tag[:8], lo)
	binary.LittleEndian.PutUint64(tag[8:], hi)
	return tag
}
