// Package sidebyside is for benchmarks that compare with something else. Both
// sides run in turn in short batches, so that what the machine does meanwhile
// meets both, and the figure to look at is the ratio.
package sidebyside

import (
	"slices"
	"testing"
	"time"
)

// batchTime is how long one side runs before it is the other's turn.
const batchTime = 300 * time.Microsecond

// Run is the body of a benchmark. It reports, for one call, the median time of
// each side in nanoseconds, the median over all rounds of the ratio of ours to
// theirs, and the allocations of each side.
func Run(b *testing.B, ours, theirs func()) {
	sides := [2]func(){ours, theirs}
	batches := [2]int{batchSize(ours), batchSize(theirs)}
	var times [2][]float64
	var ratios []float64
	for round := 0; b.Loop(); round++ {
		var took [2]float64
		// Neither side is always the first.
		for i := range sides {
			side := (round + i) % 2
			took[side] = timeOf(sides[side], batches[side])
			times[side] = append(times[side], took[side])
		}
		ratios = append(ratios, took[0]/took[1])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(times[0]), "ours-ns")
	b.ReportMetric(median(times[1]), "theirs-ns")
	b.ReportMetric(median(ratios), "ratio")
	b.ReportMetric(testing.AllocsPerRun(100, ours), "ours-allocs")
	b.ReportMetric(testing.AllocsPerRun(100, theirs), "theirs-allocs")
}

// timeOf returns the nanoseconds of one of n calls.
func timeOf(f func(), n int) float64 {
	start := time.Now()
	for range n {
		f()
	}
	return float64(time.Since(start)) / float64(n)
}

// batchSize returns how many calls take about batchTime.
func batchSize(f func()) int {
	n := 1
	for timeOf(f, n)*float64(n) < float64(batchTime) {
		n *= 2
	}
	return n
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}
