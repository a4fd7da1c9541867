package curve

import "github.com/decred/dcrd/dcrec/secp256k1/v4"

// Term is one product of a sum of multiples: Scalar times Point.
type Term struct {
	Scalar Scalar
	Point  Point
}

// addNonConst returns a + b, not brought to affine form.
func addNonConst(a, b *Point) Point {
	var r Point
	secp256k1.AddNonConst(a, b, &r)
	return r
}

// SumNonConst returns the sum of the points. Its time depends on them: for
// public data only. The points are affine or infinity; the sum of none is
// infinity.
func SumNonConst(points ...Point) Point {
	var sum Point
	for i := range points {
		sum = addNonConst(&sum, &points[i])
	}
	return normalizeNonConst(&sum)
}

// MultiMultNonConst returns g·G plus the sum of the terms. Its time depends on
// all arguments: for public data only. A nil g counts as 0.
func MultiMultNonConst(g *Scalar, terms ...Term) Point {
	var sum Point
	if g != nil {
		sum = baseMultNonConst(g)
	}
	for i := range terms {
		var product Point
		secp256k1.ScalarMultNonConst(&terms[i].Scalar, &terms[i].Point, &product)
		sum = addNonConst(&sum, &product)
	}
	return normalizeNonConst(&sum)
}

// EqualNonConst reports whether a and b are the same point. Both are affine or
// infinity.
func EqualNonConst(a, b *Point) bool {
	if IsInfinity(a) || IsInfinity(b) {
		return IsInfinity(a) && IsInfinity(b)
	}
	return a.X.Equals(&b.X) && a.Y.Equals(&b.Y)
}

// baseMultNonConst returns g·G, not brought to affine form: one addition for
// each nonzero digit of g.
func baseMultNonConst(g *Scalar) Point {
	table := getBaseTable()
	var sum Point
	for i, digit := range digits(g) {
		if digit == 0 {
			continue
		}
		e := &table[i][digit-1]
		var p Point
		e.x.unpack(&p.X)
		e.y.unpack(&p.Y)
		p.Z.SetInt(1)
		sum = addNonConst(&sum, &p)
	}
	return sum
}

func normalizeNonConst(p *Point) Point {
	if IsInfinity(p) {
		return Point{}
	}
	p.ToAffine()
	return *p
}
