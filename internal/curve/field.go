package curve

import "encoding/binary"

//go:generate go run ./gen -root .

// element is an integer modulo p = 2^256 - 2^32 - 977 as the sum of its limbs, limb
// i times 2^(52·i) or 2^(29·i): see limbs_wide.go and limbs_narrow.go. The
// functions that the generator writes (mul, squareTimes, subtract, addSmall,
// setSigned, normalize and those of points) take elements whose limbs have a few
// bits to spare and leave such elements, and the generator proves that nothing
// overflows on the way. None of them branches on what an element is.
//
// An element is canonical if it is normalized: equal elements then have equal
// limbs.
type element [limbs]limb

var one = element{1}

// beta is a cube root of 1: λ·(x, y) = (beta·x, y).
var beta = elementOf(words{0xc1396c28719501ee, 0x9cf0497512f58995, 0x6e64479eac3434e9, 0x7ae96a2b657c0710})

func elementOf(w words) element { return w.unpack() }

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

// accumulate adds v to w under a mask of all zeros or all ones.
func (w *words) accumulate(v *words, mask uint64) {
	w[0] |= v[0] & mask
	w[1] |= v[1] & mask
	w[2] |= v[2] & mask
	w[3] |= v[3] & mask
}

// window returns the given number of bits from bit on, as far as there are any.
func (w *words) window(bit, count int) uint64 {
	word := w[bit/64] >> (bit % 64)
	if bit%64+count > 64 && bit/64+1 < len(w) {
		word |= w[bit/64+1] << (64 - bit%64)
	}
	return word & (1<<count - 1)
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

func negate(r, a *element) { setSigned(r, a, -1) }

func square(r, a *element) { squareTimes(r, a, 1) }

// powers returns a^(2^n-1) for n = 2, 22 and 223.
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
