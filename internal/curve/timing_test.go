package curve

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// BenchmarkTiming compares how long an operation takes with a fixed secret and
// with random ones, in turns drawn at random, and reports Welch's t of the two
// classes. Beyond about 4.5, and more so with more rounds, the times tell the
// classes apart. With 0 the last additions meet opposite points, and with 1 most
// digits are the same. The last three, the dependency's own multiplication, shows what
// a leak looks like. It is a benchmark because machines are noisy: nothing is
// asserted.
func BenchmarkTiming(b *testing.B) {
	g := Generator()
	one := scalarFromHex(b, "01")
	dense := scalarFromHex(b, "7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f7f")
	pub := NewPublicKey(&g)
	getBaseTable()
	for _, operation := range []struct {
		name string
		run  func(k *Scalar)
	}{
		{"BaseMult", func(k *Scalar) { BaseMult(k) }},
		{"Mult", func(k *Scalar) { Mult(k, &g) }},
		{"ECDH", func(k *Scalar) { ECDH(secp256k1.NewPrivateKey(k), pub) }},
		{"variable-time", func(k *Scalar) { reference(k, &g) }},
	} {
		for _, fixed := range []struct {
			name   string
			secret Scalar
		}{{"zero", Scalar{}}, {"one", one}, {"dense", dense}} {
			b.Run(operation.name+"/fixed="+fixed.name, func(b *testing.B) {
				rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
				var times [2][]float64
				for b.Loop() {
					class := rng.IntN(2)
					k := fixed.secret
					if random := randomScalar(rng); class == 1 {
						k = random
					}
					started := time.Now()
					operation.run(&k)
					times[class] = append(times[class], float64(time.Since(started)))
				}
				b.ReportMetric(welch(times[0], times[1]), "t")
			})
		}
	}
}

// welch returns Welch's t statistic of two samples without the slowest tenth of
// each, in which something else ran.
func welch(a, b []float64) float64 {
	meanA, varA := moments(a)
	meanB, varB := moments(b)
	spread := math.Sqrt(varA/float64(len(a)) + varB/float64(len(b)))
	if spread == 0 {
		return 0
	}
	return (meanA - meanB) / spread
}

func moments(sample []float64) (mean, variance float64) {
	sample = slices.Sorted(slices.Values(sample))
	sample = sample[:len(sample)*9/10]
	if len(sample) < 2 {
		return 0, 0
	}
	for _, x := range sample {
		mean += x
	}
	mean /= float64(len(sample))
	for _, x := range sample {
		variance += (x - mean) * (x - mean)
	}
	return mean, variance / float64(len(sample)-1)
}
