package musig2

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/brontosig/brontosig/internal/curve"
)

// The tags of BIP-327, BIP-340 and BIP-341.
const (
	tagKeyAggList  = "KeyAgg list"
	tagKeyAggCoeff = "KeyAgg coefficient"
	tagNonceAux    = "MuSig/aux"
	tagNonce       = "MuSig/nonce"
	tagDetNonce    = "MuSig/deterministic/nonce"
	tagNonceCoeff  = "MuSig/noncecoef"
	tagChallenge   = "BIP0340/challenge"
	tagTapTweak    = "TapTweak"
)

// newTagged starts the tagged hash of BIP-340: SHA-256 over the hash of the
// tag, twice, and what is written next.
func newTagged(tag string) hash.Hash {
	prefix := sha256.Sum256([]byte(tag))
	h := sha256.New()
	h.Write(prefix[:])
	h.Write(prefix[:])
	return h
}

func taggedHash(tag string, parts ...[]byte) (digest [sha256.Size]byte) {
	h := newTagged(tag)
	for _, part := range parts {
		h.Write(part)
	}
	h.Sum(digest[:0])
	return digest
}

// hashToScalar reads a digest as an integer modulo n.
func hashToScalar(digest *[sha256.Size]byte) curve.Scalar {
	var s curve.Scalar
	s.SetBytes(digest)
	return s
}

func putUint64(v int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(v))
}

// wipeHash removes what a SHA-256 state was given. Reset alone leaves the last
// block in the state's buffer, and a whole block written passes it by.
func wipeHash(h hash.Hash) {
	var zeros [sha256.BlockSize]byte
	h.Reset()
	h.Write(zeros[:1])
	h.Write(zeros[1:])
	h.Reset()
}
