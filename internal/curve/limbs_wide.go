//go:build amd64 || arm64 || loong64 || ppc64 || ppc64le || riscv64 || s390x

package curve

// Limbs of 52 bits, without a sign: the form for machines that have an
// instruction for a product of two words, which math/bits becomes. They are at
// most 2^53, the last one at most 2^49.
const limbs = 5

type limb = uint64

// pack is for a canonical element.
func (e *element) pack() words {
	return words{
		e[0] | e[1]<<52,
		e[1]>>12 | e[2]<<40,
		e[2]>>24 | e[3]<<28,
		e[3]>>36 | e[4]<<16,
	}
}

// unpack returns the element, with limbs that are canonical if w is below p.
func (w *words) unpack() element {
	const mask = 1<<52 - 1
	return element{
		w[0] & mask,
		(w[0]>>52 | w[1]<<12) & mask,
		(w[1]>>40 | w[2]<<24) & mask,
		(w[2]>>28 | w[3]<<36) & mask,
		w[3] >> 16,
	}
}
