package main

// The formulas below are those of the literature with two changes: a sum of
// products is reduced once, and factors of 2 stand where they keep limbs small.

func writePoints(f *function) {
	writeDouble(f)
	writeAddAffine(f, false)
	writeAddAffine(f, true)
	writeAdd(f)
	writeCompleteDouble(f)
	writeCompleteAdd(f)
	writeScale(f)
	writeChord(f)
	writeParts(f)
}

func writeDouble(f *function) {
	f.begin("double sets p = 2^n·p. A point at infinity stays there; no finite one gets\n"+
		"there, since the order of the group is odd.", "(p *jacobian) double(n int)")
	x, y, z := f.load("p.x"), f.load("p.y"), f.load("p.z")
	f.loop([]element{x, y, z}, func() []element {
		s := f.smallSum("s = y²", square(y))
		t := f.sum("t = 4·x·s", product(x, s).times(4))
		l := f.sum("l = 3·x²", square(x).times(3))
		x3 := f.sum("x3 = l² - 2·t", square(l), single(t).times(-2))
		m := f.combine("m = t - x3", single(t), single(x3).times(-1))
		y3 := f.sum("y3 = l·m - 8·s²", product(l, m), square(s).times(-8))
		z3 := f.sum("z3 = 2·y·z", product(y, z).times(2))
		return []element{x3, y3, z3}
	})
	f.store("p.x", x)
	f.store("p.y", y)
	f.store("p.z", z)
	f.end()
}

func writeAddAffine(f *function, ratio bool) {
	if ratio {
		f.begin("addAffineRatio does the same with q, and sets ratio to z, over what it was before.",
			"(p *jacobian) addAffineRatio(q *Point, ratio *element)")
	} else {
		f.begin("addAffine sets p = p + sign·q, where sign is 1 or -1, unless p is infinity, q or\n"+
			"-q: then it sets z = 0, and no further double, addAffine or add changes that.",
			"(p *jacobian) addAffine(q *Point, sign int64)")
	}
	z1 := f.load("p.z")
	zz := f.sum("zz = z1²", square(z1))
	x1 := f.load("p.x")
	h := f.sum("h = x2·zz - x1", product(f.load("q.x"), zz), single(x1).times(-1))
	if ratio {
		f.store("ratio", h)
	}
	zzz := f.sum("zzz = z1·zz", product(z1, zz))
	f.store("p.z", f.sum("z3 = z1·h", product(z1, h)))
	hh := f.sum("hh = h²", square(h))
	hhh := f.sum("hhh = h·hh", product(h, hh))
	v := f.sum("v = x1·hh", product(x1, hh))
	y1, y2 := f.load("p.y"), f.load("q.y")
	if !ratio {
		y2 = f.signedValue(y2, "sign")
	}
	f.finishAdd(v, y1, hhh, f.sum("r = y2·zzz - y1", product(y2, zzz), single(y1).times(-1)))
	f.end()
}

func writeAdd(f *function) {
	f.begin("add sets p = p + q, unless one of them is infinity or p is q or -q: then it sets\n"+
		"z = 0, and no further double, addAffine or add changes that.",
		"(p *jacobian) add(q *jacobian)")
	z1, z2 := f.load("p.z"), f.load("q.z")
	zz1 := f.sum("zz1 = z1²", square(z1))
	zz2 := f.sum("zz2 = z2²", square(z2))
	u1 := f.sum("u1 = x1·zz2", product(f.load("p.x"), zz2))
	h := f.sum("h = x2·zz1 - u1", product(f.load("q.x"), zz1), single(u1).times(-1))
	zzz1 := f.sum("zzz1 = z1·zz1", product(z1, zz1))
	zzz2 := f.sum("zzz2 = z2·zz2", product(z2, zz2))
	z3 := f.sum("z1·z2", product(z1, z2))
	f.store("p.z", f.sum("z3 = z1·z2·h", product(z3, h)))
	hh := f.sum("hh = h²", square(h))
	hhh := f.sum("hhh = h·hh", product(h, hh))
	v := f.sum("v = u1·hh", product(u1, hh))
	s1 := f.sum("s1 = y1·zzz2", product(f.load("p.y"), zzz2))
	f.finishAdd(v, s1, hhh, f.sum("r = y2·zzz1 - s1", product(f.load("q.y"), zzz1), single(s1).times(-1)))
	f.end()
}

// finishAdd writes what additions have in common.
func (f *function) finishAdd(v, y1, hhh, r element) {
	x3 := f.sum("x3 = r² - hhh - 2·v", square(r), single(hhh).times(-1), single(v).times(-2))
	f.store("p.x", x3)
	m := f.combine("m = v - x3", single(v), single(x3).times(-1))
	f.store("p.y", f.sum("y3 = r·m - y1·hhh", product(r, m), product(y1, hhh).times(-1)))
}

// b3 is three times the constant of the curve equation y² = x³ + 7.
const b3 = 21

func writeCompleteDouble(f *function) {
	f.begin("double sets p = 2^n·p for every p, with the complete formulas for curves with\n"+
		"a = 0 of Renes, Costello and Batina, \"Complete addition formulas for prime order\n"+
		"elliptic curves\", algorithm 9.", "(p *projective) double(n int)")
	x, y, z := f.load("p.x"), f.load("p.y"), f.load("p.z")
	f.loop([]element{x, y, z}, func() []element {
		s := f.smallSum("s = y²", square(y))
		zz := f.sum("z²", square(z))
		w := f.carry("w = 3·b·z²", single(zz).times(b3))
		d := f.carry("d = s - 3·w", single(s), single(w).times(-3))
		xy := f.smallSum("x·y", product(x, y))
		yz := f.smallSum("y·z", product(y, z))
		x3 := f.sum("x3 = 2·x·y·d", product(xy, d).times(2))
		sum := f.combine("s + w", single(s), single(w))
		y3 := f.sum("y3 = d·(s + w) + 8·s·w", product(d, sum), product(s, w).times(8))
		z3 := f.sum("z3 = 8·s·y·z", product(s, yz).times(8))
		return []element{x3, y3, z3}
	})
	f.store("p.x", x)
	f.store("p.y", y)
	f.store("p.z", z)
	f.end()
}

func writeCompleteAdd(f *function) {
	f.begin("addAffine sets p = p + q for every p and finite q, with algorithm 8 of the same\n"+
		"paper.", "(p *projective) addAffine(q *Point)")
	x1, y1, z1 := f.load("p.x"), f.load("p.y"), f.load("p.z")
	x2, y2 := f.load("q.x"), f.load("q.y")
	xx := f.sum("xx = 3·x1·x2", product(x1, x2).times(3))
	yy := f.sum("yy = y1·y2", product(y1, y2))
	xy := f.sum("xy = x1·y2 + x2·y1", product(x1, y2), product(x2, y1))
	yz := f.sum("yz = y2·z1 + y1", product(y2, z1), single(y1))
	xz := f.sum("xz = x2·z1 + x1", product(x2, z1), single(x1))
	xz = f.carry("xz = 3·b·xz", single(xz).times(b3))
	zz := f.carry("zz = 3·b·z1", single(z1).times(b3))
	plus := f.combine("plus = yy + zz", single(yy), single(zz))
	minus := f.combine("minus = yy - zz", single(yy), single(zz).times(-1))
	f.store("p.x", f.sum("x3 = xy·minus - yz·xz", product(xy, minus), product(yz, xz).times(-1)))
	f.store("p.y", f.sum("y3 = plus·minus + xx·xz", product(plus, minus), product(xx, xz)))
	f.store("p.z", f.sum("z3 = plus·yz + xx·xy", product(plus, yz), product(xx, xy)))
	f.end()
}

func writeScale(f *function) {
	f.begin("scale sets p to the affine form of the point with the Jacobian coordinates x and y,\n"+
		"given 1/z. It leaves out what makes coordinates canonical.", "(p *Point) scale(x, y, inverse *element)")
	inverse := f.load("inverse")
	s := f.sum("s = inverse²", square(inverse))
	f.store("p.x", f.sum("x·s", product(f.load("x"), s)))
	cube := f.sum("cube = s·inverse", product(s, inverse))
	f.store("p.y", f.sum("y·cube", product(f.load("y"), cube)))
	f.end()
}

// writeChord writes an addition of affine points in the two passes of a batch of them,
// between which all differences of x are inverted together.
func writeChord(f *function) {
	f.begin("gap multiplies all, a product, by the difference of x of p and q.", "gap(all *element, p, q *Point)")
	dx := f.combine("dx = x2 - x1", single(f.load("q.x")), single(f.load("p.x")).times(-1))
	f.store("all", f.sum("all·dx", product(f.load("all"), dx)))
	f.end()

	f.begin("chord sets r = p + q, where p is not q or -q, given 1/all, the inverse of the product\n"+
		"after this gap, and the product before it. Then it takes this gap out of 1/all. The\n"+
		"three points may be the same. Coordinates are not made canonical.",
		"chord(r, p, q *Point, inverse, before *element)")
	x1, x2 := f.load("p.x"), f.load("q.x")
	dx = f.combine("dx = x2 - x1", single(x2), single(x1).times(-1))
	inverse := f.load("inverse")
	slope := f.sum("1/dx", product(inverse, f.load("before")))
	f.store("inverse", f.sum("inverse·dx", product(inverse, dx)))
	y1 := f.load("p.y")
	dy := f.combine("dy = y2 - y1", single(f.load("q.y")), single(y1).times(-1))
	slope = f.sum("slope = dy/dx", product(dy, slope))
	x3 := f.sum("x3 = slope² - x1 - x2", square(slope), single(x1).times(-1), single(x2).times(-1))
	f.store("r.x", x3)
	m := f.combine("m = x1 - x3", single(x1), single(x3).times(-1))
	f.store("r.y", f.sum("y3 = slope·m - y1", product(slope, m), single(y1).times(-1)))
	f.end()
}

// writeParts writes what addAffineCalls calls besides the functions of elements.
func writeParts(f *function) {
	f.begin("mulSubtract sets r = a·b - c.", "mulSubtract(r, a, b, c *element)")
	f.store("r", f.sum("a·b - c", product(f.load("a"), f.load("b")), single(f.load("c")).times(-1)))
	f.end()

	f.begin("finishAdd sets x and y of p, the first point of an addition, to those of the sum.",
		"(p *jacobian) finishAdd(v, hhh, r *element)")
	y1, vv, cube, slope := f.load("p.y"), f.load("v"), f.load("hhh"), f.load("r")
	f.finishAdd(vv, y1, cube, slope)
	f.end()
}
