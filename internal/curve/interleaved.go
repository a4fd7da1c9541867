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

// half is half of a scalar in digits.
type half struct {
	digits [halfDigits]int16
	sign   int64
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

// product is the memory that a term takes: the halves of its scalar, the odd
// multiples of its point, and λ times those.
type product struct {
	halves    [2]half
	odd       [2][termTable]Point
	multiples [termTable]jacobian
	products  [termTable]element
}

// interleavedMultNonConst adds the products up in one chain of doublings, which
// all halves of all scalars share.
func interleavedMultNonConst(g *Scalar, terms []Term) accumulator {
	if len(terms) > 3 {
		return interleaveNonConst(g, terms, make([]product, len(terms)))
	}
	var few [3]product
	return interleaveNonConst(g, terms, few[:])
}

func interleaveNonConst(g *Scalar, terms []Term, memory []product) (sum accumulator) {
	count := 0
	for i := range terms {
		t := &terms[i]
		if skipsDoublingsNonConst(t) {
			continue
		}
		var p jacobian
		p.set(&t.Point, 1)
		oddMultiples(memory[count].multiples[:], &p)
		setHalvesNonConst(&memory[count].halves, &t.Scalar, termWindow)
		count++
	}
	products := memory[:count]
	setTables(products)
	var base [2]half
	var baseTable *oddTable
	if g != nil {
		baseTable = getOddTable()
		setHalvesNonConst(&base, g, baseWindow)
	}

	doublings := 0
	add := func(digit int16, sign int64, table []Point) {
		if digit < 0 {
			digit, sign = -digit, -sign
		}
		if sum.any && doublings > 0 {
			sum.double(doublings)
		}
		doublings = 0
		sum.accumulateNonConst(&table[digit/2], sign)
	}
	for i := halfDigits - 1; i >= 0; i-- {
		doublings++
		for j := range products {
			p := &products[j]
			for k := range p.halves {
				if digit := p.halves[k].digits[i]; digit != 0 {
					add(digit, p.halves[k].sign, p.odd[k][:])
				}
			}
		}
		for k := range base {
			if digit := base[k].digits[i]; digit != 0 {
				add(digit, base[k].sign, baseTable[k][:])
			}
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

func setHalvesNonConst(halves *[2]half, k *Scalar, window int) {
	k1, k2 := split(k)
	halves[0].setDigitsNonConst(k1, window)
	halves[1].setDigitsNonConst(k2, window)
}

// skipsDoublingsNonConst tells whether a term is infinity, or its point itself.
func skipsDoublingsNonConst(t *Term) bool {
	var k Scalar
	k.SetInt(1)
	return t.Scalar.IsZero() || t.Scalar.Equals(&k) || IsInfinity(&t.Point)
}

// setTables makes the tables of affine points, with one inversion for all.
func setTables(all []product) {
	z := one
	for i := range all {
		for j := range termTable {
			all[i].products[j] = z
			mul(&z, &z, &all[i].multiples[j].z)
		}
	}
	inverse(&z, &z)
	for i := len(all) - 1; i >= 0; i-- {
		p := &all[i]
		for j := termTable - 1; j >= 0; j-- {
			var inv element
			mul(&inv, &z, &p.products[j])
			mul(&z, &z, &p.multiples[j].z)
			p.multiples[j].toPoint(&p.odd[0][j], &inv)
			mul(&p.odd[1][j].x, &p.odd[0][j].x, &beta)
			p.odd[1][j].y = p.odd[0][j].y
		}
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
	multiples := make([]jacobian, baseMany)
	var base jacobian
	base.set(&generator, 1)
	oddMultiples(multiples, &base)
	t := new(oddTable)
	toPoints(t[0][:], multiples, make([]element, baseMany))
	for i := range t[1] {
		mul(&t[1][i].x, &t[0][i].x, &beta)
		t[1][i].y = t[0][i].y
	}
	sharedOddTable.CompareAndSwap(nil, t)
	return sharedOddTable.Load()
}
