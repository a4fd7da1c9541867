package curve

import "encoding/binary"

//go:generate go run ./gen -root .

// element is an integer modulo p = 2^256 - 2^32 - 977 as the sum of its limbs
// times 2^(29·i). Limbs are signed and at most 2^29 in absolute value, the last
// one at most 2^24. The functions that the generator writes (mul, squareTimes,
// subtract, addSmall, normalize and those of points) take such elements and
// leave such elements, and the generator proves that nothing overflows on the
// way. None of them branches on what an element is.
//
// An element is canonical if it is normalized: equal elements then have equal
// limbs.
type element [9]int64

// beta is a cube root of 1: λ·(x, y) = (beta·x, y).
var beta = element{0x119501ee, 0x9cb6143, 0x1d626570, 0x92ea25, 0x34e99cf, 0x3cf561a, 0x1c41b991, 0x56caf80, 0x7ae96a}

var one = element{1}

// words is a canonical element in four words, the least significant first: a
// form that can be selected from a table with masks.
type words [4]uint64

func wordsOf(b *[32]byte) words {
	return words{
		binary.BigEndian.Uint64(b[24:]), binary.BigEndian.Uint64(b[16:]),
		binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[0:]),
	}
}

func (w *words) bytes() (b [32]byte) {
	for i, word := range w {
		binary.BigEndian.PutUint64(b[24-8*i:], word)
	}
	return b
}

// pack is for a canonical element.
func (e *element) pack() words {
	u := func(i int) uint64 { return uint64(e[i]) }
	return words{
		u(0) | u(1)<<29 | u(2)<<58,
		u(2)>>6 | u(3)<<23 | u(4)<<52,
		u(4)>>12 | u(5)<<17 | u(6)<<46,
		u(6)>>18 | u(7)<<11 | u(8)<<40,
	}
}

// unpack returns the element, with limbs that are canonical if w is below p.
func (w *words) unpack() element {
	const mask = 1<<29 - 1
	return element{
		int64(w[0] & mask),
		int64(w[0] >> 29 & mask),
		int64((w[0]>>58 | w[1]<<6) & mask),
		int64(w[1] >> 23 & mask),
		int64((w[1]>>52 | w[2]<<12) & mask),
		int64(w[2] >> 17 & mask),
		int64((w[2]>>46 | w[3]<<18) & mask),
		int64(w[3] >> 11 & mask),
		int64(w[3] >> 40),
	}
}

// accumulateNonConst adds v to w under a mask of all zeros or all ones.
func (w *words) accumulate(v *words, mask uint64) {
	w[0] |= v[0] & mask
	w[1] |= v[1] & mask
	w[2] |= v[2] & mask
	w[3] |= v[3] & mask
}

// setBytesNonConst reads a big-endian coordinate and reports whether it is below p.
func (e *element) setBytesNonConst(b *[32]byte) bool {
	w := wordsOf(b)
	*e = w.unpack()
	var reduced element
	normalize(&reduced, e)
	return reduced == *e
}

// bytes is for a canonical element.
func (e *element) bytes() [32]byte {
	w := e.pack()
	return w.bytes()
}

// isZeroNonConst reports whether e is 0 modulo p.
func (e *element) isZeroNonConst() bool {
	var reduced element
	normalize(&reduced, e)
	return reduced == element{}
}

// equalNonConst reports whether a and b are the same modulo p.
func equalNonConst(a, b *element) bool {
	var difference element
	subtract(&difference, a, b)
	return difference.isZeroNonConst()
}

func negate(r, a *element) { subtract(r, &element{}, a) }

func square(r, a *element) { squareTimes(r, a, 1) }

// powers returns a^(2^n-1) for n = 2, 22 and 223: the binary form of what
// inverse and root raise to starts with 223 ones, and goes on with 22.
func (e *element) powers() (x2, x22, x223 element) {
	step := func(low, high *element, n int) (r element) {
		squareTimes(&r, high, n)
		mul(&r, &r, low)
		return r
	}
	x2 = step(e, e, 1)
	x3 := step(e, &x2, 1)
	x6 := step(&x3, &x3, 3)
	x9 := step(&x3, &x6, 3)
	x11 := step(&x2, &x9, 2)
	x22 = step(&x11, &x11, 11)
	x44 := step(&x22, &x22, 22)
	x88 := step(&x44, &x44, 44)
	x176 := step(&x88, &x88, 88)
	x220 := step(&x44, &x176, 44)
	x223 = step(&x3, &x220, 3)
	return x2, x22, x223
}

// inverse sets r = 1/a by raising a to p-2, or 0 if a is 0. Its time does not
// depend on a. The two may be the same.
func inverse(r, a *element) {
	// p-2 is 223 ones, a zero, 22 ones and 0000101101.
	x2, x22, x223 := a.powers()
	base := *a
	t := x223
	squareTimes(&t, &t, 23)
	mul(&t, &t, &x22)
	squareTimes(&t, &t, 5)
	mul(&t, &t, &base)
	squareTimes(&t, &t, 3)
	mul(&t, &t, &x2)
	squareTimes(&t, &t, 2)
	mul(r, &t, &base)
}

// rootNonConst sets r to a square root of a, by raising a to (p+1)/4, and reports
// whether a has one. The two may be the same.
func rootNonConst(r, a *element) bool {
	// (p+1)/4 is 223 ones, a zero, 22 ones and 00001100.
	x2, x22, x223 := a.powers()
	base := *a
	t := x223
	squareTimes(&t, &t, 23)
	mul(&t, &t, &x22)
	squareTimes(&t, &t, 6)
	mul(&t, &t, &x2)
	squareTimes(r, &t, 2)
	square(&t, r)
	return equalNonConst(&t, &base)
}

// maskEq returns all ones if a equals b, and zero otherwise.
func maskEq(a, b uint64) uint64 {
	d := a ^ b
	return ((d | -d) >> 63) - 1
}
