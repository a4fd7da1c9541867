package lnpeer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MaxListedFeatures is how many bits an error about features names.
const MaxListedFeatures = 20

// Features is a map of feature bits as BOLT-9 numbers them and init carries
// them: big-endian, bit 0 in the last byte. An even bit says that the feature is
// required, the odd one above it that it is offered.
type Features []byte

// NewFeatures returns the shortest map with the given bits set.
func NewFeatures(bits ...uint16) Features {
	if len(bits) == 0 {
		return Features{}
	}
	f := make(Features, slices.Max(bits)/8+1)
	for _, bit := range bits {
		f[len(f)-1-int(bit/8)] |= 1 << (bit % 8)
	}
	return f
}

// DefaultFeatures returns what init offers unless it is told otherwise:
// option_data_loss_protect, without which lnd ends the connection.
func DefaultFeatures() Features { return NewFeatures(1) }

// Has reports whether the bit is set.
func (f Features) Has(bit int) bool {
	return bit >= 0 && bit/8 < len(f) && f[len(f)-1-bit/8]&(1<<(bit%8)) != 0
}

// Bits returns the bits that are set, in rising order.
func (f Features) Bits() []int {
	var bits []int
	for bit := range 8 * len(f) {
		if f.Has(bit) {
			bits = append(bits, bit)
		}
	}
	return bits
}

// offers reports whether one of the two bits of a feature is set.
func (f Features) offers(even int) bool { return f.Has(even) || f.Has(even+1) }

// minimal returns f without leading zero bytes.
func (f Features) minimal() Features {
	for len(f) > 0 && f[0] == 0 {
		f = f[1:]
	}
	return f
}

// union returns the bits of both maps (the two maps of an init message are one).
func union(a, b Features) Features {
	if len(a) < len(b) {
		a, b = b, a
	}
	u := slices.Clone(a)
	for i := range b {
		u[len(u)-len(b)+i] |= b[i]
	}
	return u.minimal()
}

// feature is a row of BOLT-9's table.
type feature struct {
	name string
	// needs are the even bits of the features that this one depends on.
	needs []int
}

//go:generate go run ./gen

// FeatureName returns the name that BOLT-9 has for a bit, even or odd, or "".
func FeatureName(bit int) string { return assignedFeatures[bit&^1].name }

// check says whether a connection with a peer that has these features can be
// kept: no required feature is unknown (known has even bits beyond the table),
// and no known one lacks what it depends on (BOLT-1, "The init Message").
func (f Features) check(known map[int]bool) error {
	var unknown []int
	for _, bit := range f.Bits() {
		_, assigned := assignedFeatures[bit]
		if bit%2 == 0 && !assigned && !known[bit] {
			unknown = append(unknown, bit)
		}
	}
	if len(unknown) > 0 {
		return featureError(ErrUnknownFeature, "required features that are not known here: ", unknown)
	}
	var missing []int
	for even := 0; even < 8*len(f); even += 2 {
		if !f.offers(even) {
			continue
		}
		for _, need := range assignedFeatures[even].needs {
			if !f.offers(need) {
				missing = append(missing, need)
			}
		}
	}
	if len(missing) > 0 {
		return featureError(ErrFeatureDependency, "features that others depend on are not set: ", missing)
	}
	return nil
}

func featureError(kind ErrorKind, what string, bits []int) error {
	total := len(bits)
	bits = bits[:min(total, MaxListedFeatures)]
	names := make([]string, len(bits))
	for i, bit := range bits {
		names[i] = strconv.Itoa(bit)
		if name := FeatureName(bit); name != "" {
			names[i] += " (" + name + ")"
		}
	}
	desc := what + strings.Join(names, ", ")
	if more := total - len(bits); more > 0 {
		desc += fmt.Sprintf(" and %d more", more)
	}
	return &Error{Kind: kind, Desc: desc, Features: bits}
}
