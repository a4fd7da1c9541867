package curve

// jacobian is a point in Jacobian coordinates: its affine ones are x/z² and
// y/z³, and z = 0 is infinity. Its additions are not complete. Where one of them
// meets a case that its formula does not hold for, the result has z = 0, and
// keeps it through every later doubling and addition: z3 is a product with z1 in
// all of them. So a sum of any length needs one check, of z at its end. With z
// other than 0 no step has met such a case, and the sum is right; with z = 0 the
// sum is infinity or was lost on the way, and is done again by a complete method.
type jacobian struct{ x, y, z element }

// set makes p the finite point sign·q.
func (p *jacobian) set(q *Point, sign int64) {
	p.x, p.z = q.x, one
	setSigned(&p.y, &q.y, sign)
}

// isNonConst reports whether p, whose z is not 0, is the finite point q.
func (p *jacobian) isNonConst(q *Point) bool {
	var zz, t element
	square(&zz, &p.z)
	mul(&t, &q.x, &zz)
	if !equalNonConst(&t, &p.x) {
		return false
	}
	mul(&zz, &zz, &p.z)
	mul(&t, &q.y, &zz)
	return equalNonConst(&t, &p.y)
}

// toPoint sets r to p, given 1/z.
func (p *jacobian) toPoint(r *Point, inverse *element) {
	r.scale(&p.x, &p.y, inverse)
	r.normalize()
}

func (p *Point) normalize() {
	normalize(&p.x, &p.x)
	normalize(&p.y, &p.y)
}

// multiple is one of the odd multiples of a point, p, 3·p, 5·p and so on, in Jacobian
// coordinates. Its z is that of the one before it, times ratio.
type multiple struct{ x, y, ratio element }

// oddMultiples sets r to the odd multiples of p and returns the z of the last one. p
// and all of these are finite, and so is 2·p: the order of the group is a prime.
func oddMultiples(r []multiple, p *jacobian) (z element) {
	twice := *p
	twice.double(1)
	// With coordinates scaled by the z of 2·p that point is affine, which makes
	// the additions cheaper. Such a scaling is an isomorphism to another curve
	// y² = x³ + b; no formula of an addition or doubling names b.
	var zz, zzz element
	square(&zz, &twice.z)
	mul(&zzz, &zz, &twice.z)
	sum := jacobian{z: p.z}
	mul(&sum.x, &p.x, &zz)
	mul(&sum.y, &p.y, &zzz)
	step := Point{twice.x, twice.y}
	for i := range r {
		if i > 0 {
			sum.addAffineRatio(&step, &r[i].ratio)
		}
		r[i].x, r[i].y = sum.x, sum.y
	}
	mul(&z, &sum.z, &twice.z)
	return z
}

// toPoints sets to to the odd multiples, given 1/z of the last one. It leaves out what
// makes coordinates canonical.
func toPoints(to []Point, from []multiple, inverse *element) {
	inv := *inverse
	for i := len(from) - 1; i >= 0; i-- {
		to[i].scale(&from[i].x, &from[i].y, &inv)
		if i > 0 {
			mul(&inv, &inv, &from[i].ratio)
		}
	}
}

// invertAll sets each element, none of which is 0, to its inverse, with one inversion
// for all. before is memory for as many.
func invertAll(elements, before []element) {
	all := one
	for i := range elements {
		before[i] = all
		mul(&all, &all, &elements[i])
	}
	inverse(&all, &all)
	for i := len(elements) - 1; i >= 0; i-- {
		before[i], elements[i] = elements[i], before[i]
		mul(&elements[i], &elements[i], &all)
		mul(&all, &all, &before[i])
	}
}

// addAffineCalls is addAffine in small pieces. By itself it takes a quarter longer, but
// addAffine and double together are much code if limbs are narrow: called in turns, they
// take nearly twice as long as each by itself, and this one and double do not.
func (p *jacobian) addAffineCalls(q *Point, sign int64) {
	var zz, zzz, h, hh, hhh, v, r, y element
	squareTimes(&zz, &p.z, 1)
	mulSubtract(&h, &q.x, &zz, &p.x)
	mul(&zzz, &p.z, &zz)
	mul(&p.z, &p.z, &h)
	squareTimes(&hh, &h, 1)
	mul(&hhh, &h, &hh)
	mul(&v, &p.x, &hh)
	setSigned(&y, &q.y, sign)
	mulSubtract(&r, &y, &zzz, &p.y)
	p.finishAdd(&v, &hhh, &r)
}

// accumulator is a sum of finite points; without any it is infinity, and not what
// its coordinates say. A flag of its own tells, since a sum that was lost may have
// any coordinates.
type accumulator struct {
	jacobian
	any bool
}

// include adds sign·q, where q is finite.
func (a *accumulator) include(q *Point, sign int64) {
	if a.any {
		a.addAffine(q, sign)
	} else {
		a.set(q, sign)
		a.any = true
	}
}

// accumulateNonConst adds sign·q, or does nothing if q is infinity.
func (a *accumulator) accumulateNonConst(q *Point, sign int64) {
	if !IsInfinity(q) {
		a.include(q, sign)
	}
}

// doubleAndAddNonConst doubles the sum n times and adds sign·q, where q is finite.
func (a *accumulator) doubleAndAddNonConst(n int, q *Point, sign int64) {
	const narrow = limbs == 9
	a.doubleNonConst(n)
	if a.any && narrow {
		a.addAffineCalls(q, sign)
	} else {
		a.include(q, sign)
	}
}

// doubleNonConst doubles the sum n times.
func (a *accumulator) doubleNonConst(n int) {
	if a.any && n > 0 {
		a.double(n)
	}
}

// finishNonConst returns the sum, and false if it was lost or is infinity after all.
func (a *accumulator) finishNonConst() (r Point, ok bool) {
	if !a.any {
		return Point{}, true
	}
	if a.z.isZeroNonConst() {
		return Point{}, false
	}
	var inv element
	inverse(&inv, &a.z)
	a.toPoint(&r, &inv)
	return r, true
}
