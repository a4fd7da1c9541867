package musig2_test

import (
	"testing"

	"github.com/brontosig/brontosig/internal/vectors"
)

// TestBIP327 runs the published figures of BIP-327.
func TestBIP327(t *testing.T) {
	cases, err := vectors.LoadBIP327("../testdata/bip327.json")
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for i := range cases {
		c := &cases[i]
		counts[c.Group]++
		t.Run(c.Group+"/"+c.Name, func(t *testing.T) { vectors.RunBIP327(t, c) })
	}
	for group, want := range vectors.BIP327Groups {
		if counts[group] != want {
			t.Errorf("%d cases of group %s, want %d", counts[group], group, want)
		}
	}
}
