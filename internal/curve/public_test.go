package curve

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// multiplications are the ways to add multiples up, for any number of terms.
var multiplications = map[string]func(g *Scalar, terms []Term) Point{
	"MultiMultNonConst": func(g *Scalar, terms []Term) Point { return MultiMultNonConst(g, terms...) },
	"interleaved":       orComplete(interleavedMultNonConst),
	"buckets":           orComplete(bucketMultNonConst),
	"complete":          completeMultiMultNonConst,
}

func orComplete(mult func(g *Scalar, terms []Term) accumulator) func(g *Scalar, terms []Term) Point {
	return func(g *Scalar, terms []Term) Point {
		sum := mult(g, terms)
		if p, ok := sum.finishNonConst(); ok {
			return p
		}
		return completeMultiMultNonConst(g, terms)
	}
}

// referenceMult adds up with the dependency's own functions.
func referenceMult(g *Scalar, terms []Term) Point {
	var products []Point
	if g != nil {
		products = append(products, reference(g, &generator))
	}
	for i := range terms {
		products = append(products, reference(&terms[i].Scalar, &terms[i].Point))
	}
	return referenceSum(products...)
}

func requireMultiplications(t *testing.T, what string, g *Scalar, terms []Term) {
	t.Helper()
	want := referenceMult(g, terms)
	for name, mult := range multiplications {
		got := mult(g, terms)
		requireEqual(t, what+": "+name, &got, &want)
	}
	if IsInfinity(&want) {
		return
	}
	if !MultiMultIsNonConst(&want, g, terms...) {
		t.Fatalf("%s: MultiMultIsNonConst denies the right point", what)
	}
	for name, wrong := range map[string]Point{"opposite": Negate(&want), "other": referenceSum(want, generator)} {
		if !IsInfinity(&wrong) && MultiMultIsNonConst(&wrong, g, terms...) {
			t.Fatalf("%s: MultiMultIsNonConst accepts the %s point", what, name)
		}
	}
}

// TestSpecialTerms takes every pair of special scalars and points.
func TestSpecialTerms(t *testing.T) {
	rng := testRand(t)
	p := randomPoint(rng)
	lambda := scalarFromHex(t, lambdaHex)
	lambdaP := reference(&lambda, &p)
	points := map[string]Point{"infinity": {}, "P": p, "-P": Negate(&p), "λP": lambdaP, "G": generator, "-G": Negate(&generator)}
	scalars := map[string]Scalar{"random": randomScalar(rng), "λ": lambda}
	for name, n := range map[string]uint32{"0": 0, "1": 1, "2": 2, "16": 16} {
		k := *new(Scalar).SetInt(n)
		scalars[name] = k
		scalars["-"+name] = *k.Negate()
	}
	one := scalars["1"]
	for nameK, k := range scalars {
		for nameE, e := range scalars {
			for nameA, a := range points {
				for nameB, b := range points {
					if rng.IntN(8) > 0 {
						continue
					}
					what := fmt.Sprintf("%s·%s + %s·%s", nameK, nameA, nameE, nameB)
					requireMultiplications(t, what, nil, []Term{{k, a}, {e, b}})
					requireMultiplications(t, what+" + G", &one, []Term{{k, a}, {e, b}})
				}
			}
		}
		requireMultiplications(t, nameK+"·G alone", &k, nil)
		requireMultiplications(t, nameK+"·G + "+nameK+"·G", &k, []Term{{k, generator}})
	}
	requireMultiplications(t, "nothing", nil, nil)
}

// TestManyTerms adds up as many terms as the ways of doing so differ by. The sum
// is known from discrete logarithms.
func TestManyTerms(t *testing.T) {
	rng := testRand(t)
	for _, n := range []int{1, 2, 3, 4, columnTerms - 1, columnTerms, 20, manyTerms - 1, manyTerms, 400} {
		for kind, scalar := range map[string]func() Scalar{
			"random": func() Scalar { return randomScalar(rng) },
			"small":  func() Scalar { return *new(Scalar).SetInt(uint32(rng.IntN(40))) },
		} {
			total := randomScalar(rng)
			g := total
			terms := make([]Term, n)
			for i := range terms {
				k := randomScalar(rng)
				terms[i] = Term{scalar(), BaseMult(&k)}
				total.Add(k.Mul(&terms[i].Scalar))
			}
			requireSum(t, fmt.Sprintf("%d %s terms", n, kind), &g, terms, &total)
		}

		// The same term again and again, and each of them with its opposite.
		k := randomScalar(rng)
		equal := make([]Term, n)
		opposite := make([]Term, 2*n)
		for i := range equal {
			equal[i] = Term{*new(Scalar).SetInt(7), BaseMult(&k)}
			opposite[2*i], opposite[2*i+1] = equal[i], equal[i]
			opposite[2*i+1].Point = Negate(&equal[i].Point)
		}
		total := *new(Scalar).SetInt(uint32(7 * n))
		requireSum(t, fmt.Sprintf("%d equal terms", n), nil, equal, total.Mul(&k))
		requireSum(t, fmt.Sprintf("%d pairs that cancel", n), nil, opposite, new(Scalar))
		requireSum(t, fmt.Sprintf("G and %d pairs that cancel", n), &k, opposite, &k)
	}
}

// requireSum checks that all ways come to total·G.
func requireSum(t *testing.T, what string, g *Scalar, terms []Term, total *Scalar) {
	t.Helper()
	want := reference(total, &generator)
	for name, mult := range multiplications {
		got := mult(g, terms)
		requireEqual(t, what+": "+name, &got, &want)
	}
}

func TestColumns(t *testing.T) {
	rng := testRand(t)
	for range 100 {
		columns := make([][]Point, rng.IntN(5))
		var sums []Point
		pairs := 0
		for i := range columns {
			for range rng.IntN(10) {
				columns[i] = append(columns[i], randomPoint(rng))
			}
			pairs += len(columns[i]) / 2
			sums = append(sums, referenceSum(columns[i]...))
		}
		if !addUpNonConst(columns, make([]element, pairs)) {
			t.Fatal("random points are taken for equal or opposite ones")
		}
		for i, column := range columns {
			if len(column) > 0 {
				column[0].normalize()
				requireEqual(t, "sum of a column", &column[0], &sums[i])
			}
		}
		p := randomPoint(rng)
		q := []Point{p, Negate(&p)}[rng.IntN(2)]
		columns = append(columns, []Point{randomPoint(rng), randomPoint(rng), p, q})
		if addUpNonConst(columns, make([]element, pairs+2)) {
			t.Fatal("equal or opposite points are added up")
		}
	}
}

func TestSums(t *testing.T) {
	rng := testRand(t)
	special := []Point{{}, generator, Negate(&generator), randomPoint(rng)}
	for range 300 {
		pairs := make([]*[2]Point, rng.IntN(5))
		var columns [2][]Point
		for i := range pairs {
			pairs[i] = &[2]Point{special[rng.IntN(len(special))], special[rng.IntN(len(special))]}
			for j := range columns {
				columns[j] = append(columns[j], pairs[i][j])
			}
		}
		got := SumPairsNonConst(pairs)
		for j := range got {
			want := referenceSum(columns[j]...)
			requireEqual(t, "sum of pairs", &got[j], &want)
			sum := SumNonConst(columns[j]...)
			requireEqual(t, "sum", &sum, &want)
		}
	}
}

func TestBucketWindow(t *testing.T) {
	for _, halves := range []int{2, 10, 300, 2000, 20_000, 1_000_000} {
		if w := bucketWindow(halves); w < 4 || w > 16 {
			t.Errorf("windows of %d bits for %d halves", w, halves)
		}
	}
}

// FuzzMultiMult draws points and scalars, special ones often, by the bytes.
func FuzzMultiMult(f *testing.F) {
	f.Add([]byte{0}, uint64(1))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8}, uint64(2))
	f.Fuzz(func(t *testing.T, b []byte, seed uint64) {
		rng := rand.New(rand.NewPCG(seed, 0))
		base := randomPoint(rng)
		var terms []Term
		for _, v := range b[:min(len(b), 8)] {
			term := Term{Point: base}
			switch v & 7 {
			case 0, 1, 2, 3:
				term.Scalar.SetInt(uint32(v & 3))
			case 4:
				term.Scalar = randomScalar(rng)
			default:
				if len(terms) > 0 {
					term.Scalar = terms[0].Scalar
				}
			}
			if v&8 != 0 {
				term.Scalar.Negate()
			}
			switch v >> 4 & 3 {
			case 0:
				term.Point = randomPoint(rng)
			case 1:
				term.Point = Negate(&base)
			case 2:
				term.Point = generator
			}
			if v>>6 == 3 {
				term.Point = Point{}
			}
			terms = append(terms, term)
		}
		g := randomScalar(rng)
		requireMultiplications(t, "terms", &g, terms)
		requireMultiplications(t, "terms without G", nil, terms)
	})
}
