package main

import (
	"fmt"
	"strings"
)

// begin starts a function.
func (f *function) begin(comment, signature string) {
	f.names = 0
	f.line("\n// %s\nfunc %s {", strings.ReplaceAll(comment, "\n", "\n// "), signature)
}

func (f *function) end() { f.line("}") }

func writeField(f *function) {
	f.begin("mul sets r = a·b. The three may be the same.", "mul(r, a, b *element)")
	f.store("r", f.sum("a·b", product(f.load("a"), f.load("b"))))
	f.end()

	f.begin("squareTimes sets r = a^(2^n). The two may be the same.",
		"squareTimes(r, a *element, n int)")
	a := f.load("a")
	f.loop([]element{a}, func() []element {
		return []element{f.sum("a²", square(a))}
	})
	f.store("r", a)
	f.end()

	f.begin("subtract sets r = a - b. The three may be the same.", "subtract(r, a, b *element)")
	f.store("r", f.carry("a - b", single(f.load("a")), single(f.load("b")).times(-1)))
	f.end()

	f.begin("addSmall sets r = a + n, where n is at most 2^29. The two may be the same.", "addSmall(r, a *element, n int64)")
	a = f.load("a")
	var small element
	for i := range small {
		small[i] = value{"0", interval(0, 0)}
	}
	small[0] = value{"n", interval(0, 1<<limbBits)}
	f.store("r", f.carry("a + n", single(a), single(small)))
	f.end()

	writeNormalize(f)
}

// writeNormalize writes the one function that makes limbs canonical.
//
// With 2p added, the value is positive. A first chain of carries leaves
// v = r + q·2^256, worth v' = r + q·(2^32 + 977), which is below 2p. Then v' is
// at least p exactly if v' + 2^32 + 977 reaches 2^256, which a second chain
// finds out, and p is subtracted by adding 2^32 + 977 and dropping 2^256.
func writeNormalize(f *function) {
	f.begin("normalize sets r = a with canonical limbs: 0 to 2^29-1, the last one below\n"+
		"2^24, and the whole below p. The two may be the same.", "normalize(r, a *element)")
	a := f.load("a")
	f.line("\n// a + 2·p")
	twiceP := [limbs]int64{2 * (1<<limbBits - foldLow), 2 * (1<<limbBits - 1 - foldHigh)}
	for i := 2; i < limbs; i++ {
		twiceP[i] = 2 * (1<<limbBits - 1)
	}
	twiceP[limbs-1] = 2 * (1<<topBits - 1)
	for i := range a {
		a[i] = f.define(fmt.Sprintf("%s + %d", a[i].name, twiceP[i]), a[i].plus(interval(twiceP[i], twiceP[i])))
	}
	r, q := f.chain(a, value{}, true)
	if !q.within(interval(0, 3)) {
		panic(overflowError{"the quotient of normalize", q.bound})
	}
	f.line("\n// whether p has to be subtracted")
	q1 := f.define(q.name+" + 1", q.plus(interval(1, 1)))
	_, over := f.chain(r, q1, false)
	if !over.within(interval(0, 1)) {
		panic(overflowError{"the last quotient of normalize", over.bound})
	}
	f.line("")
	r, _ = f.chain(r, f.define(q.name+" + "+over.name, q.plus(over.bound)), true)
	f.store("r", r)
	f.end()
}

// chain writes a + fold·(2^32 + 977), carried from limb to limb so that all of
// them are canonical, and what is left at 2^256. With keep unset it writes what
// is left alone.
func (f *function) chain(a element, fold value, keep bool) (r element, carry value) {
	for i := range a {
		c := newColumn()
		c.addScaled(1, a[i])
		if i == 0 {
			c.addScaled(foldLow, fold)
		}
		if i == 1 {
			c.addScaled(foldHigh, fold)
		}
		c.addScaled(1, carry)
		bits := uint(limbBits)
		if i == limbs-1 {
			bits = topBits
		}
		all := f.define(c.String(), c.bound)
		if keep {
			r[i] = f.define(fmt.Sprintf("%s & %#x", all.name, 1<<bits-1), interval(0, 1<<bits-1))
		}
		if i < limbs-1 || !keep || fold.name == "" {
			carry = f.define(fmt.Sprintf("%s >> %d", all.name, bits), all.shifted(bits))
		}
	}
	return r, carry
}
