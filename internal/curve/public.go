package curve

// Term is one product of a sum of multiples: Scalar times Point.
type Term struct {
	Scalar Scalar
	Point  Point
}

// SumNonConst returns the sum of the points. Its time depends on them: for
// public data only. The sum of none is infinity.
func SumNonConst(points ...Point) Point {
	var sum accumulator
	for i := range points {
		sum.accumulateNonConst(&points[i], 1)
	}
	if r, ok := sum.finishNonConst(); ok {
		return r
	}
	var complete projective
	complete.y = one
	for i := range points {
		if !IsInfinity(&points[i]) {
			complete.addAffine(&points[i])
		}
	}
	return complete.toPoint()
}

// SumPairsNonConst returns the sum of the first points of the pairs and that of
// the second ones. Its time depends on them: for public data only.
func SumPairsNonConst[P ~[2]Point](pairs []*P) P {
	var sums [2]accumulator
	for _, p := range pairs {
		pair := [2]Point(*p)
		for j := range pair {
			sums[j].accumulateNonConst(&pair[j], 1)
		}
	}
	if sums[0].any && sums[1].any {
		z := []element{sums[0].z, sums[1].z}
		if !z[0].isZeroNonConst() && !z[1].isZeroNonConst() {
			invertAll(z, make([]element, len(z)))
			var points [2]Point
			for j := range points {
				sums[j].toPoint(&points[j], &z[j])
			}
			return points
		}
	}
	column := make([]Point, len(pairs))
	var points [2]Point
	for j := range points {
		for i, p := range pairs {
			column[i] = [2]Point(*p)[j]
		}
		points[j] = SumNonConst(column...)
	}
	return points
}

// MultiMultNonConst returns g·G plus the sum of the terms. Its time depends on
// all arguments: for public data only. A nil g counts as 0.
func MultiMultNonConst(g *Scalar, terms ...Term) Point {
	sum := multiMultNonConst(g, terms)
	if r, ok := sum.finishNonConst(); ok {
		return r
	}
	return completeMultiMultNonConst(g, terms)
}

// MultiMultIsNonConst reports whether g·G plus the sum of the terms is want, a
// finite point, with less work than MultiMultNonConst. Its time depends on all
// arguments: for public data only.
func MultiMultIsNonConst(want *Point, g *Scalar, terms ...Term) bool {
	sum := multiMultNonConst(g, terms)
	if sum.any && !sum.z.isZeroNonConst() {
		return sum.isNonConst(want)
	}
	p := completeMultiMultNonConst(g, terms)
	return p == *want
}

// EqualNonConst reports whether a and b are the same point. Its time depends on
// them.
func EqualNonConst(a, b *Point) bool { return *a == *b }

// manyTerms is from how many terms on buckets are the faster way.
const manyTerms = 150

// multiMultNonConst returns g·G plus the terms, or that the sum was lost.
func multiMultNonConst(g *Scalar, terms []Term) accumulator {
	if len(terms) >= manyTerms {
		return bucketMultNonConst(g, terms)
	}
	return interleavedMultNonConst(g, terms)
}

// completeMultiMultNonConst is multiMultNonConst for every case, bit by bit.
func completeMultiMultNonConst(g *Scalar, terms []Term) Point {
	if g != nil {
		terms = append([]Term{{*g, generator}}, terms...)
	}
	scalars := make([]words, len(terms))
	for i := range terms {
		b := terms[i].Scalar.Bytes()
		scalars[i] = wordsOf(&b)
	}
	var sum projective
	sum.y = one
	for bit := 255; bit >= 0; bit-- {
		sum.double(1)
		for i := range terms {
			if scalars[i][bit/64]>>(bit%64)&1 == 1 && !IsInfinity(&terms[i].Point) {
				sum.addAffine(&terms[i].Point)
			}
		}
	}
	return sum.toPoint()
}
