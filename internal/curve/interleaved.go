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

// product is the memory that a term takes: the odd multiples of its point, and λ times
// those.
type product struct {
	multiples [termTable]multiple
	odd       [2][termTable]Point
}

// interleaving is a sum of products under way. It is one object, so that it needs the
// heap for many terms only.
type interleaving struct {
	products []product
	halves   []half    // two for each product, and two for G if there is a base
	elements []element // two for each product
	base     *oddTable
	points   []Point // for addColumnsNonConst
}

// spare is memory for the next sum of more than a few terms and of at most spareTerms:
// in wasm it takes a good part of the time to get as much anew. All of it is public.
var spare atomic.Pointer[interleaving]

const spareTerms = 32

// interleavedMultNonConst adds the products up in one chain of doublings, which
// all halves of all scalars share.
func interleavedMultNonConst(g *Scalar, terms []Term) accumulator {
	const few = 3
	if n := len(terms); n > few {
		s := spare.Swap(nil)
		if s == nil || len(s.products) < n {
			s = &interleaving{make([]product, n), make([]half, 2*n+2), make([]element, 2*n), nil, nil}
		}
		// A copy, whose slices become as short as this sum needs them.
		used := *s
		used.elements, used.halves = used.elements[:2*n], used.halves[:2*n+2]
		clear(used.halves)
		sum := used.multNonConst(g, terms)
		if n <= spareTerms {
			s.points = used.points
			spare.Store(s)
		}
		return sum
	}
	var products [few]product
	var halves [2*few + 2]half
	var elements [2 * few]element
	s := interleaving{products[:], halves[:], elements[:], nil, nil}
	return s.multNonConst(g, terms)
}

func (s *interleaving) multNonConst(g *Scalar, terms []Term) (sum accumulator) {
	count := 0
	for i := range terms {
		t := &terms[i]
		if skipsDoublingsNonConst(t) {
			continue
		}
		var p jacobian
		p.set(&t.Point, 1)
		s.elements[count] = oddMultiples(s.products[count].multiples[:], &p)
		setHalvesNonConst(s.halves[2*count:], &t.Scalar, termWindow)
		count++
	}
	s.products = s.products[:count]
	invertAll(s.elements[:count], s.elements[count:])
	for i := range s.products {
		s.products[i].setTables(&s.elements[i])
	}
	if g == nil {
		s.halves = s.halves[:2*count]
	} else {
		s.base = getOddTable()
		setHalvesNonConst(s.halves[2*count:], g, baseWindow)
		s.halves = s.halves[:2*count+2]
	}
	if count < columnTerms || !s.addColumnsNonConst(&sum) {
		s.addDigitsNonConst(&sum)
	}
	for i := range terms {
		if t := &terms[i]; skipsDoublingsNonConst(t) && !t.Scalar.IsZero() {
			sum.accumulateNonConst(&t.Point, 1)
		}
	}
	return sum
}

// at returns what a digit of a half, which is not 0, adds.
func (s *interleaving) at(half, digit int) (p *Point, sign int64) {
	d, sign := s.halves[half].digits[digit], s.halves[half].sign
	if d < 0 {
		d, sign = -d, -sign
	}
	if product := half / 2; product < len(s.products) {
		return &s.products[product].odd[half%2][d/2], sign
	}
	return &s.base[half%2][d/2], sign
}

// addDigitsNonConst adds everything to an empty sum.
func (s *interleaving) addDigitsNonConst(sum *accumulator) {
	doublings := 0
	for i := halfDigits - 1; i >= 0; i-- {
		doublings++
		for j := range s.halves {
			if s.halves[j].digits[i] != 0 {
				p, sign := s.at(j, i)
				sum.doubleAndAddNonConst(doublings, p, sign)
				doublings = 0
			}
		}
	}
	sum.doubleNonConst(doublings)
}

func setHalvesNonConst(halves []half, k *Scalar, window int) {
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
