package curve

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// The formulas of points, written down once more over math/big from their
// sources. They hold for any numbers as coordinates, on the curve or not, so that
// all limbs can be at their ends.

type bigPoint struct{ x, y, z *big.Int }

func bigOf(x, y, z *element) bigPoint { return bigPoint{integerOf(x), integerOf(y), integerOf(z)} }

func times(factors ...any) *big.Int {
	product := big.NewInt(1)
	for _, factor := range factors {
		switch factor := factor.(type) {
		case int:
			product.Mul(product, big.NewInt(int64(factor)))
		case *big.Int:
			product.Mul(product, factor)
		}
	}
	return product
}

func plus(terms ...*big.Int) *big.Int {
	sum := new(big.Int)
	for _, term := range terms {
		sum.Add(sum, term)
	}
	return sum
}

func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }

// bigDouble is dbl-2009-l of the Explicit-Formulas Database.
func bigDouble(p bigPoint) bigPoint {
	a, b := times(p.x, p.x), times(p.y, p.y)
	c := times(b, b)
	d := times(2, minus(minus(times(plus(p.x, b), plus(p.x, b)), a), c))
	e := times(3, a)
	x := minus(times(e, e), times(2, d))
	return bigPoint{x, minus(times(e, minus(d, x)), times(8, c)), times(2, p.y, p.z)}
}

// bigAdd is add-1998-cmo-2 of the same database.
func bigAdd(p, q bigPoint) bigPoint {
	u1, u2 := times(p.x, q.z, q.z), times(q.x, p.z, p.z)
	s1, s2 := times(p.y, q.z, q.z, q.z), times(q.y, p.z, p.z, p.z)
	h, r := minus(u2, u1), minus(s2, s1)
	hhh, v := times(h, h, h), times(u1, h, h)
	x := minus(minus(times(r, r), hhh), times(2, v))
	return bigPoint{x, minus(times(r, minus(v, x)), times(s1, hhh)), times(p.z, q.z, h)}
}

// bigCompleteDouble and bigCompleteAdd are the equations of Renes, Costello and
// Batina that their algorithms 9 and 7 come from, with b = 7.
func bigCompleteDouble(p bigPoint) bigPoint {
	yy, zz := times(p.y, p.y), times(p.z, p.z)
	d := minus(yy, times(63, zz))
	return bigPoint{
		times(2, p.x, p.y, d),
		plus(times(d, plus(yy, times(21, zz))), times(168, yy, zz)),
		times(8, yy, p.y, p.z),
	}
}

func bigCompleteAdd(p, q bigPoint) bigPoint {
	xx, yy, zz := times(p.x, q.x), times(p.y, q.y), times(p.z, q.z)
	xy := plus(times(p.x, q.y), times(q.x, p.y))
	yz := plus(times(p.y, q.z), times(q.y, p.z))
	xz := plus(times(p.x, q.z), times(q.x, p.z))
	up, down := plus(yy, times(21, zz)), minus(yy, times(21, zz))
	return bigPoint{
		minus(times(xy, down), times(21, yz, xz)),
		plus(times(up, down), times(63, xx, xz)),
		plus(times(up, yz), times(3, xx, xy)),
	}
}

func requireCoordinates(t *testing.T, what string, x, y, z *element, want bigPoint) {
	t.Helper()
	requireElement(t, what+": x", x, want.x)
	requireElement(t, what+": y", y, want.y)
	requireElement(t, what+": z", z, want.z)
}

func TestFormulas(t *testing.T) {
	rng := testRand(t)
	edges := edgeElements()
	draw := func() element {
		if rng.IntN(3) == 0 {
			return edges[rng.IntN(len(edges))]
		}
		return extremeElement(rng)
	}
	unit := integerOf(&one)
	for round := range 3000 {
		x, y, z, x2, y2, z2 := draw(), draw(), draw(), draw(), draw(), draw()
		if round < len(edges) {
			// The same extreme everywhere.
			x, y, z, x2, y2, z2 = edges[round], edges[round], edges[round], edges[round], edges[round], edges[round]
		}
		p, q := bigOf(&x, &y, &z), bigOf(&x2, &y2, &z2)

		j := jacobian{x, y, z}
		j.double(1)
		requireCoordinates(t, "double", &j.x, &j.y, &j.z, bigDouble(p))
		j = jacobian{x, y, z}
		j.double(3)
		requireCoordinates(t, "double 3 times", &j.x, &j.y, &j.z, bigDouble(bigDouble(bigDouble(p))))
		j = jacobian{x, y, z}
		j.double(0)
		requireCoordinates(t, "double 0 times", &j.x, &j.y, &j.z, p)
		j = jacobian{x, y, z}
		j.add(&jacobian{x2, y2, z2})
		requireCoordinates(t, "add", &j.x, &j.y, &j.z, bigAdd(p, q))
		for _, sign := range []int64{1, -1} {
			j = jacobian{x, y, z}
			j.addAffine(&Point{x2, y2}, sign)
			affine := bigPoint{q.x, times(int(sign), q.y), unit}
			requireCoordinates(t, "addAffine", &j.x, &j.y, &j.z, bigAdd(p, affine))
			j = jacobian{x, y, z}
			j.addAffineCalls(&Point{x2, y2}, sign)
			requireCoordinates(t, "addAffineCalls", &j.x, &j.y, &j.z, bigAdd(p, affine))
		}
		j = jacobian{x, y, z}
		var ratio element
		j.addAffineRatio(&Point{x2, y2}, &ratio)
		requireCoordinates(t, "addAffineRatio", &j.x, &j.y, &j.z, bigAdd(p, bigPoint{q.x, q.y, unit}))
		requireElement(t, "the ratio", &ratio, minus(times(q.x, p.z, p.z), p.x))

		var r Point
		r.scale(&x, &y, &z)
		requireElement(t, "scale: x", &r.x, times(p.x, p.z, p.z))
		requireElement(t, "scale: y", &r.y, times(p.y, p.z, p.z, p.z))
		all := z2
		gap(&all, &Point{x, y}, &Point{x2, y2})
		requireElement(t, "gap", &all, times(q.z, minus(q.x, p.x)))
		inverse := z2
		r = Point{x, y}
		chord(&r, &r, &Point{x2, y2}, &inverse, &z)
		requireElement(t, "chord: inverse", &inverse, times(q.z, minus(q.x, p.x)))
		slope := times(minus(q.y, p.y), q.z, p.z)
		x3 := minus(minus(times(slope, slope), p.x), q.x)
		requireElement(t, "chord: x", &r.x, x3)
		requireElement(t, "chord: y", &r.y, minus(times(slope, minus(p.x, x3)), p.y))

		c := projective{x, y, z}
		c.double(1)
		requireCoordinates(t, "complete double", &c.x, &c.y, &c.z, bigCompleteDouble(p))
		c = projective{x, y, z}
		c.addAffine(&Point{x2, y2})
		requireCoordinates(t, "complete add", &c.x, &c.y, &c.z, bigCompleteAdd(p, bigPoint{q.x, q.y, unit}))
	}
}

// TestLostSums holds what the loops without checks rest on: equal and opposite
// points and infinity leave z = 0, and nothing changes that later.
func TestLostSums(t *testing.T) {
	rng := testRand(t)
	for range 50 {
		p, q := randomPoint(rng), randomPoint(rng)
		lost := map[string]func(j *jacobian){
			"P + P":        func(j *jacobian) { j.set(&p, 1); j.addAffine(&p, 1) },
			"P - P":        func(j *jacobian) { j.set(&p, 1); j.addAffine(&p, -1) },
			"infinity + P": func(j *jacobian) { *j = jacobian{p.x, p.y, element{}}; j.addAffine(&p, 1) },
			"2·P + 2·P":    func(j *jacobian) { j.set(&p, 1); j.double(1); same := *j; j.add(&same) },
			"P + infinity": func(j *jacobian) { j.set(&p, 1); j.add(&jacobian{q.x, q.y, element{}}) },
		}
		for name, lose := range lost {
			var j jacobian
			lose(&j)
			for step := range 30 {
				if !j.z.isZeroNonConst() {
					t.Fatalf("%s: after %d steps z is not 0", name, step)
				}
				switch rng.IntN(3) {
				case 0:
					j.double(1 + rng.IntN(3))
				case 1:
					j.addAffine(&q, 1)
				default:
					var other jacobian
					other.set(&q, -1)
					j.add(&other)
				}
			}
		}
	}
}

func randomPoint(rng *rand.Rand) Point {
	k := randomScalar(rng)
	return reference(&k, &generator)
}

func TestOddMultiples(t *testing.T) {
	rng := testRand(t)
	p := randomPoint(rng)
	var start jacobian
	start.set(&p, 1)
	start.double(3)
	p = reference(new(Scalar).SetInt(8), &p)
	var multiples [9]multiple
	z := oddMultiples(multiples[:], &start)
	sum := jacobian{multiples[8].x, multiples[8].y, z}
	inverse(&z, &z)
	var points [9]Point
	toPoints(points[:], multiples[:], &z)
	for i := range points {
		points[i].normalize()
		k := *new(Scalar).SetInt(uint32(2*i + 1))
		want := reference(&k, &p)
		requireEqual(t, "odd multiple", &points[i], &want)
		minus := Negate(&want)
		if got := sum.isNonConst(&want); got != (i == 8) || sum.isNonConst(&minus) {
			t.Fatalf("whether the last multiple is %d times the point, or its opposite: %v", 2*i+1, got)
		}
	}
	toPoints(nil, nil, &z)
}

func TestInvertAll(t *testing.T) {
	rng := testRand(t)
	for count := range 6 {
		elements, before := make([]element, count), make([]element, count)
		want := make([]element, count)
		for i := range elements {
			elements[i] = extremeElement(rng)
			elements[i][0] |= 1 // none of the extremes is a multiple of p
			inverse(&want[i], &elements[i])
		}
		invertAll(elements, before)
		for i := range elements {
			requireElement(t, "one of many inverses", &elements[i], integerOf(&want[i]))
		}
	}
}
