package curve

import (
	"sync/atomic"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

// Multiplication by a secret goes through fixed windows of four bits: 64 of
// them, each read from a table by a scan over all of its entries.
const (
	windowBits  = 4
	windowCount = 256 / windowBits
	windowSize  = 1<<windowBits - 1 // entries of a window: the digit 0 needs none
)

// digits splits k into windows, the least significant first.
func digits(k *Scalar) [windowCount]uint8 {
	var b [ScalarSize]byte
	k.PutBytes(&b)
	var d [windowCount]uint8
	for i, v := range b {
		d[windowCount-1-2*i] = v >> 4
		d[windowCount-2-2*i] = v & 15
	}
	clear(b[:])
	return d
}

// affineEntry is a finite affine point in a table.
type affineEntry struct{ x, y words }

// baseTable holds d·16^i·G for every window i and every digit d from 1, so that
// a multiplication of G needs no doubling. 60 KiB, made at first use.
type baseTable [windowCount][windowSize]affineEntry

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
	points := make([]Point, 0, windowCount*windowSize)
	base := Generator()
	for range windowCount {
		sum := base
		for range windowSize {
			points = append(points, sum)
			sum = addNonConst(&sum, &base)
		}
		base = sum
	}
	toAffineNonConst(points)
	t := new(baseTable)
	for i := range points {
		t[i/windowSize][i%windowSize] = affineEntry{
			packField(&points[i].X), packField(&points[i].Y),
		}
	}
	return t
}

// BaseMult returns k·G. Its time and the addresses it touches do not depend on
// k.
func BaseMult(k *Scalar) Point {
	table := getBaseTable()
	d := digits(k)
	var acc, term projective
	acc.setInfinity()
	for i := range table {
		digit := uint64(d[i])
		var e affineEntry
		for j := range table[i] {
			mask := maskEq(digit, uint64(j+1))
			e.x.accumulate(&table[i][j].x, mask)
			e.y.accumulate(&table[i][j].y, mask)
		}
		// The digit 0 selects nothing: (0 : 0 : 0) becomes (0 : 1 : 0).
		zero := maskEq(digit, 0) & 1
		e.y[3] |= zero
		e.x.unpack(&term.x)
		e.y.unpack(&term.y)
		term.z.SetInt(uint16(1 - zero))
		acc.add(&acc, &term)
	}
	clear(d[:])
	term.wipe()
	r := acc.affine()
	acc.wipe()
	return r
}

// Mult returns k·p. Its time and the addresses it touches do not depend on k,
// nor on p as long as p is finite. p is affine or infinity.
func Mult(k *Scalar, p *Point) Point {
	var multiples [windowSize + 1][3]words
	var base, sum projective
	base.setAffine(p)
	sum.setInfinity()
	for i := range multiples {
		sum.x.Normalize()
		sum.y.Normalize()
		sum.z.Normalize()
		multiples[i] = [3]words{packField(&sum.x), packField(&sum.y), packField(&sum.z)}
		sum.add(&sum, &base)
	}
	d := digits(k)
	var acc, term projective
	acc.setInfinity()
	for i := windowCount - 1; i >= 0; i-- {
		for range windowBits {
			acc.double(&acc)
		}
		var e [3]words
		for j := range multiples {
			mask := maskEq(uint64(d[i]), uint64(j))
			for c := range e {
				e[c].accumulate(&multiples[j][c], mask)
			}
		}
		e[0].unpack(&term.x)
		e[1].unpack(&term.y)
		e[2].unpack(&term.z)
		acc.add(&acc, &term)
	}
	clear(d[:])
	term.wipe()
	r := acc.affine()
	acc.wipe()
	return r
}

// toAffineNonConst brings finite points to affine form with one inversion.
func toAffineNonConst(points []Point) {
	products := make([]secp256k1.FieldVal, len(points))
	var acc secp256k1.FieldVal
	acc.SetInt(1)
	for i := range points {
		products[i] = acc
		acc.Mul(&points[i].Z)
	}
	acc.Inverse()
	var inv, inv2, inv3 secp256k1.FieldVal
	for i := len(points) - 1; i >= 0; i-- {
		p := &points[i]
		inv.Mul2(&acc, &products[i])
		acc.Mul(&p.Z)
		inv2.SquareVal(&inv)
		inv3.Mul2(&inv2, &inv)
		p.X.Mul(&inv2).Normalize()
		p.Y.Mul(&inv3).Normalize()
		p.Z.SetInt(1)
	}
}
