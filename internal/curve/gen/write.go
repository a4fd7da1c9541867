package main

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	limbs    = 9
	limbBits = 29
	// topBits is what limb 8 keeps: 8·29 + 24 = 256.
	topBits = 256 - (limbs-1)*limbBits
	// p = 2^256 - 2^32 - 977, so 2^256 is worth 977 in limb 0 and 2^3 in limb 1,
	// and limb 9, at 2^261, is worth 2^5 times that.
	foldLow, foldHigh = 977, 1 << (32 - limbBits)
	wrap              = limbs*limbBits - 256
)

// value is an int64 of the generated code: an operand, and where it lies.
type value struct {
	name string
	bound
}

// element is a field element under construction.
type element [limbs]value

// stored is what the limbs of every element in memory may be: the functions
// that are written here expect no more of what they read and keep to it in what
// they store.
var stored = func() (r [limbs]bound) {
	for i := range r {
		r[i] = interval(-1<<limbBits, 1<<limbBits)
	}
	r[limbs-1] = interval(-1<<topBits, 1<<topBits)
	return r
}()

// function is a function of the generated file under construction.
type function struct {
	bytes.Buffer
	names int
}

func (f *function) line(format string, args ...any) {
	fmt.Fprintf(f, format+"\n", args...)
}

// define writes a new variable.
func (f *function) define(expression string, b bound) value {
	f.names++
	name := fmt.Sprintf("t%d", f.names)
	b.checked(name + " := " + expression)
	f.line("%s := %s", name, expression)
	return value{name, b}
}

// load reads the limbs of an element in memory.
func (f *function) load(from string) (e element) {
	f.line("")
	for i := range e {
		e[i] = f.define(fmt.Sprintf("%s[%d]", from, i), stored[i])
	}
	return e
}

// store writes an element to memory.
func (f *function) store(to string, e element) {
	f.line("")
	for i, limb := range e {
		f.assign(fmt.Sprintf("%s[%d]", to, i), i, limb)
	}
}

// assign gives limb i of an element in memory, or a variable that was loaded
// from one, another value.
func (f *function) assign(to string, i int, limb value) {
	if !limb.within(stored[i]) {
		panic(overflowError{fmt.Sprintf("limb %d, stored in %s,", i, to), limb.bound})
	}
	f.line("%s = %s", to, limb.name)
}

// loop writes the statements of body n times over, n a parameter of the
// function. The variables, loaded before, get what body returns.
func (f *function) loop(variables []element, body func() []element) {
	f.line("for ; n > 0; n-- {")
	for i, e := range body() {
		for j, limb := range e {
			f.assign(variables[i][j].name, j, limb)
		}
	}
	f.line("}")
}

// term is coefficient·a·b, or coefficient·a without a b.
type term struct {
	coefficient int64
	a, b        *element
}

func product(a, b element) term { return term{1, &a, &b} }
func square(a element) term     { return term{1, &a, &a} }
func single(a element) term     { return term{1, &a, nil} }

func (t term) times(k int64) term {
	t.coefficient *= k
	return t
}

// column is a sum of products under construction.
type column struct {
	parts []string
	bound
}

func newColumn() *column { return &column{bound: interval(0, 0)} }

// add appends one summand. Every partial sum has to fit, in the order in which
// the code adds.
func (c *column) add(expression string, b bound) {
	c.parts = append(c.parts, expression)
	c.bound = c.plus(b.checked(expression)).checked(strings.Join(c.parts, " + "))
}

// addScaled appends k·v, or nothing for the value that has not been written.
func (c *column) addScaled(k int64, v value) {
	if v.name != "" {
		c.add(scaledName(k, v.name), v.scaled(k))
	}
}

func (c *column) String() string {
	if len(c.parts) == 0 {
		return "0"
	}
	return strings.Join(c.parts, " + ")
}

// scaledLimbs writes the first limbs of k·a.
func (f *function) scaledLimbs(k int64, a *element, count int) *element {
	if k == 1 {
		return a
	}
	var e element
	for i := range count {
		e[i] = f.define(scaledName(k, a[i].name), a[i].scaled(k))
	}
	return &e
}

// scaledName is k·name as an operand of a sum.
func scaledName(k int64, name string) string {
	switch {
	case k == 1:
		return name
	case k == -1:
		return "(-" + name + ")"
	case k > 0 && k&(k-1) == 0:
		shift := 0
		for ; k > 1; k >>= 1 {
			shift++
		}
		return fmt.Sprintf("%s<<%d", name, shift)
	}
	return fmt.Sprintf("%s*%d", name, k)
}

// columns adds the products of a term that belong to column k.
func (c *column) addProducts(t *scaledTerm, k int) {
	for i := max(0, k-limbs+1); i <= min(k, limbs-1); i++ {
		j := k - i
		switch {
		case !t.square:
			c.add(t.a[i].name+"*"+t.b[j].name, t.a[i].times(t.b[j].bound))
		case i < j:
			c.add(t.twice[i].name+"*"+t.b[j].name, t.twice[i].times(t.b[j].bound))
		case i == j:
			c.add(t.a[i].name+"*"+t.b[i].name, t.b[i].squared().scaled(t.coefficient))
		}
	}
}

// scaledTerm is a product whose coefficient has been multiplied into a.
type scaledTerm struct {
	coefficient int64
	a, b, twice *element
	square      bool
}

// sum writes the sum of the terms, reduced. Column k of the products is worth
// 2^(29k); two carries run, one through the columns 0 to 8 and one through 9 to
// 17, and each of the latter is folded into the former as soon as it is known.
func (f *function) sum(comment string, terms ...term) element {
	f.line("")
	f.line("// %s", comment)
	var products []*scaledTerm
	var linears []term
	for _, t := range terms {
		if t.b == nil {
			linears = append(linears, t)
			continue
		}
		s := &scaledTerm{coefficient: t.coefficient, b: t.b, square: t.a == t.b}
		s.a = f.scaledLimbs(t.coefficient, t.a, limbs)
		if s.square {
			// Twice the last limb is never needed.
			s.twice = f.scaledLimbs(2*t.coefficient, t.a, limbs-1)
		}
		products = append(products, s)
	}

	var r element
	var carryLow, carryHigh, high, previous value
	for k := range limbs {
		c := newColumn()
		c.addScaled(1, carryHigh)
		for _, t := range products {
			c.addProducts(t, k+limbs)
		}
		if k < limbs-1 {
			all := f.define(c.String(), c.bound)
			high = f.define(fmt.Sprintf("%s & %#x", all.name, 1<<limbBits-1), interval(0, 1<<limbBits-1))
			carryHigh = f.define(fmt.Sprintf("%s >> %d", all.name, limbBits), all.shifted(limbBits))
		} else {
			high = carryHigh
		}

		c = newColumn()
		c.addScaled(1, carryLow)
		for _, t := range products {
			c.addProducts(t, k)
		}
		for _, t := range linears {
			c.addScaled(t.coefficient, t.a[k])
		}
		c.addScaled(foldLow<<wrap, high)
		c.addScaled(foldHigh<<wrap, previous)
		previous = high
		bits := uint(limbBits)
		if k == limbs-1 {
			bits = topBits
		}
		r[k], carryLow = f.split(f.define(c.String(), c.bound), bits)
	}

	// What is left is worth 2^256 and, for the last column's high part, 2^261.
	c := newColumn()
	c.addScaled(1, carryLow)
	c.addScaled(foldHigh<<(2*wrap), high)
	rest := f.define(c.String(), c.bound)
	var carry value
	for k, worth := range []int64{foldLow, foldHigh} {
		c = newColumn()
		c.addScaled(1, r[k])
		c.addScaled(1, carry)
		c.addScaled(worth, rest)
		r[k], carry = f.split(f.define(c.String(), c.bound), limbBits)
	}
	c = newColumn()
	c.addScaled(1, r[2])
	c.addScaled(1, carry)
	r[2] = f.define(c.String(), c.bound)
	return r
}

// split writes v as low + carry·2^bits, with low around 0.
func (f *function) split(v value, bits uint) (low, carry value) {
	half := int64(1) << (bits - 1)
	rounded := f.define(fmt.Sprintf("%s + %#x", v.name, half), v.plus(interval(half, half)))
	low = f.define(fmt.Sprintf("%s&%#x - %#x", rounded.name, 2*half-1, half), interval(-half, half-1))
	carry = f.define(fmt.Sprintf("%s >> %d", rounded.name, bits), rounded.shifted(bits))
	return low, carry
}

// combine writes a sum of elements, each times a coefficient, limb by limb and
// without a carry.
func (f *function) combine(comment string, terms ...term) (r element) {
	f.line("")
	f.line("// %s", comment)
	for i := range r {
		c := newColumn()
		for _, t := range terms {
			c.addScaled(t.coefficient, t.a[i])
		}
		r[i] = f.define(c.String(), c.bound)
	}
	return r
}

// carry writes a sum of elements like combine, and then takes what each limb has
// too much to the next one. All limbs do so at once, so that none waits for
// another's carry.
func (f *function) carry(comment string, terms ...term) element {
	r := f.combine(comment, terms...)
	var carries [limbs]value
	for i := range r {
		bits := uint(limbBits)
		if i == limbs-1 {
			bits = topBits
		}
		r[i], carries[i] = f.split(r[i], bits)
	}
	for i := range r {
		c := newColumn()
		c.addScaled(1, r[i])
		if i > 0 {
			c.addScaled(1, carries[i-1])
		}
		switch i {
		case 0:
			c.addScaled(foldLow, carries[limbs-1])
		case 1:
			c.addScaled(foldHigh, carries[limbs-1])
		}
		r[i] = f.define(c.String(), c.bound)
	}
	return r
}
