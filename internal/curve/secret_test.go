package curve

import (
	"math/big"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// lambdaHex is λ, the cube root of 1 modulo n that beta stands for.
const lambdaHex = "5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72"

func scalarFromInt(x *big.Int) Scalar {
	var b [32]byte
	new(big.Int).Mod(x, secp256k1.Params().N).FillBytes(b[:])
	var k Scalar
	k.SetBytes(&b)
	return k
}

func intOf(k *Scalar) *big.Int {
	b := k.Bytes()
	return new(big.Int).SetBytes(b[:])
}

func (k *integer) int() *big.Int {
	x := new(big.Int)
	for i := 2; i >= 0; i-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(k[i]))
	}
	if k.isNegative() {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), 192))
	}
	return x
}

// splitScalars are edge scalars, and those around the multiples of n/a1 and n/b1
// where the rounding of the split changes.
func splitScalars(t testing.TB) []Scalar {
	scalars := edgeScalars(t)
	n := secp256k1.Params().N
	rng := testRand(t)
	for _, divisor := range []*integer{&glvA1, &glvB1} {
		for range 200 {
			c := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(rng.Int64()), 63), big.NewInt(rng.Int64()))
			c.Mod(c, divisor.int())
			// The k at which divisor·k/n is c + 1/2.
			k := new(big.Int).Add(new(big.Int).Lsh(c, 1), big.NewInt(1))
			k.Mul(k, n).Div(k, new(big.Int).Lsh(divisor.int(), 1))
			for d := int64(-1); d <= 2; d++ {
				scalars = append(scalars, scalarFromInt(new(big.Int).Add(k, big.NewInt(d))))
			}
		}
	}
	for range 500 {
		scalars = append(scalars, randomScalar(rng))
	}
	return scalars
}

func TestSplit(t *testing.T) {
	n := secp256k1.Params().N
	lambda, _ := new(big.Int).SetString(lambdaHex, 16)
	scalars := splitScalars(t)
	for i := range scalars {
		k1, k2 := split(&scalars[i])
		x, y := k1.int(), k2.int()
		if x.BitLen() > 128 || y.BitLen() > 128 {
			t.Fatalf("%v splits into %x and %x", scalars[i], x, y)
		}
		sum := new(big.Int).Mul(y, lambda)
		sum.Add(sum, x).Sub(sum, intOf(&scalars[i]))
		if sum.Mod(sum, n).Sign() != 0 {
			t.Fatalf("%v splits into %x and %x, which are another scalar", scalars[i], x, y)
		}
	}
}

func TestDigits(t *testing.T) {
	scalars := splitScalars(t)
	for i := range scalars {
		k1, k2 := split(&scalars[i])
		for _, k := range []integer{k1, k2, {}, {1}, {^uint64(0), ^uint64(0)}} {
			for _, window := range []int{termWindow, baseWindow} {
				var h half
				h.setDigitsNonConst(k, window)
				sum := new(big.Int)
				last := halfDigits + window
				for j := halfDigits - 1; j >= 0; j-- {
					digit := int64(h.digits[j])
					sum.Lsh(sum, 1).Add(sum, big.NewInt(digit*h.sign))
					if digit == 0 {
						continue
					}
					if digit&1 == 0 || max(digit, -digit) >= 1<<(window-1) {
						t.Fatalf("%v has the digit %d", k, digit)
					}
					if last-j < window {
						t.Fatalf("%v has two digits within %d", k, window)
					}
					last = j
				}
				if sum.Cmp(k.int()) != 0 {
					t.Fatalf("the digits of %x add up to %x", k.int(), sum)
				}
			}
		}
	}
}

// exceptionalScalars are those for which an addition in the last windows of
// BaseMult or Mult would meet equal or opposite points: the digit d there is
// added to ±d times the same point. Doubled digits cover the equal ones, and
// what is left of the others, the opposite ones.
func exceptionalScalars() []Scalar {
	lambda, _ := new(big.Int).SetString(lambdaHex, 16)
	var scalars []Scalar
	for d := int64(1 - 2*baseSize); d < 2*baseSize; d++ {
		top := new(big.Int).Lsh(big.NewInt(d), baseBits*(baseWindows-1))
		scalars = append(scalars, scalarFromInt(top), scalarFromInt(new(big.Int).Lsh(top, 1)))
	}
	for d := int64(-15); d <= 15; d++ {
		digit := big.NewInt(d)
		for e := int64(-15); e <= 15; e++ {
			for _, factor := range []int64{1, 16} {
				// d + e·λ and 2·d + e·λ, in the last window and the one before.
				second := new(big.Int).Mul(big.NewInt(e), lambda)
				for _, first := range []int64{d, 2 * d} {
					sum := new(big.Int).Add(big.NewInt(first), second)
					scalars = append(scalars, scalarFromInt(sum.Mul(sum, big.NewInt(factor))))
					sum = new(big.Int).Add(digit, new(big.Int).Lsh(second, 1))
					scalars = append(scalars, scalarFromInt(sum.Mul(sum, big.NewInt(factor))))
				}
			}
		}
	}
	return scalars
}

func TestExceptionalScalars(t *testing.T) {
	rng := testRand(t)
	p := randomPoint(rng)
	// Every multiple of p that occurs, from few additions of the dependency's.
	scalars := exceptionalScalars()
	for i := range scalars {
		want := reference(&scalars[i], &generator)
		got := BaseMult(&scalars[i])
		requireEqual(t, "BaseMult "+scalars[i].String(), &got, &want)
		want = reference(&scalars[i], &p)
		got = Mult(&scalars[i], &p)
		requireEqual(t, "Mult "+scalars[i].String(), &got, &want)
	}
}

// TestLastWindow follows BaseMult in integers. The last addition really meets
// equal and opposite points, for scalars in exceptionalScalars, and no other
// addition does for any scalar.
func TestLastWindow(t *testing.T) {
	n := secp256k1.Params().N
	rng := testRand(t)
	exceptional := exceptionalScalars()
	scalars := append(exceptional, edgeScalars(t)...)
	for range 200 {
		scalars = append(scalars, randomScalar(rng))
	}
	equal, opposite := 0, 0
	for i := range scalars {
		recoded := recode(&scalars[i], &baseOffset)
		v := intOf(&recoded)
		sum := new(big.Int)
		for w := range baseWindows {
			window := new(big.Int).Rsh(v, uint(baseBits*w)).Uint64() & (2*baseSize - 1)
			digit := 2*int64(window) - (2*baseSize - 1)
			index, sign := signedDigit(window, baseBits)
			if digit != sign*(2*int64(index)+1) {
				t.Fatalf("the digit %d is taken for %d times place %d", digit, sign, index)
			}
			term := new(big.Int).Lsh(big.NewInt(digit), uint(baseBits*w))
			difference, total := new(big.Int).Sub(sum, term), new(big.Int).Add(sum, term)
			same := difference.Mod(difference, n).Sign() == 0
			cancels := new(big.Int).Mod(total, n).Sign() == 0
			switch {
			case w == baseWindows-1 && same:
				equal++
			case w == baseWindows-1 && cancels:
				opposite++
			case w > 0 && (same || cancels):
				t.Fatalf("%v: window %d meets an exception", scalars[i], w)
			}
			sum = total
		}
		if got := scalarFromInt(sum); !got.Equals(&scalars[i]) {
			t.Fatalf("the digits of %v add up to %v", scalars[i], got)
		}
	}
	if equal == 0 || opposite == 0 {
		t.Fatalf("%d equal and %d opposite points in the last window: the test misses what it is for", equal, opposite)
	}
	t.Logf("%d equal and %d opposite points in the last window", equal, opposite)
}
