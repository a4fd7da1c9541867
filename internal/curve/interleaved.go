package curve

import "sync/atomic"

// Windows of the digits of half scalars: a digit is odd and below 2^(window-1) in
// absolute value, or 0, and a table holds the odd multiples up to there.
const (
	termWindow = 5
	termTable  = 1 << (termWindow - 2)
	baseWindow = 8
	baseMany   = 1 << (baseWindow - 2)
	// halfDigits is the length of the digits of a number below 2^128.
	halfDigits = 129
)

// half is half of a scalar, with the point that it belongs to.
type half struct {
	digits [halfDigits]int8
	sign   int64
	table  []Point // the odd multiples
}

// setDigitsNonConst writes k in non-adjacent form: of any window digits in a row, at
// most one is not 0.
func (h *half) setDigitsNonConst(k integer, window int) {
	h.sign = 1
	if k.isNegative() {
		h.sign = -1
		k = k.negated()
	}
	carry := uint64(0)
	for i := 0; i < halfDigits; {
		word := k[i/64] >> (i % 64)
		if word&1 == carry {
			i++
			continue
		}
		if i%64+window > 64 {
			word |= k[i/64+1] << (64 - i%64)
		}
		digit := int(word&(1<<window-1) + carry)
		carry = uint64(digit) >> (window - 1) & 1
		h.digits[i] = int8(digit - int(carry)<<window)
		i += window
	}
}

// scratch is memory for interleavedMultNonConst.
type scratch struct {
	halves    []half
	multiples []jacobian
	points    [][2][termTable]Point
	products  []element
}

// interleavedMultNonConst adds the products up in one chain of doublings, which all
// halves of all scalars share.
func interleavedMultNonConst(g *Scalar, terms []Term) accumulator {
	const few = 3
	if len(terms) > few {
		return interleaveNonConst(g, terms, scratch{
			make([]half, 2*len(terms)+2), make([]jacobian, len(terms)*termTable),
			make([][2][termTable]Point, len(terms)), make([]element, len(terms)*termTable),
		})
	}
	var halves [2*few + 2]half
	var multiples [few * termTable]jacobian
	var points [few][2][termTable]Point
	var products [few * termTable]element
	return interleaveNonConst(g, terms, scratch{halves[:], multiples[:], points[:], products[:]})
}

func interleaveNonConst(g *Scalar, terms []Term, s scratch) accumulator {
	halves, count := 0, 0
	addHalves := func(k *Scalar, window int, table1, table2 []Point) {
		k1, k2 := split(k)
		s.halves[halves].setDigitsNonConst(k1, window)
		s.halves[halves].table = table1
		s.halves[halves+1].setDigitsNonConst(k2, window)
		s.halves[halves+1].table = table2
		halves += 2
	}
	for i := range terms {
		t := &terms[i]
		if skipsDoublingsNonConst(t) {
			continue
		}
		var p jacobian
		p.set(&t.Point, 1)
		oddMultiples(s.multiples[count*termTable:][:termTable], &p)
		addHalves(&t.Scalar, termWindow, s.points[count][0][:], s.points[count][1][:])
		count++
	}
	toTables(s.points[:count], s.multiples, s.products)
	if g != nil && !g.IsZero() {
		table := getOddTable()
		addHalves(g, baseWindow, table[0][:], table[1][:])
	}

	var sum accumulator
	doublings := 0
	for i := halfDigits - 1; i >= 0; i-- {
		doublings++
		for j := range s.halves[:halves] {
			h := &s.halves[j]
			digit, sign := h.digits[i], h.sign
			if digit == 0 {
				continue
			}
			if digit < 0 {
				digit, sign = -digit, -sign
			}
			if sum.any && doublings > 0 {
				sum.double(doublings)
			}
			doublings = 0
			sum.accumulateNonConst(&h.table[digit/2], sign)
		}
	}
	if sum.any && doublings > 0 {
		sum.double(doublings)
	}
	for i := range terms {
		if t := &terms[i]; skipsDoublingsNonConst(t) && !t.Scalar.IsZero() {
			sum.accumulateNonConst(&t.Point, 1)
		}
	}
	return sum
}

// skipsDoublingsNonConst tells whether a term is infinity, or its point itself.
func skipsDoublingsNonConst(t *Term) bool {
	var k Scalar
	k.SetInt(1)
	return t.Scalar.IsZero() || t.Scalar.Equals(&k) || IsInfinity(&t.Point)
}

// toTables makes the tables of odd multiples and of λ times those.
func toTables(tables [][2][termTable]Point, multiples []jacobian, products []element) {
	product := one
	for i := range len(tables) * termTable {
		products[i] = product
		mul(&product, &product, &multiples[i].z)
	}
	inverse(&product, &product)
	for i := len(tables)*termTable - 1; i >= 0; i-- {
		var inv element
		mul(&inv, &product, &products[i])
		mul(&product, &product, &multiples[i].z)
		table := &tables[i/termTable]
		p, q := &table[0][i%termTable], &table[1][i%termTable]
		multiples[i].toPoint(p, &inv)
		mul(&q.x, &p.x, &beta)
		q.y = p.y
	}
}

// oddTable holds the odd multiples of G and λ·G. 18 KiB, made at first use.
type oddTable [2][baseMany]Point

var sharedOddTable atomic.Pointer[oddTable]

func getOddTable() *oddTable {
	if t := sharedOddTable.Load(); t != nil {
		return t
	}
	var multiples [baseMany]jacobian
	var products [baseMany]element
	var base jacobian
	base.set(&generator, 1)
	oddMultiples(multiples[:], &base)
	t := new(oddTable)
	toPoints(t[0][:], multiples[:], products[:])
	for i := range t[1] {
		mul(&t[1][i].x, &t[0][i].x, &beta)
		t[1][i].y = t[0][i].y
	}
	sharedOddTable.CompareAndSwap(nil, t)
	return sharedOddTable.Load()
}
