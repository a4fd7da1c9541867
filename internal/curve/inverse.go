package curve

// Inverses come from the divsteps of Bernstein and Yang, "Fast constant-time gcd
// computation and modular inversion". A step changes a pair f, g with an odd f
// and a counter δ:
//
//	(1 - δ, g, (g - f)/2)  if δ is positive and g is odd
//	(1 + δ, f, (g + f)/2)  if δ is not and g is odd
//	(1 + δ, f, g/2)        if g is even
//
// From f = p and any g from 0 to p - 1 on, g becomes 0 and f plus or minus their
// greatest common divisor. What stepBits steps do depends on the lowest stepBits
// bits of f and g alone, and is a matrix times 2^-stepBits: the steps are done on
// one word of each, and their matrix is applied to the whole numbers. It is also
// applied to d and e, of which f = d·g0 and g = e·g0 modulo p with the g0 of the
// beginning. In the end d is 1/g0 or -1/g0.
const (
	stepBits = 30
	// From δ = 1/2 on, 590 steps are enough for numbers of 256 bits: see the
	// section "Using half delta" of doc/safegcd_implementation.md of libsecp256k1.
	stepRounds = 20
	stepMask   = 1<<stepBits - 1
	// primeInverse is 1/p modulo 2^stepBits.
	primeInverse = 0x2ddacacf
)

// number is an integer as the sum of its limbs, limb i times 2^(30·i). Only the last
// one may be negative, and has the sign of the whole.
type number [9]int64

var primeWords = words{0xfffffffefffffc2f, ^uint64(0), ^uint64(0), ^uint64(0)}

// primeLimbs add up to p, and are few, but not those of a number.
var primeLimbs = [9]int64{-977, -4, 0, 0, 0, 0, 0, 0, 1 << 16}

func (w *words) number() number {
	const mask = stepMask
	return number{
		int64(w[0] & mask),
		int64(w[0] >> 30 & mask),
		int64((w[0]>>60 | w[1]<<4) & mask),
		int64(w[1] >> 26 & mask),
		int64((w[1]>>56 | w[2]<<8) & mask),
		int64(w[2] >> 22 & mask),
		int64((w[2]>>52 | w[3]<<12) & mask),
		int64(w[3] >> 18 & mask),
		int64(w[3] >> 48),
	}
}

// words is for a number from 0 to 2^256 - 1.
func (n *number) words() words {
	u := func(i int) uint64 { return uint64(n[i]) }
	return words{
		u(0) | u(1)<<30 | u(2)<<60,
		u(2)>>4 | u(3)<<26 | u(4)<<56,
		u(4)>>8 | u(5)<<22 | u(6)<<52,
		u(6)>>12 | u(7)<<18 | u(8)<<48,
	}
}

// reduce makes n, which lies between -2·p and p, n modulo p, or -n modulo p if sign is
// -1 and not 0: from 0 to p - 1.
func (n *number) reduce(sign int64) {
	for range 2 {
		negative := n[8] >> 63
		var carry int64
		for i := range n {
			limb := (n[i] + primeLimbs[i]&negative) ^ sign - sign + carry
			n[i], carry = limb&stepMask, limb>>stepBits
		}
		n[8] += carry << stepBits
		sign = 0
	}
}

// steps are the words that steps work on. Each row of the matrix is in one word:
// what belongs to f in the lower half, and to what that is added, with its sign,
// 2^32 times what belongs to g.
type steps struct{ f, g, rowF, rowG uint64 }

func newSteps(f, g *number) steps { return steps{uint64(f[0]), uint64(g[0]), 1, 1 << 32} }

// matrix is what stepBits steps do, times 2^stepBits: f becomes u·f + v·g, and g
// becomes q·f + r·g. The absolute values in a row add up to 2^stepBits at most.
type matrix struct{ u, v, q, r int64 }

func (s *steps) matrix() (m matrix) {
	m.u, m.q = int64(int32(s.rowF)), int64(int32(s.rowG))
	m.v, m.r = (int64(s.rowF)-m.u)>>32, (int64(s.rowG)-m.q)>>32
	return m
}

// run does stepBits steps and returns the new counter, which is -δ - 1/2. Its time
// does not depend on anything.
func (s *steps) run(counter int64) int64 {
	f, g, rowF, rowG := s.f, s.g, s.rowF, s.rowG
	for range stepBits {
		swap := uint64(counter >> 63)
		odd := -(g & 1)
		g += (f ^ swap - swap) & odd
		rowG += (rowF ^ swap - swap) & odd
		swap &= odd
		counter = counter ^ int64(swap) - 1
		f += g & swap
		rowF += rowG & swap
		g >>= 1
		rowF <<= 1
	}
	s.rowF, s.rowG = rowF, rowG
	return counter
}

// inverse sets r = 1/a, or 0 if a is 0. Its time does not depend on a. The two may
// be the same. (Steps that take time that depends on them save a tenth: too little
// for a second way.)
func inverse(r, a *element) {
	f, g := primeWords.number(), a.number()
	d, e := number{}, number{1}
	counter := int64(-1)
	for range stepRounds {
		s := newSteps(&f, &g)
		counter = s.run(counter)
		m := s.matrix()
		m.apply(&f, &g)
		m.applyModulo(&d, &e)
	}
	d.reduce(f[8] >> 63)
	w := d.words()
	*r = w.unpack()
	clear(f[:])
	clear(g[:])
	clear(d[:])
	clear(e[:])
	clear(w[:])
}

func (e *element) number() number {
	var canonical element
	normalize(&canonical, e)
	w := canonical.pack()
	return w.number()
}
