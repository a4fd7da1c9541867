package lnpeer

import (
	"fmt"
	"slices"
)

// Types of the records of init.
const (
	recordNetworks   = 1
	recordRemoteAddr = 3
)

const chainHashSize = 32

// Init is the init message of the other side.
type Init struct {
	// Features are both feature maps of the message in one, without leading
	// zero bytes.
	Features Features
	// Networks are the chain hashes (the hash of the genesis block, in the
	// order of the wire) that the node is interested in; nil if it did not
	// say.
	Networks [][chainHashSize]byte
	// RemoteAddr is this side's address as the node sees it, in the form of
	// BOLT-7's address descriptor; nil if it did not say.
	RemoteAddr []byte
}

// parseInit decodes the payload of an init message.
func parseInit(payload []byte) (*Init, error) {
	global, rest, err := lengthPrefixed(payload)
	if err != nil {
		return nil, err
	}
	features, rest, err := lengthPrefixed(rest)
	if err != nil {
		return nil, err
	}
	records, err := parseTLV(rest)
	if err != nil {
		return nil, err
	}
	init := &Init{Features: union(global, features)}
	for _, r := range records {
		switch r.typ {
		case recordNetworks:
			if len(r.value)%chainHashSize != 0 {
				return nil, newError(ErrTLV, fmt.Sprintf("networks of %d bytes, no multiple of %d", len(r.value), chainHashSize))
			}
			init.Networks = [][chainHashSize]byte{}
			for hash := range slices.Chunk(r.value, chainHashSize) {
				init.Networks = append(init.Networks, [chainHashSize]byte(hash))
			}
		case recordRemoteAddr:
			init.RemoteAddr = slices.Clone(r.value)
		}
	}
	return init, nil
}

// encodeInit encodes the init message of this side. The first of the two feature
// maps is a relic and stays empty.
func encodeInit(features Features, networks [][chainHashSize]byte) []byte {
	b := appendPrefixed(newMessage(TypeInit), nil)
	b = appendPrefixed(b, features.minimal())
	if len(networks) > 0 {
		b = appendRecord(b, recordNetworks, slices.Concat(slicesOf(networks)...))
	}
	return b
}

func slicesOf(hashes [][chainHashSize]byte) [][]byte {
	s := make([][]byte, len(hashes))
	for i := range hashes {
		s[i] = hashes[i][:]
	}
	return s
}

// checkNetworks says whether the two sides have a network in common, as far as
// both have named any.
func (i *Init) checkNetworks(networks [][chainHashSize]byte) error {
	if len(networks) == 0 || i.Networks == nil {
		return nil
	}
	for _, hash := range i.Networks {
		if slices.Contains(networks, hash) {
			return nil
		}
	}
	return newError(ErrNoCommonNetwork, "the two sides have no network in common")
}
