package curve

// bucketMultNonConst adds the products up by the method of Pippenger: in each window of
// the scalars' halves, the points with the same digit are added into one bucket,
// and the sum of digit times bucket takes two additions per bucket.
func bucketMultNonConst(g *Scalar, terms []Term) accumulator {
	type signed struct {
		k     integer // with windowOffset added
		point Point
		sign  int64
	}
	window := bucketWindow(2 * (len(terms) + 1))
	windows := (halfDigits + window) / window
	offset := bucketOffset(window, windows)
	halves := make([]signed, 0, 2*(len(terms)+1))
	add := func(k *Scalar, p *Point) {
		if IsInfinity(p) {
			return
		}
		k1, k2 := split(k)
		q := Point{y: p.y}
		mul(&q.x, &p.x, &beta)
		for _, h := range []signed{{k1, *p, 1}, {k2, q, 1}} {
			if h.k.isNegative() {
				h.k, h.sign = h.k.negated(), -1
			}
			h.k.add(&offset)
			halves = append(halves, h)
		}
	}
	if g != nil {
		add(g, &generator)
	}
	for i := range terms {
		add(&terms[i].Scalar, &terms[i].Point)
	}

	var sum accumulator
	buckets := make([]accumulator, 1<<(window-1))
	for w := windows - 1; w >= 0; w-- {
		sum.doubleNonConst(window)
		clear(buckets)
		for i := range halves {
			h := &halves[i]
			digit, sign := h.k.window(w*window, window)-1<<(window-1), h.sign
			if digit < 0 {
				digit, sign = -digit, -sign
			}
			if digit != 0 {
				buckets[digit-1].accumulateNonConst(&h.point, sign)
			}
		}
		total := weighNonConst(buckets)
		sum.mergeNonConst(&total)
	}
	return sum
}

// weighNonConst returns the sum of (i + 1)·buckets[i].
func weighNonConst(buckets []accumulator) (total accumulator) {
	var running accumulator
	fresh := false // total is running, and so may not be added to it
	for i := len(buckets) - 1; i >= 0; i-- {
		if buckets[i].any {
			running.mergeNonConst(&buckets[i])
			fresh = false
		}
		switch {
		case !running.any:
		case !total.any:
			total, fresh = running, true
		case fresh:
			total.double(1)
			fresh = false
		default:
			total.mergeNonConst(&running)
		}
	}
	return total
}

// mergeNonConst adds b.
func (a *accumulator) mergeNonConst(b *accumulator) {
	switch {
	case !b.any:
	case a.any:
		a.add(&b.jacobian)
	default:
		*a = *b
	}
}

// bucketWindow returns the number of bits that takes the fewest multiplications
// for so many halves: about 11 for each that goes into a bucket, and 16 for each
// of the two additions of a bucket.
func bucketWindow(halves int) int {
	best, least := 0, 0
	for window := 4; window <= 16; window++ {
		cost := (halfDigits + window) / window * (11*halves + 2*16<<(window-1))
		if best == 0 || cost < least {
			best, least = window, cost
		}
	}
	return best
}

// bucketOffset returns 2^(window-1) in every window. A number with that added
// has windows that are too large by 2^(window-1) each, and so shows its digits
// from -2^(window-1) to 2^(window-1)-1.
func bucketOffset(window, windows int) (k integer) {
	for i := range windows {
		bit := i*window + window - 1
		k[bit/64] |= 1 << (bit % 64)
	}
	return k
}
