package main

import (
	"fmt"
	"strings"
)

// begin starts a function.
func (f *function) begin(comment, signature string) {
	f.names, f.wideSums = 0, 0
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

	f.begin("addSmall sets r = a + n, where n is positive and at most 2^29. The two may be the\nsame.",
		"addSmall(r, a *element, n "+f.word+")")
	a = f.load("a")
	a[0] = f.define(a[0].name+" + n", a[0].plus(interval(0, 1<<29)))
	f.store("r", f.carry("carries", single(a)))
	f.end()

	f.begin("setSigned sets r = sign·a, where sign is 1 or -1. The two may be the same.",
		"setSigned(r, a *element, sign int64)")
	f.store("r", f.carry("carries", single(f.signedValue(f.load("a"), "sign"))))
	f.end()

	writeNormalize(f)
}

// writeNormalize writes the one function that makes limbs canonical.
//
// If limbs have a sign, 2p is added, so that the value is positive. A first chain
// of carries leaves v = r + q·2^256 with a q of at most 3, worth v' = r + q·(2^32
// + 977), which is below 2p. Then v' is at least p exactly if v' + 2^32 + 977
// reaches 2^256, which a second chain finds out, and p is subtracted by adding
// 2^32 + 977 and dropping 2^256.
func writeNormalize(f *function) {
	f.begin("normalize sets r = a with canonical limbs: none negative, each with no more bits\n"+
		"than its place has, and the whole below p. The two may be the same.", "normalize(r, a *element)")
	a := f.load("a")
	if f.signed() {
		f.line("\n// a + 2·p")
		for i := range a {
			limb := f.multiple(2, i)
			a[i] = f.define(fmt.Sprintf("%s + %v", a[i].name, limb), a[i].plus(bound{limb, limb}))
		}
	}
	r, q := f.chain(a, value{}, true)
	if !q.within(interval(0, 3)) {
		panic(overflowError{"the quotient of normalize", q.bound})
	}
	f.line("\n// whether p has to be subtracted")
	_, over := f.chain(r, f.define(q.name+" + 1", q.plus(interval(1, 1))), false)
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
		c := f.newColumn()
		c.addScaled(1, a[i])
		if i < len(f.fold) {
			c.addScaled(f.fold[i], fold)
		}
		c.addScaled(1, carry)
		bits := f.width(i)
		all := c.value()
		if keep {
			mask := int64(1)<<bits - 1
			r = append(r, f.define(fmt.Sprintf("%s & %#x", all.name, mask), interval(0, mask)))
		}
		if i < f.limbs-1 || !keep || fold.name == "" {
			carry = f.define(fmt.Sprintf("%s >> %d", all.name, bits), all.shifted(bits))
		}
	}
	return r, carry
}
