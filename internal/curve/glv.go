package curve

import "math/bits"

// The endomorphism λ·(x, y) = (beta·x, y) halves the length of scalars: k = k1 +
// k2·λ modulo n, with k1 and k2 below 2^128 in absolute value. They come from
// the point (k, 0) by taking away the nearest point, or nearly so, of the
// lattice of all (i, j) with i + j·λ = 0 modulo n, whose short basis is
// (a1, -b1) and (a2, a1) with the numbers below: Gallant, Lambert and Vanstone,
// "Faster point multiplication on elliptic curves with efficient endomorphisms";
// "Guide to Elliptic Curve Cryptography", algorithm 3.74.
//
// The coordinates of that lattice point, c1 = a1·k/n and c2 = b1·k/n, are taken
// with a multiplication by g1 and g2, the rounded 2^384·a1/n and 2^384·b1/n.
// That is off by less than 2^-128 from the quotient, so that each is off by at
// most 1/2 + 2^-128 from it once rounded, and
//
//	|k1| <= (1/2 + 2^-128)·(a1 + a2) < 2^128
//	|k2| <= (1/2 + 2^-128)·(a1 + b1) < 2^128
var (
	glvA1 = integer{0xe86c90e49284eb15, 0x3086d221a7d46bcd}
	glvB1 = integer{0x6f547fa90abfe4c3, 0xe4437ed6010e8828}
	glvA2 = integer{0x57c1108d9d44cfd8, 0x14ca50f7a8e2f3f6, 1}
	glvG1 = words{0xe893209a45dbb031, 0x3daa8a1471e8ca7f, 0xe86c90e49284eb15, 0x3086d221a7d46bcd}
	glvG2 = words{0x1571b4ae8ac47f71, 0x221208ac9df506c6, 0x6f547fa90abfe4c4, 0xe4437ed6010e8828}
)

// integer is an integer of 192 bits in two's complement, the least significant
// word first.
type integer [3]uint64

// split returns k1 and k2. Its time does not depend on k.
func split(k *Scalar) (k1, k2 integer) {
	var b [ScalarSize]byte
	k.PutBytes(&b)
	w := wordsOf(&b)
	c1, c2 := w.highProduct(&glvG1), w.highProduct(&glvG2)
	k1 = integer{w[0], w[1], w[2]}
	k1.subtractProduct(&c1, &glvA1)
	k1.subtractProduct(&c2, &glvA2)
	// k2 = c1·b1 - c2·a1
	k2.subtractProduct(&c1, &glvB1)
	k2 = k2.negated()
	k2.subtractProduct(&c2, &glvA1)
	clear(b[:])
	clear(w[:])
	clear(c1[:])
	clear(c2[:])
	return k1, k2
}

// highProduct returns w·v divided by 2^384 and rounded.
func (w *words) highProduct(v *words) [2]uint64 {
	var p [8]uint64
	for i, a := range w {
		var carry uint64
		for j, b := range v {
			high, low := bits.Mul64(a, b)
			var c uint64
			low, c = bits.Add64(low, p[i+j], 0)
			high += c
			p[i+j], c = bits.Add64(low, carry, 0)
			carry = high + c
		}
		p[i+4] = carry
	}
	low, carry := bits.Add64(p[6], p[5]>>63, 0)
	return [2]uint64{low, p[7] + carry}
}

// subtractProduct subtracts c·a modulo 2^192.
func (k *integer) subtractProduct(c *[2]uint64, a *integer) {
	h0, p0 := bits.Mul64(c[0], a[0])
	h1, m1 := bits.Mul64(c[0], a[1])
	h2, m2 := bits.Mul64(c[1], a[0])
	p1, carry1 := bits.Add64(m1, m2, 0)
	p1, carry2 := bits.Add64(p1, h0, 0)
	p2 := h1 + h2 + c[0]*a[2] + c[1]*a[1] + carry1 + carry2
	var borrow uint64
	k[0], borrow = bits.Sub64(k[0], p0, 0)
	k[1], borrow = bits.Sub64(k[1], p1, borrow)
	k[2], _ = bits.Sub64(k[2], p2, borrow)
}

// negated returns -k.
func (k *integer) negated() (r integer) {
	var borrow uint64
	for i := range k {
		r[i], borrow = bits.Sub64(0, k[i], borrow)
	}
	return r
}

// isNegative reports whether k is below 0.
func (k *integer) isNegative() bool { return k[2]>>63 == 1 }

// add adds b.
func (k *integer) add(b *integer) {
	var carry uint64
	for i := range k {
		k[i], carry = bits.Add64(k[i], b[i], carry)
	}
}

// window returns the given number of bits, at most 16, from bit on.
func (k *integer) window(bit, count int) int {
	word := k[bit/64] >> (bit % 64)
	if bit%64+count > 64 && bit/64+1 < len(k) {
		word |= k[bit/64+1] << (64 - bit%64)
	}
	return int(word & (1<<count - 1))
}
