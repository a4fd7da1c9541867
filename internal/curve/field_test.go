package curve

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

var prime, _ = new(big.Int).SetString("fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f", 16)

// limbWidth is the number of bits from one limb to the next.
var limbWidth = map[int]uint{5: 52, 9: 29}[limbs]

// limbRange is what limb i of an element in memory may be, as the generator
// assumes.
func limbRange(i int) (lo, hi int64) {
	bits := limbWidth
	if i == limbs-1 {
		bits = 256 - (limbs-1)*limbWidth
	}
	if limbs == 9 {
		return -1 << bits, 1<<bits + 1<<13
	}
	return 0, 1 << (bits + 1)
}

// integerOf is what the limbs of e add up to.
func integerOf(e *element) *big.Int {
	sum := new(big.Int)
	for i := limbs - 1; i >= 0; i-- {
		sum.Lsh(sum, limbWidth)
		sum.Add(sum, big.NewInt(int64(e[i])))
	}
	return sum
}

// requireElement checks that e is want modulo p and within the range of limbs.
func requireElement(t *testing.T, what string, e *element, want *big.Int) {
	t.Helper()
	for i := range e {
		if lo, hi := limbRange(i); int64(e[i]) < lo || int64(e[i]) > hi {
			t.Fatalf("%s: limb %d is %d", what, i, e[i])
		}
	}
	if difference := new(big.Int).Sub(integerOf(e), want); difference.Mod(difference, prime).Sign() != 0 {
		t.Fatalf("%s: got %x, want %x modulo p", what, integerOf(e), want)
	}
}

func elementFromInt(x *big.Int) (e element) {
	var b [32]byte
	new(big.Int).Mod(x, prime).FillBytes(b[:])
	w := wordsOf(&b)
	return w.unpack()
}

// extremeElement draws each limb from the ends of its range, numbers beside
// those, small ones and any.
func extremeElement(rng *rand.Rand) (e element) {
	for i := range e {
		lo, hi := limbRange(i)
		choices := []int64{lo, lo + 1, hi, hi - 1, 0, 1, hi >> 1, hi>>1 - 1, lo + rng.Int64N(hi-lo+1)}
		e[i] = limb(choices[rng.IntN(len(choices))])
	}
	return e
}

// edgeElements are the ends of every limb, all at once and one by one, and the
// surroundings of 0 and of the multiples of p.
func edgeElements() []element {
	var all []element
	for pattern := range 3 {
		var e element
		for i := range e {
			lo, hi := limbRange(i)
			e[i] = limb([]int64{lo, hi, []int64{lo, hi}[i%2]}[pattern])
		}
		all = append(all, e)
	}
	for i := range limbs {
		lo, hi := limbRange(i)
		var low, high element
		low[i], high[i] = limb(lo), limb(hi)
		all = append(all, low, high)
	}
	for _, n := range []int64{-3, -2, -1, 0, 1, 2, 3, 976, 977, 978} {
		all = append(all, elementFromInt(big.NewInt(n)))
		// p itself and its neighbours, which are not canonical.
		e := elementFromInt(big.NewInt(-1))
		e[0] += limb(max(n, 0))
		all = append(all, e)
	}
	for _, exponent := range []uint{29, 32, 52, 58, 208, 232, 255} {
		power := new(big.Int).Lsh(big.NewInt(1), exponent)
		all = append(all, elementFromInt(power), elementFromInt(power.Sub(power, big.NewInt(1))))
	}
	return all
}

func requireField(t *testing.T, a, b *element) {
	t.Helper()
	x, y := integerOf(a), integerOf(b)
	var r element
	mul(&r, a, b)
	requireElement(t, "mul", &r, new(big.Int).Mul(x, y))
	r = *a
	mul(&r, &r, b)
	requireElement(t, "mul in place", &r, new(big.Int).Mul(x, y))
	r = *b
	mul(&r, &r, &r)
	requireElement(t, "mul by itself", &r, new(big.Int).Mul(y, y))
	for n := range 4 {
		squareTimes(&r, a, n)
		requireElement(t, "squareTimes", &r, new(big.Int).Exp(x, big.NewInt(1<<n), prime))
	}
	subtract(&r, a, b)
	requireElement(t, "subtract", &r, new(big.Int).Sub(x, y))
	for _, n := range []limb{0, 1, 7, 1 << 29} {
		addSmall(&r, a, n)
		requireElement(t, "addSmall", &r, new(big.Int).Add(x, big.NewInt(int64(n))))
	}
	setSigned(&r, a, 1)
	requireElement(t, "setSigned 1", &r, x)
	setSigned(&r, a, -1)
	requireElement(t, "setSigned -1", &r, new(big.Int).Neg(x))
	normalize(&r, a)
	if want := elementFromInt(x); r != want {
		t.Fatalf("normalize: got %v, want %v", r, want)
	}
	if w := r.pack(); w.unpack() != r {
		t.Fatalf("pack: %v becomes %v", r, w.unpack())
	}
	if got, want := a.isZeroNonConst(), r == (element{}); got != want {
		t.Fatalf("isZero of %v: %v", a, got)
	}
	difference := new(big.Int).Sub(x, y)
	if got, want := equalNonConst(a, b), difference.Mod(difference, prime).Sign() == 0; got != want {
		t.Fatalf("equal of %v and %v: %v", a, b, got)
	}
}

func TestField(t *testing.T) {
	edges := edgeElements()
	for i := range edges {
		requireInverse(t, &edges[i])
		for j := range edges {
			requireField(t, &edges[i], &edges[j])
		}
	}
	rng := testRand(t)
	for range 5000 {
		a, b := extremeElement(rng), extremeElement(rng)
		requireField(t, &a, &b)
		requireInverse(t, &a)
	}
}

func TestRoot(t *testing.T) {
	rng := testRand(t)
	elements := edgeElements()
	for range 100 {
		elements = append(elements, extremeElement(rng))
	}
	for i := range elements {
		e := &elements[i]
		x := new(big.Int).Mod(integerOf(e), prime)
		var r element
		ok := rootNonConst(&r, e)
		if want := big.Jacobi(x, prime) >= 0; ok != want {
			t.Fatalf("root of %x: %v, want %v", x, ok, want)
		}
		if ok {
			mul(&r, &r, &r)
			requireElement(t, "the square of the root", &r, x)
		}
		r = *e
		if rootNonConst(&r, &r) != ok {
			t.Fatalf("root of %x in place: not %v", x, ok)
		}
	}
}

func TestConstants(t *testing.T) {
	three := big.NewInt(3)
	requireElement(t, "beta³", &one, new(big.Int).Exp(integerOf(&beta), three, prime))
	if beta == one {
		t.Fatal("beta is 1")
	}
	lambda := scalarFromHex(t, lambdaHex)
	got, want := reference(&lambda, &generator), generator
	mul(&want.x, &want.x, &beta)
	normalize(&want.x, &want.x)
	requireEqual(t, "λ·G", &got, &want)
	var n Scalar
	n.SetInt(1)
	got = reference(&n, &generator)
	requireEqual(t, "G", &got, &generator)
}

// FuzzField compares with math/big, limbs taken from the input.
func FuzzField(f *testing.F) {
	f.Add(make([]byte, 16*limbs))
	f.Fuzz(func(t *testing.T, b []byte) {
		var operands [2]element
		for i := range operands {
			for j := range operands[i] {
				lo, hi := limbRange(j)
				var word uint64
				for k := range 8 {
					if at := (i*limbs+j)*8 + k; at < len(b) {
						word = word<<8 | uint64(b[at])
					}
				}
				operands[i][j] = limb(lo + int64(word%uint64(hi-lo+1)))
			}
		}
		requireField(t, &operands[0], &operands[1])
		requireInverse(t, &operands[0])
	})
}
