package main

import (
	"fmt"
	"math/big"
)

// steps is the shape of the numbers of inverse.go: limbs of which only the last one
// may be negative. So what the whole lies in says what the last one does.
var steps = &shape{word: "int64", limbs: 9, bits: 30, machine: narrow.machine}

// numbersIn gives a shape whose whole numbers lie in b.
func (s *shape) numbersIn(b bound) *shape {
	of := *s
	of.stored = nil
	for range s.limbs - 1 {
		of.stored = append(of.stored, interval(0, 1<<s.bits-1))
	}
	of.stored = append(of.stored, b.shifted(s.bits*uint(s.limbs-1)))
	return &of
}

var (
	prime = minusOne(new(big.Int).Sub(two(256, 1), big.NewInt(1<<32+976)))
	// once and twice are from -p and from -2·p to p.
	once  = bound{new(big.Int).Neg(prime), prime}
	twice = bound{new(big.Int).Lsh(once.lo, 1), prime}
)

// row is a row of the matrix: the names of two words whose absolute values add up to
// 2^bits at most.
type row [2]string

var rows = []row{{"u", "v"}, {"q", "r"}}

// times is where the row's product with a pair lies.
func (r row) times(a, b bound, bits uint) bound {
	both := a.or(b)
	limit := new(big.Int).Lsh(new(big.Int).Neg(both.lo), bits)
	if high := new(big.Int).Lsh(both.hi, bits); high.Cmp(limit) > 0 {
		limit = high
	}
	return bound{new(big.Int).Neg(limit), limit}
}

func writeSteps(f *function) {
	f.shape = steps.numbersIn(once)
	f.begin("apply does to f and g what the steps do. Both lie between -p and p.",
		"(m *matrix) apply(f, g *number)")
	f.rowWords()
	pair := [2]element{f.load("f"), f.load("g")}
	for i, to := range []string{"f", "g"} {
		f.divided(to, rows[i], pair, once, value{})
	}
	f.end()

	f.shape = steps.numbersIn(twice)
	f.begin("applyModulo does the same to d and e modulo p. Both lie between -2·p and p.\n"+
		"A multiple of p makes the sums divisible: one for each of the two that is\n"+
		"negative, so that they are between -p and p, less what is then missing, of at\n"+
		"most 2^30 - 1.",
		"(m *matrix) applyModulo(d, e *number)")
	f.rowWords()
	pair = [2]element{f.load("d"), f.load("e")}
	last := f.limbs - 1
	f.line("\nnegativeD, negativeE := %s>>63, %s>>63", pair[0][last].name, pair[1][last].name)
	for i, to := range []string{"d", "e"} {
		r := rows[i]
		f.line("\n// %s", to)
		added := f.define(fmt.Sprintf("%s&negativeD + %s&negativeE", r[0], r[1]),
			r.times(interval(0, 1), interval(0, 1), f.bits))
		lowest := f.newColumn()
		lowest.addRow(r, pair[0][0], pair[1][0])
		digit := interval(0, 1<<f.bits-1)
		low := f.define(lowest.value().name+" & stepMask", digit)
		quotient := f.define(low.name+"*primeInverse + "+added.name, low.times(digit).plus(added.bound))
		missing := f.define(quotient.name+" & stepMask", digit)
		multiple := f.define(added.name+" - "+missing.name, added.plus(missing.scaled(-1)))
		// What is added for negative ones counts as part of the pair.
		f.divided(to, r, pair, once, multiple)
	}
	f.end()
}

func (f *function) rowWords() {
	f.line("u, v, q, r := m.u, m.v, m.q, m.r")
}

func (c *column) addRow(r row, a, b value) {
	c.add(fmt.Sprintf("%s*%s + %s*%s", r[0], a.name, r[1], b.name), r.times(a.bound, b.bound, c.bits))
}

// divided stores the row times the pair plus a multiple of p, all divided by 2^bits.
// The division is known to leave nothing. whole is where the two numbers of the pair
// lie once the part of the multiple that belongs to them is added; the rest of it is
// below 1 and above -2^bits.
func (f *function) divided(to string, r row, pair [2]element, whole bound, multiple value) {
	last := f.limbs - 1
	sum := r.times(whole, whole, f.bits)
	if multiple.name != "" {
		sum.lo.Sub(sum.lo, new(big.Int).Lsh(prime, f.bits))
	}
	result := sum.shifted(f.bits)
	var carry value
	for i := range f.limbs {
		c := f.newColumn()
		c.addScaled(1, carry)
		c.addRow(r, pair[0][i], pair[1][i])
		if multiple.name != "" {
			c.addScaled(map[int]int64{0: -977, 1: -4, last: 1 << 16}[i], multiple)
		}
		all := c.value()
		if i > 0 {
			low := f.define(fmt.Sprintf("%s & stepMask", all.name), interval(0, 1<<f.bits-1))
			f.assign(fmt.Sprintf("%s[%d]", to, i-1), i-1, low)
		}
		carry = f.define(fmt.Sprintf("%s >> stepBits", all.name), all.shifted(f.bits))
	}
	carry.bound = result.shifted(f.bits * uint(last))
	f.assign(fmt.Sprintf("%s[%d]", to, last), last, carry)
}
