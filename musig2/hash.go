package musig2

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"

	"github.com/brontosig/brontosig/internal/curve"
)

// tag starts the tagged hash of BIP-340: SHA-256 over the hash of the tag, twice,
// and what is written next. It is the state of SHA-256 behind the first two.
type tag struct {
	name  string
	state hash.Hash
}

func newTag(name string) tag {
	prefix := sha256.Sum256([]byte(name))
	h := sha256.New()
	h.Write(prefix[:])
	h.Write(prefix[:])
	return tag{name, h}
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

// start returns a hash that has been given the tag.
func (t tag) start() hash.Hash {
	if cloner, ok := t.state.(hash.Cloner); ok {
		if h, err := cloner.Clone(); err == nil {
			return h
		}
	}
	return newTag(t.name).state
}

func taggedHash(t tag, parts ...[]byte) (digest [sha256.Size]byte) {
	h := t.start()
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

func scalarOne() (s curve.Scalar) {
	s.SetInt(1)
	return s
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
