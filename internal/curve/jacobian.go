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
	var square, cube element
	mul(&square, inverse, inverse)
	mul(&cube, &square, inverse)
	mul(&r.x, &p.x, &square)
	mul(&r.y, &p.y, &cube)
	normalize(&r.x, &r.x)
	normalize(&r.y, &r.y)
}

// toPoints brings points whose z is not 0 to affine form with one inversion.
// products is memory for as many elements.
func toPoints(to []Point, from []jacobian, products []element) {
	product := one
	for i := range from {
		products[i] = product
		mul(&product, &product, &from[i].z)
	}
	inverse(&product, &product)
	for i := len(from) - 1; i >= 0; i-- {
		var inv element
		mul(&inv, &product, &products[i])
		mul(&product, &product, &from[i].z)
		from[i].toPoint(&to[i], &inv)
	}
}

// oddMultiples sets r to p, 3·p, 5·p and so on. p and all of these are finite,
// and so is 2·p: the order of the group is a prime.
func oddMultiples(r []jacobian, p *jacobian) {
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
			sum.addAffine(&step, 1)
		}
		r[i] = sum
		mul(&r[i].z, &sum.z, &twice.z)
	}
}

// accumulator is a sum of finite points; without any it is infinity, and not what
// its coordinates say. A flag of its own tells, since a sum that was lost may have
// any coordinates.
type accumulator struct {
	jacobian
	any bool
}

// accumulateNonConst adds sign·q, or does nothing if q is infinity.
func (a *accumulator) accumulateNonConst(q *Point, sign int64) {
	switch {
	case IsInfinity(q):
	case a.any:
		a.addAffine(q, sign)
	default:
		a.set(q, sign)
		a.any = true
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
