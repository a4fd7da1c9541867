package lnpeer

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"
)

// mainGenesis is Bitcoin's genesis block in the order of the wire.
const mainGenesis = "6fe28c0ab6f1b372c1a6a246ae63f74f931e8365e15a089c68d6190000000000"

// nodeInits are the init messages that nodes send by default:
//
//   - lnd v0.21.1-beta: taken from a running one. Its sources say the same:
//     feature/default_sets.go less what feature/manager.go removes for the
//     defaults of lncfg/protocol.go; the first map has the bits of
//     SetLegacyGlobal, and there are no records.
//   - Core Lightning: worked out from its sources. tests/utils.py,
//     expected_peer_features, with anchors; the first map has the bits that
//     common/features.c shows in GLOBAL_INIT_FEATURE; networks, and to a peer that
//     connected the address that it came from (connectd/peer_exchange_initmsg.c).
//   - eclair v0.13: worked out from its sources. reference.conf, of which
//     Features.scala puts all but payment_metadata into init; the first map is
//     empty (LightningMessageCodecs.scala); networks.
var nodeInits = []struct {
	name     string
	msg      string
	features []uint16
	networks int
	address  string
}{
	{
		name: "lnd",
		msg: "0010 0002 1100 00fd 80" + strings.Repeat("00", 246) +
			"10" + "88" + "8a" + "82" + "51" + "a1",
		features: []uint16{0, 5, 7, 8, 12, 14, 17, 23, 25, 27, 31, 35, 39, 44, 2023},
	},
	{
		name: "Core Lightning",
		msg: "0010 0002 1100 0007 08a0880a8a59a1" + "01 20" + mainGenesis +
			"03 07 01 c0000209 2607",
		features: []uint16{0, 5, 7, 8, 11, 12, 14, 17, 19, 23, 25, 27, 35, 39, 45, 47, 51},
		networks: 1,
		address:  "01c00002092607",
	},
	{
		name:     "eclair",
		msg:      "0010 0000 0008 200090a82a8a5981" + "01 20" + mainGenesis,
		features: []uint16{0, 7, 8, 11, 12, 14, 17, 19, 23, 25, 27, 29, 35, 37, 39, 44, 47, 61},
		networks: 1,
	},
}

func TestInitsOfNodes(t *testing.T) {
	for _, node := range nodeInits {
		p := started(t, Config{Networks: [][32]byte{[32]byte(unhex(t, mainGenesis))}})
		event, _ := deliver(t, p, unhex(t, node.msg))
		init := event.(*Init)
		want := make([]int, len(node.features))
		for i, bit := range node.features {
			want[i] = int(bit)
		}
		if got := init.Features.Bits(); !slices.Equal(got, want) {
			t.Errorf("%s: features %v, want %v", node.name, got, want)
		}
		if len(init.Networks) != node.networks || hex.EncodeToString(init.RemoteAddr) != node.address {
			t.Errorf("%s: networks %x, address %x", node.name, init.Networks, init.RemoteAddr)
		}
		// Each of them, sent by this side, is taken by this side.
		if _, err := New(Config{Features: NewFeatures(node.features...)}); err != nil {
			t.Errorf("%s: %v", node.name, err)
		}
		// On another network the ones that name theirs are refused.
		other := started(t, Config{Networks: [][32]byte{testnet}})
		if _, _, err := other.Receive(0, unhex(t, node.msg)); (err != nil) != (node.networks > 0) {
			t.Errorf("%s on another network: %v", node.name, err)
		}
	}
}

// TestWholeTable requires every feature of BOLT-9 at once, which is what "known"
// means, and each of them without what it depends on.
func TestWholeTable(t *testing.T) {
	var all []uint16
	for bit := range assignedFeatures {
		all = append(all, uint16(bit))
	}
	init := appendPrefixed(appendPrefixed(newMessage(TypeInit), nil), NewFeatures(all...))
	deliver(t, started(t, Config{}), init)
	for bit, f := range assignedFeatures {
		for _, odd := range []uint16{0, 1} {
			err := NewFeatures(uint16(bit) + odd).check(nil)
			if len(f.needs) == 0 {
				requireNil(t, err)
			} else {
				requireKind(t, f.name, err, ErrFeatureDependency)
			}
		}
	}
	for bit := 0; bit < 300; bit += 2 {
		if _, assigned := assignedFeatures[bit]; !assigned {
			requireKind(t, "unassigned", NewFeatures(uint16(bit)).check(nil), ErrUnknownFeature)
		}
	}
}
