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
	for name, file := range files {
		want, err := generate(file)
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

// TestOverflowIsRefused writes formulas that need more bits than there are.
func TestOverflowIsRefused(t *testing.T) {
	twice := func(f *function) element { return f.combine("2·a", single(f.load("a")).times(2)) }
	for _, test := range []struct {
		name  string
		shape *shape
		want  string // of the error, or empty if it fits
		write func(f *function)
	}{
		{"3·a·b", narrow, "", func(f *function) { f.sum("", product(f.load("a"), f.load("b")).times(3)) }},
		{"4·a·b", narrow, "out of range", func(f *function) { f.sum("", product(f.load("a"), f.load("b")).times(4)) }},
		{"4·a²", narrow, "out of range", func(f *function) { f.sum("", square(f.load("a")).times(4)) }},
		{"-4·a²", narrow, "out of range", func(f *function) { f.sum("", square(f.load("a")).times(-4)) }},
		{"2·a·b + 2·b·a", narrow, "out of range", func(f *function) {
			a, b := f.load("a"), f.load("b")
			f.sum("", product(a, b).times(2), product(b, a).times(2))
		}},
		{"2^35·a", narrow, "out of range", func(f *function) { f.sum("", single(f.load("a")).times(1<<35)) }},
		{"a stored sum", narrow, "stored in r", func(f *function) { f.store("r", twice(f)) }},
		{"a loop that grows", narrow, "stored in t1", func(f *function) {
			f.loop([]element{f.load("a")}, func() []element { return []element{twice(f)} })
		}},
		{"16·a·b", wide, "", func(f *function) { f.sum("", product(f.load("a"), f.load("b")).times(16)) }},
		// The last column may not reach 2^112, so that its carry is one word.
		{"64·a·b", wide, "out of range", func(f *function) { f.sum("", product(f.load("a"), f.load("b")).times(64)) }},
		{"-64·a²", wide, "out of range", func(f *function) { f.sum("", square(f.load("a")).times(-64)) }},
		{"2^12·a", wide, "out of range", func(f *function) { f.combine("", single(f.load("a")).times(1<<12)) }},
		{"-2^12·a", wide, "out of range", func(f *function) { f.combine("", single(f.load("a")).times(-1<<12)) }},
		{"a stored sum", wide, "stored in r", func(f *function) { f.store("r", twice(f)) }},
	} {
		_, err := generate(file{test.shape, func(f *function) {
			f.begin("f.", "f(r, a, b *element)")
			test.write(f)
			f.end()
		}})
		switch {
		case test.want == "" && err != nil:
			t.Errorf("%s fits and is refused: %v", test.name, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s: error %v, want one with %q", test.name, err, test.want)
		}
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
