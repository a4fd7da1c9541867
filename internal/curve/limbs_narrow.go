//go:build !amd64 && !arm64 && !loong64 && !ppc64 && !ppc64le && !riscv64 && !s390x

package curve

// Limbs of 29 bits, with a sign: the form for machines that have no instruction
// for a product of two words, wasm above all. They are at most 2^29 in absolute
// value, the last one at most 2^24, or 2^13 more if they are positive.
const limbs = 9

type limb = int64

// pack is for a canonical element.
func (e *element) pack() words {
	u := func(i int) uint64 { return uint64(e[i]) }
	return words{
		u(0) | u(1)<<29 | u(2)<<58,
		u(2)>>6 | u(3)<<23 | u(4)<<52,
		u(4)>>12 | u(5)<<17 | u(6)<<46,
		u(6)>>18 | u(7)<<11 | u(8)<<40,
	}
}

// unpack returns the element, with limbs that are canonical if w is below p.
func (w *words) unpack() element {
	const mask = 1<<29 - 1
	return element{
		int64(w[0] & mask),
		int64(w[0] >> 29 & mask),
		int64((w[0]>>58 | w[1]<<6) & mask),
		int64(w[1] >> 23 & mask),
		int64((w[1]>>52 | w[2]<<12) & mask),
		int64(w[2] >> 17 & mask),
		int64((w[2]>>46 | w[3]<<18) & mask),
		int64(w[3] >> 11 & mask),
		int64(w[3] >> 40),
	}
}
