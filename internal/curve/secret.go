package curve

import "sync/atomic"

// Multiplication by a secret goes through windows of a few bits of a scalar in
// signed digits: with bits v_i, the sum of (2·v_i - 1)·2^i over length bits is
// 2·v - (2^length - 1), so that a window of four bits is an odd digit from -15 to
// 15. Every window adds one of half as many points, found by a scan over all of
// them, or its negative, and no window is 0.
//
// Most additions are those of Jacobian coordinates, which do not hold for equal
// and opposite points; BaseMult and Mult say why they do not meet such points.
// Where they could, for a few scalars, in the last windows, the formulas are
// complete. So no scalar is a special case: neither 0, nor small ones, nor those
// for which the recoded one wraps modulo n.
const (
	windowBits = 4
	windowSize = 1 << (windowBits - 1)
	// Windows of multiples of G, whose table is made once.
	baseBits    = 6
	baseSize    = 1 << (baseBits - 1)
	baseWindows = (256 + baseBits - 1) / baseBits
	// Halves of a scalar are below 2^128 in absolute value. With 2^128 added
	// they take 129 bits, and so 33 windows.
	halfWindows = 33
	// safeWindows is how many of them, from the top, need no complete formulas.
	safeWindows = 31
)

// Constants of the recoding, modulo n.
var (
	// oneHalf is 1/2.
	oneHalf = scalarOf(words{0xdfe92f46681b20a1, 0x5d576e7357a4501d, 0xffffffffffffffff, 0x7fffffffffffffff})
	// baseOffset is 2^(baseBits·baseWindows) - 1.
	baseOffset = scalarOf(words{0x00b685ccbf26fafb, 0x15448c6542dd7f11, 0x5, 0})
	// halfOffset is (2^132 - 1 - 2^129)·(1 + λ).
	halfOffset = scalarOf(words{0xb3749ca5d7b6171b, 0x7937fe0db66bcaaf, 0x3215874b94e93813, 0x76b1d93d0fae3c6b})
)

func scalarOf(w words) (k Scalar) {
	b := w.bytes()
	k.SetBytes(&b)
	return k
}

// recode returns (k + offset)/2 modulo n.
func recode(k, offset *Scalar) (r Scalar) {
	r.Add2(k, offset).Mul(&oneHalf)
	return r
}

// baseTable holds (2·j + 1)·2^(baseBits·i)·G for every window i, so that a
// multiplication of G needs no doubling. 86 KiB, made at first use.
type baseTable [baseWindows]baseRow

type baseRow [baseSize]struct{ x, y words }

// A table that two callers make at the same time is the same table, so the
// first use needs no lock.
var sharedBaseTable atomic.Pointer[baseTable]

func getBaseTable() *baseTable {
	if t := sharedBaseTable.Load(); t != nil {
		return t
	}
	sharedBaseTable.CompareAndSwap(nil, makeBaseTable())
	return sharedBaseTable.Load()
}

func makeBaseTable() *baseTable {
	var rows [baseWindows][]multiple
	z, before := make([]element, baseWindows), make([]element, baseWindows)
	var base jacobian
	base.set(&generator, 1)
	for i := range rows {
		rows[i] = make([]multiple, baseSize)
		z[i] = oddMultiples(rows[i], &base)
		base.double(baseBits)
	}
	invertAll(z, before)
	t := new(baseTable)
	var points [baseSize]Point
	for i := range t {
		toPoints(points[:], rows[i], &z[i])
		for j := range points {
			points[j].normalize()
			t[i][j].x, t[i][j].y = points[j].x.pack(), points[j].y.pack()
		}
	}
	return t
}

// selectPoint returns the multiple with the given place. It reads all of the row.
func (r *baseRow) selectPoint(index uint64) Point {
	var x, y words
	for i := range r {
		mask := maskEq(index, uint64(i))
		x.accumulate(&r[i].x, mask)
		y.accumulate(&r[i].y, mask)
	}
	return Point{x.unpack(), y.unpack()}
}

// BaseMult returns k·G. Its time and the addresses it touches do not depend on
// k.
func BaseMult(k *Scalar) Point {
	defer scrub()
	var b [ScalarSize]byte
	recoded := recode(k, &baseOffset)
	recoded.PutBytes(&b)
	recoded.Zero()
	v := wordsOf(&b)
	clear(b[:])

	table := getBaseTable()
	var sum jacobian
	var complete projective
	for i := range table {
		index, sign := signedDigit(v.window(i*baseBits, baseBits), baseBits)
		p := table[i].selectPoint(index)
		switch i {
		case 0:
			sum.set(&p, sign)
		case baseWindows - 1:
			complete.setJacobian(&sum)
			setSigned(&p.y, &p.y, sign)
			complete.addAffine(&p)
		default:
			// With b = 2^baseBits, the sum is s·G with an odd s below b^i in
			// absolute value, and the digit d stands for d·b^i·G. Neither s nor
			// s ± d·b^i is 0, and all are below b^(i+1), so below n: the points
			// are neither infinity nor equal nor opposite.
			sum.addAffine(&p, sign)
		}
		p = Point{}
	}
	clear(v[:])
	sum = jacobian{}
	r := complete.toPoint()
	complete = projective{}
	return r
}

// Mult returns k·p. Its time and the addresses it touches do not depend on k,
// nor on p as long as p is finite.
func Mult(k *Scalar, p *Point) Point {
	if IsInfinity(p) {
		return Point{}
	}
	defer scrub()
	table := multTable(p)
	recoded := recode(k, &halfOffset)
	k1, k2 := split(&recoded)
	recoded.Zero()
	// The halves, with 2^128 added, are not negative.
	k1[2]++
	k2[2]++

	// The sum is (i + j·λ)·p, with i and j below 16^m in absolute value after m
	// windows, and odd, so not 0. An addition of d·p to 16·(i + j·λ)·p, or of
	// d·λ·p to (i + 16·j·λ)·p, meets equal or opposite points, or infinity, only
	// if for one of the numbers (16·i ± d, 16·j) or (i, 16·j ± d), or with d = 0,
	// i + j·λ is 0 modulo n. Neither is (0, 0), for i and j are odd. So
	//
	//	(i + j·λ)·(i + j·λ²) = i² - i·j + j²
	//
	// is a multiple of n and not 0: at least n, and at most three times the
	// square of the larger of i and j, which must be above 2^127. The numbers are
	// below 16^m: for safeWindows, 2^124.
	var sum jacobian
	i := halfWindows - 1
	for ; i >= halfWindows-safeWindows; i-- {
		q, sign := table.selectPoint(k1.digit(i), 0)
		if i == halfWindows-1 {
			sum.set(&q, sign)
		} else {
			sum.double(windowBits)
			sum.addAffine(&q, sign)
		}
		q, sign = table.selectPoint(k2.digit(i), ^uint64(0))
		sum.addAffine(&q, sign)
		q = Point{}
	}
	var complete projective
	complete.setJacobian(&sum)
	sum = jacobian{}
	for ; i >= 0; i-- {
		complete.double(windowBits)
		q, sign := table.selectPoint(k1.digit(i), 0)
		setSigned(&q.y, &q.y, sign)
		complete.addAffine(&q)
		q, sign = table.selectPoint(k2.digit(i), ^uint64(0))
		setSigned(&q.y, &q.y, sign)
		complete.addAffine(&q)
		q = Point{}
	}
	clear(k1[:])
	clear(k2[:])
	r := complete.toPoint()
	complete = projective{}
	return r
}

// digit returns window i.
func (k *integer) digit(i int) uint64 { return k[i/16] >> (i % 16 * windowBits) & 15 }

// multipleTable holds the odd multiples of a point, with beta·x for λ times
// those.
type multipleTable [windowSize]struct{ x, y, betaX words }

func multTable(p *Point) (t multipleTable) {
	var base jacobian
	var multiples [windowSize]multiple
	var points [windowSize]Point
	base.set(p, 1)
	z := oddMultiples(multiples[:], &base)
	inverse(&z, &z)
	toPoints(points[:], multiples[:], &z)
	for i := range t {
		q := &points[i]
		q.normalize()
		t[i].x, t[i].y = q.x.pack(), q.y.pack()
		mul(&q.x, &q.x, &beta)
		normalize(&q.x, &q.x)
		t[i].betaX = q.x.pack()
	}
	return t
}

// selectPoint returns the multiple, apart from its sign, that a window stands
// for, or λ times it under a mask of all ones. It reads all of the table.
func (t *multipleTable) selectPoint(window, lambda uint64) (p Point, sign int64) {
	index, sign := signedDigit(window, windowBits)
	var x, y words
	for j := range t {
		mask := maskEq(index, uint64(j))
		x.accumulate(&t[j].x, mask&^lambda)
		x.accumulate(&t[j].betaX, mask&lambda)
		y.accumulate(&t[j].y, mask)
	}
	return Point{x.unpack(), y.unpack()}, sign
}
