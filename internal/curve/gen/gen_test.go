package main

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedFiles holds the committed files to what the generator writes.
func TestGeneratedFiles(t *testing.T) {
	for name, write := range files {
		want, err := generate(write)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes: run `make generate`", name)
		}
	}
}

// TestOverflowIsRefused writes formulas that need one bit more than there is.
func TestOverflowIsRefused(t *testing.T) {
	for _, test := range []struct {
		name, want string
		write      func(f *function)
	}{
		// 9·2^29·2^29·3 still fits.
		{"a product", "out of range", func(f *function) {
			f.sum("4·a·b", product(f.load("a"), f.load("b")).times(4))
		}},
		{"a square", "out of range", func(f *function) { f.sum("4·a²", square(f.load("a")).times(4)) }},
		{"a sum of products", "out of range", func(f *function) {
			a, b := f.load("a"), f.load("b")
			f.sum("2·(a·b + b·a)", product(a, b).times(2), product(b, a).times(2))
		}},
		{"a linear term", "out of range", func(f *function) {
			f.sum("2^35·a", single(f.load("a")).times(1<<35))
		}},
		{"a stored sum", "stored in r", func(f *function) {
			a := f.load("a")
			f.store("r", f.combine("2·a", single(a).times(2)))
		}},
		{"a loop that grows", "stored in t1", func(f *function) {
			a := f.load("a")
			f.loop([]element{a}, func() []element { return []element{f.combine("2·a", single(a).times(2))} })
		}},
	} {
		_, err := generate(func(f *function) {
			f.begin("f.", "f(r, a, b *element)")
			test.write(f)
			f.end()
		})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
	}
	_, err := generate(func(f *function) {
		f.begin("f.", "f(r, a, b *element)")
		f.store("r", f.sum("3·a·b", product(f.load("a"), f.load("b")).times(3)))
		f.end()
	})
	if err != nil {
		t.Errorf("3·a·b, which fits, is refused: %v", err)
	}
}

// TestBounds draws values from intervals: what is computed of them must lie
// where the interval says.
func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func() (b bound, v *big.Int) {
		lo := rng.Int64N(1<<20) - 1<<19
		width := rng.Int64N(1 << 19)
		return interval(lo, lo+width), big.NewInt(lo + rng.Int64N(width+1))
	}
	for range 10_000 {
		b, x := draw()
		c, y := draw()
		for name, test := range map[string]struct {
			b bound
			v *big.Int
		}{
			"sum":      {b.plus(c), new(big.Int).Add(x, y)},
			"product":  {b.times(c), new(big.Int).Mul(x, y)},
			"multiple": {b.scaled(-7), new(big.Int).Mul(x, big.NewInt(-7))},
			"square":   {b.squared(), new(big.Int).Mul(x, x)},
			"shift":    {b.shifted(5), new(big.Int).Rsh(x, 5)},
		} {
			if !(bound{test.v, test.v}).within(test.b) {
				t.Fatalf("%s of %v and %v: %v is not in %v", name, b, c, test.v, test.b)
			}
		}
	}
	if interval(-1, 2).within(interval(0, 2)) || interval(0, 3).within(interval(0, 2)) {
		t.Error("an interval lies within a smaller one")
	}
}
