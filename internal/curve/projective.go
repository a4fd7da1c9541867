package curve

import "runtime"

// projective is a point in homogeneous coordinates: its affine ones are x/z and
// y/z, and (0 : 1 : 0) is infinity. Its formulas are complete, so that secrets
// have no case to branch on.
type projective struct{ x, y, z element }

// set makes p the finite point q.
func (p *projective) set(q *Point) { p.x, p.y, p.z = q.x, q.y, one }

// setJacobian makes p the point q.
func (p *projective) setJacobian(q *jacobian) {
	mul(&p.x, &q.x, &q.z)
	p.y = q.y
	mul(&p.z, &q.z, &q.z)
	mul(&p.z, &p.z, &q.z)
}

// toPoint returns p in affine form. Its time does not depend on p: the inverse
// of 0 comes out as 0, and so do the coordinates of infinity.
func (p *projective) toPoint() (r Point) {
	inverse(&p.z, &p.z)
	mul(&r.x, &p.x, &p.z)
	mul(&r.y, &p.y, &p.z)
	normalize(&r.x, &r.x)
	normalize(&r.y, &r.y)
	return r
}

// signedDigit returns what one window w of so many bits of a scalar in signed digits
// stands for: the digit is 2·w - (2^bits - 1), odd and never 0; index is the place of
// its absolute value among 1, 3, 5 and so on, and sign is 1 or -1.
func signedDigit(w uint64, bits int) (index uint64, sign int64) {
	negative := w>>(bits-1)&1 - 1
	return (w ^ negative) & (1<<(bits-1) - 1), int64(negative | 1)
}

// scrub overwrites the part of the stack that the functions called before by the
// same caller have used, as far as it goes: they keep copies of what they
// compute there, out of reach of the code that cleans up. It is an effort, not a
// promise: the runtime moves stacks and does not clear the old ones.
//
//go:noinline
func scrub() {
	var stack [4096]byte
	clear(stack[:])
	runtime.KeepAlive(&stack)
}
