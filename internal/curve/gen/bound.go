package main

import (
	"fmt"
	"math/big"
)

// bound is an interval that a value lies in, both ends included.
type bound struct{ lo, hi *big.Int }

func interval(lo, hi int64) bound { return bound{big.NewInt(lo), big.NewInt(hi)} }

func (b bound) plus(c bound) bound {
	return bound{new(big.Int).Add(b.lo, c.lo), new(big.Int).Add(b.hi, c.hi)}
}

func (b bound) times(c bound) bound {
	var r bound
	for _, x := range []*big.Int{b.lo, b.hi} {
		for _, y := range []*big.Int{c.lo, c.hi} {
			product := new(big.Int).Mul(x, y)
			if r.lo == nil || product.Cmp(r.lo) < 0 {
				r.lo = product
			}
			if r.hi == nil || product.Cmp(r.hi) > 0 {
				r.hi = product
			}
		}
	}
	return r
}

func (b bound) scaled(k int64) bound { return b.times(interval(k, k)) }

// or is the interval of a value that lies in b or in c.
func (b bound) or(c bound) bound {
	r := b
	if c.lo.Cmp(r.lo) < 0 {
		r.lo = c.lo
	}
	if c.hi.Cmp(r.hi) > 0 {
		r.hi = c.hi
	}
	return r
}

// squared is the interval of the square of one value.
func (b bound) squared() bound {
	r := b.times(b)
	if r.lo.Sign() < 0 {
		r.lo = new(big.Int)
	}
	return r
}

// shifted is the interval of the value >> n, which rounds down.
func (b bound) shifted(n uint) bound {
	return bound{new(big.Int).Rsh(b.lo, n), new(big.Int).Rsh(b.hi, n)}
}

// within tells whether every value of b lies in c.
func (b bound) within(c bound) bool { return b.lo.Cmp(c.lo) >= 0 && b.hi.Cmp(c.hi) <= 0 }

func (b bound) String() string { return fmt.Sprintf("[%v, %v]", b.lo, b.hi) }

// two returns sign·2^n, and minusOne one less.
func two(n uint, sign int64) *big.Int { return new(big.Int).Lsh(big.NewInt(sign), n) }

func minusOne(x *big.Int) *big.Int { return x.Sub(x, big.NewInt(1)) }

// overflowError says which value could leave the range it has to stay in.
type overflowError struct {
	what string
	b    bound
}

func (e overflowError) Error() string {
	return fmt.Sprintf("%s lies in %v, which is out of range", e.what, e.b)
}
