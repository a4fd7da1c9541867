package main

import (
	"fmt"
	"math/big"
)

// scaledTerm is a product whose coefficient has been multiplied into a.
type scaledTerm struct {
	coefficient int64
	a, b, twice element
	square      bool
}

// scaledTerms splits terms into products and the rest.
func (f *function) scaledTerms(terms []term) (products []scaledTerm, singles []term) {
	for _, t := range terms {
		if t.b == nil {
			singles = append(singles, t)
			continue
		}
		// With a multiple of p added, a is not k times b limb by limb.
		s := scaledTerm{coefficient: t.coefficient, b: t.b, square: t.square && (t.coefficient > 0 || f.signed())}
		s.a = f.scaled(t.coefficient, t.a)
		if s.square {
			// Twice the last limb is never needed.
			s.twice = f.scaled(2, s.a[:f.limbs-1])
		}
		products = append(products, s)
	}
	return products, singles
}

// factors calls use for each pair of limbs whose product belongs to column k,
// with where the product lies.
func (t *scaledTerm) factors(k int, use func(a, b string, product bound)) {
	limbs := len(t.b)
	for i := max(0, k-limbs+1); i <= min(k, limbs-1); i++ {
		j := k - i
		switch {
		case !t.square:
			use(t.a[i].name, t.b[j].name, t.a[i].times(t.b[j].bound))
		case i < j:
			use(t.twice[i].name, t.b[j].name, t.twice[i].times(t.b[j].bound))
		case i == j:
			use(t.a[i].name, t.b[i].name, t.b[i].squared().scaled(t.coefficient))
		}
	}
}

// sum writes the sum of the terms, reduced. Column k of the products is worth
// 2^(bits·k). Two carries run, one through the columns of the result and one
// through those above it, and each of the latter is folded into the former as
// soon as it is known.
func (f *function) sum(comment string, terms ...term) element {
	return f.sumBy(f.cut, comment, terms)
}

// smallSum is sum with smaller limbs, for products with a large coefficient.
func (f *function) smallSum(comment string, terms ...term) element {
	return f.sumBy(f.split, comment, terms)
}

// splitter is a way to write a value as a limb and a carry.
type splitter func(v value, bits uint) (low, carry value)

func (f *function) sumBy(split splitter, comment string, terms []term) element {
	f.line("")
	f.line("// %s", comment)
	products, singles := f.scaledTerms(terms)
	if f.signed() {
		return f.narrowSum(split, products, singles)
	}
	return f.wideSum(products, singles)
}

func (c *column) addProducts(products []scaledTerm, k int) {
	for i := range products {
		products[i].factors(k, func(a, b string, product bound) { c.add(a+"*"+b, product) })
	}
}

func (f *function) narrowSum(split splitter, products []scaledTerm, singles []term) element {
	r := make(element, f.limbs)
	wrap := f.wrap()
	var carryLow, carryHigh, high, previous value
	for k := range f.limbs {
		if k < f.limbs-1 {
			c := f.newColumn()
			c.addScaled(1, carryHigh)
			c.addProducts(products, k+f.limbs)
			high, carryHigh = f.cut(c.value(), f.bits)
		} else {
			high = carryHigh
		}
		c := f.newColumn()
		c.addScaled(1, carryLow)
		c.addProducts(products, k)
		for _, t := range singles {
			c.addScaled(t.coefficient, t.a[k])
		}
		c.addScaled(f.fold[0]<<wrap, high)
		c.addScaled(f.fold[1]<<wrap, previous)
		previous = high
		r[k], carryLow = split(c.value(), f.width(k))
	}

	// What is left is worth 2^256 and, for the last column's high part, 2^256
	// times 2^wrap.
	c := f.newColumn()
	c.addScaled(1, carryLow)
	c.addScaled(f.fold[1]<<(2*wrap), high)
	rest := c.value()
	var carry value
	for k, worth := range f.fold {
		c = f.newColumn()
		c.addScaled(1, r[k])
		c.addScaled(1, carry)
		c.addScaled(worth, rest)
		r[k], carry = split(c.value(), f.bits)
	}
	c = f.newColumn()
	c.addScaled(1, r[len(f.fold)])
	c.addScaled(1, carry)
	r[len(f.fold)] = c.value()
	return r
}

// pair is a sum in two words under construction.
type pair struct {
	*function
	name string
	bound
}

// twoWords is what a pair holds.
var twoWords = bound{new(big.Int), minusOne(two(128, 1))}

// newPair starts from a word, or from 0.
func (f *function) newPair(start value) *pair {
	f.names++
	p := &pair{f, fmt.Sprintf("s%d", f.names), start.bound}
	if start.name == "" {
		start.name, p.bound = "0", interval(0, 0)
	}
	f.line("%sHi, %sLo := uint64(0), uint64(%s)", p.name, p.name, start.name)
	return p
}

func (p *pair) grow(b bound, what string) {
	p.bound = p.plus(b)
	if !p.within(twoWords) {
		panic(overflowError{what, p.bound})
	}
}

// addProduct adds a·b.
func (p *pair) addProduct(a, b string, product bound) {
	p.grow(product, "the sum with "+a+"·"+b)
	p.line("hi, lo = bits.Mul64(%s, %s)", a, b)
	p.line("%sLo, carry = bits.Add64(%sLo, lo, 0)", p.name, p.name)
	p.line("%sHi, _ = bits.Add64(%sHi, hi, carry)", p.name, p.name)
}

// addWord adds a word.
func (p *pair) addWord(v value) {
	p.grow(v.bound, "the sum with "+v.name)
	p.line("%sLo, carry = bits.Add64(%sLo, %s, 0)", p.name, p.name, v.name)
	p.line("%sHi += carry", p.name)
}

// split writes the pair as low + carry·2^width, both words.
func (p *pair) split(width uint) (low, carry value) {
	low = p.define(fmt.Sprintf("%sLo & %#x", p.name, int64(1)<<width-1), interval(0, 1<<width-1))
	carry = p.define(fmt.Sprintf("%sLo>>%d | %sHi<<%d", p.name, width, p.name, 64-width), p.shifted(width))
	return low, carry
}

func (p *pair) addProducts(products []scaledTerm, k int) {
	for i := range products {
		products[i].factors(k, p.addProduct)
	}
}

func (f *function) wideSum(products []scaledTerm, singles []term) element {
	f.wideSums++
	if f.wideSums == 1 {
		f.line("var hi, lo, carry uint64")
	}
	var rest element
	if len(singles) > 0 {
		rest = f.limbwise(singles...)
	}
	r := make(element, f.limbs)
	worth := f.fold[0] << f.wrap()
	var carryLow, carryHigh, high value
	for k := range f.limbs {
		if k < f.limbs-1 {
			p := f.newPair(carryHigh)
			p.addProducts(products, k+f.limbs)
			high, carryHigh = p.split(f.bits)
		} else {
			high = carryHigh
		}
		p := f.newPair(carryLow)
		p.addProducts(products, k)
		if rest != nil {
			p.addWord(rest[k])
		}
		p.addProduct(high.name, fmt.Sprintf("%#x", worth), high.scaled(worth))
		r[k], carryLow = p.split(f.width(k))
	}
	p := f.newPair(r[0])
	p.addProduct(carryLow.name, fmt.Sprintf("%#x", f.fold[0]), carryLow.scaled(f.fold[0]))
	low, carry := p.split(f.bits)
	r[0] = low
	c := f.newColumn()
	c.addScaled(1, r[1])
	c.addScaled(1, carry)
	r[1] = c.value()
	return r
}
