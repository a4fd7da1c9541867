package curve

import (
	"math/big"
	"testing"
)

func requireInverse(t *testing.T, e *element) {
	t.Helper()
	want := new(big.Int).Exp(integerOf(e), new(big.Int).Sub(prime, big.NewInt(2)), prime)
	var r element
	inverse(&r, e)
	if r != elementFromInt(want) {
		t.Fatalf("inverse of %v: got %v, want the canonical %x", e, r, want)
	}
	r = *e
	inverse(&r, &r)
	requireElement(t, "inverse in place", &r, want)
}

func integerOfNumber(n *number) *big.Int {
	sum := new(big.Int)
	for i := len(n) - 1; i >= 0; i-- {
		sum.Lsh(sum, stepBits)
		sum.Add(sum, big.NewInt(n[i]))
	}
	return sum
}

// TestSteps compares the steps with their definition on whole numbers, and holds what
// inverse.go says about d and e.
func TestSteps(t *testing.T) {
	rng := testRand(t)
	elements := edgeElements()
	for range 300 {
		elements = append(elements, extremeElement(rng))
	}
	for i := range elements {
		requireSteps(t, &elements[i])
	}
}

func requireSteps(t *testing.T, a *element) {
	t.Helper()
	f, g := primeWords.number(), a.number()
	d, e := number{}, number{1}
	counter := int64(-1)
	input := integerOfNumber(&g)
	wantF, wantG, twiceDelta := integerOfNumber(&f), input, int64(1)
	lowest := new(big.Int).Mul(prime, big.NewInt(-2))
	for range stepRounds {
		for range stepBits {
			sum := new(big.Int).Set(wantG)
			if wantG.Bit(0) == 1 {
				sum.Add(wantG, wantF)
				if twiceDelta > 0 {
					sum.Sub(wantG, wantF)
					wantF, twiceDelta = wantG, -twiceDelta
				}
			}
			wantG = sum.Rsh(sum, 1)
			twiceDelta += 2
		}
		s := newSteps(&f, &g)
		counter = s.run(counter)
		m := s.matrix()
		m.apply(&f, &g)
		m.applyModulo(&d, &e)
		if counter != -(twiceDelta+1)/2 || integerOfNumber(&f).Cmp(wantF) != 0 || integerOfNumber(&g).Cmp(wantG) != 0 {
			t.Fatalf("steps from %v: counter %d, f %v, g %v; want 2δ = %d, %x, %x", a, counter, f, g, twiceDelta, wantF, wantG)
		}
		for _, pair := range [][2]*number{{&f, &d}, {&g, &e}} {
			whole := integerOfNumber(pair[1])
			if whole.Cmp(lowest) < 0 || whole.Cmp(prime) > 0 {
				t.Fatalf("steps from %v: %x is out of range", a, whole)
			}
			difference := whole.Mul(whole, input)
			difference.Sub(difference, integerOfNumber(pair[0]))
			if difference.Mod(difference, prime).Sign() != 0 {
				t.Fatalf("steps from %v: %v is not %v times the input", a, pair[0], pair[1])
			}
		}
	}
	if g != (number{}) {
		t.Fatalf("steps from %v: g is %v in the end", a, g)
	}
}
