package musig2

import (
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"

	"github.com/brontosig/brontosig/internal/curve"
)

// tag is the beginning of the tagged hash of BIP-340: SHA-256 over the hash of
// the tag, twice, and what is written next. It is the encoded state of SHA-256
// behind the first two.
type tag []byte

func newTag(name string) tag {
	prefix := sha256.Sum256([]byte(name))
	h := sha256.New()
	h.Write(prefix[:])
	h.Write(prefix[:])
	return saveHash(h, nil)
}

// The tags of BIP-327, BIP-340 and BIP-341.
var (
	tagKeyAggList  = newTag("KeyAgg list")
	tagKeyAggCoeff = newTag("KeyAgg coefficient")
	tagNonceAux    = newTag("MuSig/aux")
	tagNonce       = newTag("MuSig/nonce")
	tagDetNonce    = newTag("MuSig/deterministic/nonce")
	tagNonceCoeff  = newTag("MuSig/noncecoef")
	tagChallenge   = newTag("BIP0340/challenge")
	tagTapTweak    = newTag("TapTweak")
)

// saveHash appends the state of a hash of crypto/sha256, and loadHash makes h
// have it. That package gives both methods to its hashes and never fails with
// what it wrote itself. That they are called on what sha256.New has returned in
// the same function, once all is inlined, saves the heap.
func saveHash(h hash.Hash, b []byte) []byte {
	state, _ := h.(encoding.BinaryAppender).AppendBinary(b)
	return state
}

func loadHash(h hash.Hash, state []byte) {
	_ = h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
}

func taggedHash(t tag, parts ...[]byte) (digest [sha256.Size]byte) {
	h := sha256.New()
	loadHash(h, t)
	for _, part := range parts {
		h.Write(part)
	}
	h.Sum(digest[:0])
	return digest
}

// hashSecret returns count tagged hashes of the parts, secrets among them, each
// followed by one more byte: 0, 1 and so on. No copy of the secrets stays behind.
func hashSecret(t tag, digests [][sha256.Size]byte, parts ...[]byte) {
	h := sha256.New()
	loadHash(h, t)
	for _, part := range parts {
		h.Write(part)
	}
	// Longer than the state is, so that it is not moved.
	var memory [2 * sha256.BlockSize]byte
	state := saveHash(h, memory[:0])
	for i := range digests {
		loadHash(h, state)
		h.Write([]byte{byte(i)})
		h.Sum(digests[i][:0])
	}
	clear(state)
	// Reset alone leaves the last block in the buffer of the hash, and a whole
	// block written passes it by.
	var zeros [sha256.BlockSize]byte
	h.Reset()
	h.Write(zeros[:1])
	h.Write(zeros[1:])
	h.Reset()
}

// hashToScalar reads a digest as an integer modulo n.
func hashToScalar(digest *[sha256.Size]byte) curve.Scalar {
	var s curve.Scalar
	s.SetBytes(digest)
	return s
}

func putUint64(v int) (b [8]byte) {
	binary.BigEndian.PutUint64(b[:], uint64(v))
	return b
}

func scalarOne() (s curve.Scalar) {
	s.SetInt(1)
	return s
}
