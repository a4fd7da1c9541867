// Package interop holds tests against programs and libraries of others.
package interop

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

type replacement struct {
	Old, New struct{ Path, Version string }
}

// replacements reads the replace lines of a go.mod.
func replacements(t *testing.T, file string) map[string]replacement {
	t.Helper()
	var mod struct{ Replace []replacement }
	if err := json.Unmarshal(run(t, "go", "mod", "edit", "-json", file), &mod); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]replacement)
	for _, r := range mod.Replace {
		found[r.Old.Path] = r
	}
	return found
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return out
}

// TestReplacements checks that this module replaces what lnd replaces, since Go
// heeds only the replace lines of the main module.
func TestReplacements(t *testing.T) {
	lnd := strings.TrimSpace(string(run(t, "go", "list", "-m", "-f", "{{.GoMod}}", "github.com/lightningnetwork/lnd")))
	want, got := replacements(t, lnd), replacements(t, "go.mod")
	if len(want) == 0 {
		t.Fatal("no replace lines in lnd's go.mod")
	}
	for path, w := range want {
		if got[path] != w {
			t.Errorf("%s: replaced by %v, in lnd by %v", path, got[path].New, w.New)
		}
	}
	const self = "github.com/brontosig/brontosig"
	for path := range got {
		if _, known := want[path]; !known && path != self {
			t.Errorf("%s: replaced here but not in lnd", path)
		}
	}
}
