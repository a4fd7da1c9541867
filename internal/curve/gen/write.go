package main

import (
	"bytes"
	"fmt"
	"math/big"
	"math/bits"
	"strings"
)

// shape is a way to write a field element as limbs: the sum of limb i times
// 2^(bits·i).
type shape struct {
	constraint string // of the build
	word       string // the type of a limb
	limbs      int
	bits       uint
	machine    bound   // what a word holds
	stored     []bound // what the limbs of an element in memory may be
	// 2^256 = 2^32 + 977 modulo p is worth fold[i] in limb i.
	fold []int64
}

// narrow has signed limbs whose products, and sums of products, fit one word:
// for machines that multiply two words to one. A subtraction needs no multiple of
// p.
var narrow = newShape(shape{
	constraint: "!" + strings.ReplaceAll(strings.Trim(wideMachines, "()"), " || ", " && !"),
	word:       "int64", limbs: 9, bits: 29, machine: bound{two(63, -1), minusOne(two(63, 1))},
	fold: []int64{977, 1 << 3},
}, func(bits uint) bound { return bound{two(bits, -1), new(big.Int).Add(two(bits, 1), two(13, 1))} })

// wide has limbs whose products are two words: for machines that have an
// instruction for that.
var wide = newShape(shape{
	constraint: wideMachines,
	word:       "uint64", limbs: 5, bits: 52, machine: bound{new(big.Int), minusOne(two(64, 1))},
	fold: []int64{1<<32 + 977},
}, func(bits uint) bound { return bound{new(big.Int), two(bits+1, 1)} })

const wideMachines = "(amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x)"

// newShape completes a shape: limits gives what a limb of so many bits may be in
// memory.
func newShape(s shape, limits func(bits uint) bound) *shape {
	for i := range s.limbs {
		s.stored = append(s.stored, limits(s.width(i)))
	}
	return &s
}

// signed tells whether limbs may be negative.
func (s *shape) signed() bool { return s.machine.lo.Sign() < 0 }

// width is the number of bits that limb i keeps: 256 in all.
func (s *shape) width(i int) uint {
	if i == s.limbs-1 {
		return 256 - s.bits*uint(s.limbs-1)
	}
	return s.bits
}

// wrap is how many bits the limbs have beyond 256.
func (s *shape) wrap() uint { return s.bits*uint(s.limbs) - 256 }

// multiple returns limb i of k·p, all limbs positive and as large as they can
// be.
func (s *shape) multiple(k int64, i int) *big.Int {
	limb := minusOne(two(s.width(i), 1))
	if i < len(s.fold) {
		limb.Sub(limb, big.NewInt(s.fold[i]))
	}
	if i == 0 {
		limb.Add(limb, big.NewInt(1))
	}
	return limb.Mul(limb, big.NewInt(k))
}

// value is a word of the generated code: an operand, and where it lies.
type value struct {
	name string
	bound
}

// element is a field element under construction.
type element []value

// function is a function of the generated file under construction.
type function struct {
	bytes.Buffer
	*shape
	names    int
	wideSums int
}

func (f *function) line(format string, args ...any) {
	fmt.Fprintf(f, format+"\n", args...)
}

// check panics if a word does not hold all of b: then the code that is being
// written could overflow.
func (f *function) check(what string, b bound) {
	if !b.within(f.machine) {
		panic(overflowError{what, b})
	}
}

// define writes a new variable.
func (f *function) define(expression string, b bound) value {
	f.names++
	name := fmt.Sprintf("t%d", f.names)
	f.check(name+" := "+expression, b)
	f.line("%s := %s", name, expression)
	return value{name, b}
}

// load reads the limbs of an element in memory.
func (f *function) load(from string) (e element) {
	f.line("")
	for i := range f.limbs {
		e = append(e, f.define(fmt.Sprintf("%s[%d]", from, i), f.stored[i]))
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
	if !limb.within(f.stored[i]) {
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
	a, b        element
	square      bool
}

func product(a, b element) term { return term{1, a, b, false} }
func square(a element) term     { return term{1, a, a, true} }
func single(a element) term     { return term{1, a, nil, false} }

func (t term) times(k int64) term {
	t.coefficient *= k
	return t
}

// column is a sum of words under construction.
type column struct {
	*function
	parts []string
	bound
}

func (f *function) newColumn() *column { return &column{f, nil, interval(0, 0)} }

// add appends one summand. Every partial sum has to fit, in the order in which
// the code adds.
func (c *column) add(expression string, b bound) {
	c.parts = append(c.parts, expression)
	c.check(expression, b)
	c.bound = c.plus(b)
	c.check(strings.Join(c.parts, " + "), c.bound)
}

// addScaled appends k·v, or nothing for the value that has not been written.
func (c *column) addScaled(k int64, v value) {
	if v.name != "" && k != 0 {
		c.add(scaledName(k, v.name), v.scaled(k))
	}
}

func (c *column) value() value { return c.define(strings.Join(c.parts, " + "), c.bound) }

// scaledName is k·name as an operand of a sum.
func scaledName(k int64, name string) string {
	switch {
	case k == 1:
		return name
	case k == -1:
		return "(-" + name + ")"
	case k > 0 && k&(k-1) == 0:
		return fmt.Sprintf("%s<<%d", name, bits.TrailingZeros64(uint64(k)))
	}
	return fmt.Sprintf("%s*%d", name, k)
}

// scaled writes k·a, or for a negative k and limbs without a sign that plus a
// multiple of p.
func (f *function) scaled(k int64, a element) element {
	if k == 1 {
		return a
	}
	if k < 0 && !f.signed() {
		return f.limbwise(single(a).times(k))
	}
	var e element
	for _, limb := range a {
		e = append(e, f.define(scaledName(k, limb.name), limb.scaled(k)))
	}
	return e
}

// limbwise writes a sum of elements, each times a coefficient, limb by limb. With
// limbs that have no sign it starts from a multiple of p that keeps all of them
// positive.
func (f *function) limbwise(terms ...term) (r element) {
	multiple := int64(0)
	if !f.signed() {
		for i := range f.limbs {
			lowest := new(big.Int)
			for _, t := range terms {
				if t.coefficient < 0 {
					lowest.Add(lowest, t.a[i].scaled(t.coefficient).lo)
				}
			}
			for f.multiple(multiple, i).CmpAbs(lowest) < 0 {
				multiple++
			}
		}
	}
	for i := range f.limbs {
		c := f.newColumn()
		if multiple > 0 {
			limb := f.multiple(multiple, i)
			c.add(limb.String(), bound{limb, limb})
		}
		for _, t := range terms {
			if t.coefficient < 0 && !f.signed() {
				positive := scaledName(-t.coefficient, t.a[i].name)
				c.parts[len(c.parts)-1] += " - " + positive
				c.bound = c.plus(t.a[i].scaled(t.coefficient))
				c.check("what "+positive+" is taken from", c.bound)
				continue
			}
			c.addScaled(t.coefficient, t.a[i])
		}
		r = append(r, c.value())
	}
	return r
}

// combine writes a sum of elements, each times a coefficient, without a carry.
func (f *function) combine(comment string, terms ...term) element {
	f.line("")
	f.line("// %s", comment)
	return f.limbwise(terms...)
}

// carry writes a sum of elements like combine, and then takes what each limb has
// too much to the next one. All limbs do so at once, so that none waits for
// another's carry.
func (f *function) carry(comment string, terms ...term) (r element) {
	sum := f.combine(comment, terms...)
	carries := make([]value, f.limbs)
	for i := range sum {
		sum[i], carries[i] = f.split(sum[i], f.width(i))
	}
	for i := range sum {
		c := f.newColumn()
		c.addScaled(1, sum[i])
		if i > 0 {
			c.addScaled(1, carries[i-1])
		}
		if i < len(f.fold) {
			c.addScaled(f.fold[i], carries[f.limbs-1])
		}
		r = append(r, c.value())
	}
	return r
}

// cut writes v as low + carry·2^bits, with a low that is not negative.
func (f *function) cut(v value, bits uint) (low, carry value) {
	mask := int64(1)<<bits - 1
	low = f.define(fmt.Sprintf("%s & %#x", v.name, mask), interval(0, mask))
	return low, f.define(fmt.Sprintf("%s >> %d", v.name, bits), v.shifted(bits))
}

// split does the same with a low around 0 if limbs have a sign: half as large,
// and twice the work.
func (f *function) split(v value, bits uint) (low, carry value) {
	if !f.signed() {
		return f.cut(v, bits)
	}
	half := int64(1) << (bits - 1)
	rounded := f.define(fmt.Sprintf("%s + %#x", v.name, half), v.plus(interval(half, half)))
	low = f.define(fmt.Sprintf("%s&%#x - %#x", rounded.name, 2*half-1, half), interval(-half, half-1))
	return low, f.define(fmt.Sprintf("%s >> %d", rounded.name, bits), rounded.shifted(bits))
}

// signedValue writes sign·a, where sign is the name of an int64 that is 1 or -1.
func (f *function) signedValue(a element, sign string) (r element) {
	if f.signed() {
		for _, limb := range a {
			r = append(r, f.define(limb.name+"*"+sign, limb.times(interval(-1, 1))))
		}
		return r
	}
	negative := f.limbwise(single(a).times(-1))
	f.line("mask := uint64(%s >> 63)", sign)
	for i, limb := range a {
		r = append(r, f.define(fmt.Sprintf("%s ^ (%s^%s)&mask", limb.name, limb.name, negative[i].name),
			limb.or(negative[i].bound)))
	}
	return r
}
