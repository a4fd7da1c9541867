package curve

import "sync/atomic"

// Windows of the digits of half scalars: a digit is odd and below 2^(window-1) in
// absolute value, or 0, and a table holds the odd multiples up to there. That of G
// is made once, so that its window is wider.
const (
	termWindow = 5
	termTable  = 1 << (termWindow - 2)
	baseWindow = 12
	baseMany   = 1 << (baseWindow - 2)
	// halfDigits is the length of the digits of a number below 2^128.
	halfDigits = 129
)

// half is half of a scalar in digits, and the odd multiples of the point that it
// belongs to.
type half struct {
	digits [halfDigits]int16
	sign   int64
	table  []Point
}

// at returns what digit i, which is not 0, adds.
func (h *half) at(i int) (p *Point, sign int64) {
	digit, sign := h.digits[i], h.sign
	if digit < 0 {
		digit, sign = -digit, -sign
	}
	return &h.table[digit/2], sign
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
		h.digits[i] = int16(digit - int(carry)<<window)
		i += window
	}
}

// product is the memory that a term takes: the odd multiples of its point, and λ times
// those.
type product struct {
	multiples [termTable]multiple
	odd       [2][termTable]Point
}

// interleavedMultNonConst adds the products up in one chain of doublings, which
// all halves of all scalars share.
func interleavedMultNonConst(g *Scalar, terms []Term) accumulator {
	const few = 3
	if n := len(terms); n > few {
		return interleaveNonConst(g, terms, make([]product, n), make([]half, 2*n+2), make([]element, 2*n))
	}
	var products [few]product
	var halves [2*few + 2]half
	var elements [2 * few]element
	return interleaveNonConst(g, terms, products[:], halves[:], elements[:])
}

func interleaveNonConst(g *Scalar, terms []Term, products []product, halves []half, elements []element) (sum accumulator) {
	count := 0
	for i := range terms {
		t := &terms[i]
		if skipsDoublingsNonConst(t) {
			continue
		}
		var p jacobian
		p.set(&t.Point, 1)
		own := &products[count]
		elements[count] = oddMultiples(own.multiples[:], &p)
		setHalvesNonConst(halves[2*count:], &t.Scalar, termWindow, own.odd[0][:], own.odd[1][:])
		count++
	}
	invertAll(elements[:count], elements[count:])
	for i := range count {
		products[i].setTables(&elements[i])
	}
	if g == nil {
		halves = halves[:2*count]
	} else {
		table := getOddTable()
		setHalvesNonConst(halves[2*count:], g, baseWindow, table[0][:], table[1][:])
		halves = halves[:2*count+2]
	}
	if count < columnTerms || !sum.addColumnsNonConst(halves) {
		sum.addDigitsNonConst(halves)
	}
	for i := range terms {
		if t := &terms[i]; skipsDoublingsNonConst(t) && !t.Scalar.IsZero() {
			sum.accumulateNonConst(&t.Point, 1)
		}
	}
	return sum
}

// addDigitsNonConst adds the halves to an empty sum.
func (a *accumulator) addDigitsNonConst(halves []half) {
	doublings := 0
	for i := halfDigits - 1; i >= 0; i-- {
		doublings++
		for j := range halves {
			if halves[j].digits[i] != 0 {
				a.doubleNonConst(doublings)
				doublings = 0
				a.include(halves[j].at(i))
			}
		}
	}
	a.doubleNonConst(doublings)
}

func setHalvesNonConst(halves []half, k *Scalar, window int, table, lambdaTable []Point) {
	k1, k2 := split(k)
	halves[0].setDigitsNonConst(k1, window)
	halves[1].setDigitsNonConst(k2, window)
	halves[0].table, halves[1].table = table, lambdaTable
}

// skipsDoublingsNonConst tells whether a term is infinity, or its point itself.
func skipsDoublingsNonConst(t *Term) bool {
	var k Scalar
	k.SetInt(1)
	return t.Scalar.IsZero() || t.Scalar.Equals(&k) || IsInfinity(&t.Point)
}

// setTables makes the tables of affine points, given 1/z of the last multiple.
func (p *product) setTables(inverse *element) {
	toPoints(p.odd[0][:], p.multiples[:], inverse)
	for i := range p.odd[1] {
		mul(&p.odd[1][i].x, &p.odd[0][i].x, &beta)
		p.odd[1][i].y = p.odd[0][i].y
	}
}

// oddTable holds the odd multiples of G and λ·G. 160 KiB, or 288 KiB with
// narrow limbs, made at first use.
type oddTable [2][baseMany]Point

var sharedOddTable atomic.Pointer[oddTable]

func getOddTable() *oddTable {
	if t := sharedOddTable.Load(); t != nil {
		return t
	}
	multiples := make([]multiple, baseMany)
	var base jacobian
	base.set(&generator, 1)
	z := oddMultiples(multiples, &base)
	inverse(&z, &z)
	t := new(oddTable)
	toPoints(t[0][:], multiples, &z)
	for i := range t[1] {
		mul(&t[1][i].x, &t[0][i].x, &beta)
		t[1][i].y = t[0][i].y
	}
	sharedOddTable.CompareAndSwap(nil, t)
	return sharedOddTable.Load()
}
