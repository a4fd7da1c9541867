package musig2

import (
	"crypto/subtle"
	"encoding/binary"
	"math"

	"github.com/btcsuite/btcd/btcec/v2"
)

// The encoding of a Context, version 1; integers are big-endian:
//
//	1 byte   version
//	4 bytes  number of keys, then the keys in their effective order, 33 bytes each
//	4 bytes  number of tweaks, then for each 1 byte for its kind and 32 bytes
//	         (zeros for BIP-86)
//	8 bytes  the first bytes of the tagged hash of everything before
const (
	contextVersion      = 1
	contextChecksumSize = 8
	encodedTweakSize    = 1 + TweakSize
)

var tagContext = newTag("brontosig/musig2/context")

// MarshalBinary encodes the public data of the Context, its keys and tweaks.
// The secret key is not part of it.
func (c *Context) MarshalBinary() ([]byte, error) {
	if c.agg == nil {
		return nil, errZeroContext()
	}
	b := []byte{contextVersion}
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.agg.signers)))
	for i := range c.agg.signers {
		b = append(b, c.agg.signers[i].encoded[:]...)
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(c.agg.tweaks)))
	for _, tweak := range c.agg.tweaks {
		b = append(b, byte(tweak.kind))
		b = append(b, tweak.value[:]...)
	}
	sum := taggedHash(tagContext, b)
	return append(b, sum[:contextChecksumSize]...), nil
}

// UnmarshalBinary makes c the Context without a secret key that data encodes,
// and wipes what c was. It fails with ErrMalformedContext, and then leaves c as it was.
func (c *Context) UnmarshalBinary(data []byte) error {
	parsed, err := ParseContext(data, nil)
	if err != nil {
		return err
	}
	c.Wipe()
	*c = *parsed
	return nil
}

// ParseContext decodes what Context.MarshalBinary has written and adds a
// secret key, or none if signingKey is nil. WithSignerIndex is the only option
// that applies. The errors are ErrMalformedContext and those of NewContext.
func ParseContext(data []byte, signingKey *btcec.PrivateKey, options ...ContextOption) (*Context, error) {
	var o contextOptions
	for _, option := range options {
		option(&o)
	}
	if o.keys != nil || o.tweaks != nil {
		return nil, fail(ErrInvalidArgument, "the keys and tweaks of an encoded context are fixed")
	}
	keys, tweaks, err := decodeContext(data)
	if err != nil {
		return nil, err
	}
	parsed, err := ParsePubKeys(keys)
	if err != nil {
		return nil, fail(ErrMalformedContext, "malformed context: %v", err)
	}
	agg, err := aggregate(parsed, false, tweaks)
	if err != nil {
		return nil, fail(ErrMalformedContext, "malformed context: %v", err)
	}
	return newContext(agg, signingKey, o.signer)
}

func decodeContext(data []byte) (keys [][]byte, tweaks []Tweak, err error) {
	malformed := func(reason string) error {
		return fail(ErrMalformedContext, "malformed context: %s", reason)
	}
	if len(data) < 1+contextChecksumSize {
		return nil, nil, malformed("too short")
	}
	if data[0] != contextVersion {
		return nil, nil, malformed("unknown version")
	}
	body, checksum := data[:len(data)-contextChecksumSize], data[len(data)-contextChecksumSize:]
	sum := taggedHash(tagContext, body)
	if subtle.ConstantTimeCompare(sum[:contextChecksumSize], checksum) != 1 {
		return nil, nil, malformed("the checksum is wrong")
	}
	rest := body[1:]
	list := func(size int) ([]byte, bool) {
		if len(rest) < 4 {
			return nil, false
		}
		count := uint64(binary.BigEndian.Uint32(rest))
		rest = rest[4:]
		if count > math.MaxInt32 || count*uint64(size) > uint64(len(rest)) {
			return nil, false
		}
		items := rest[:int(count)*size]
		rest = rest[len(items):]
		return items, true
	}
	encodedKeys, ok := list(PubKeySize)
	if !ok {
		return nil, nil, malformed("the list of keys is cut off")
	}
	for ; len(encodedKeys) > 0; encodedKeys = encodedKeys[PubKeySize:] {
		keys = append(keys, encodedKeys[:PubKeySize])
	}
	encodedTweaks, ok := list(encodedTweakSize)
	if !ok {
		return nil, nil, malformed("the list of tweaks is cut off")
	}
	if len(rest) != 0 {
		return nil, nil, malformed("bytes after the end")
	}
	for ; len(encodedTweaks) > 0; encodedTweaks = encodedTweaks[encodedTweakSize:] {
		tweak := Tweak{tweakKind(encodedTweaks[0]), [TweakSize]byte(encodedTweaks[1:])}
		if tweak.kind > tweakBIP86 || tweak.kind == tweakBIP86 && tweak != BIP86Tweak() {
			return nil, nil, malformed("unknown kind of tweak")
		}
		tweaks = append(tweaks, tweak)
	}
	return keys, tweaks, nil
}
