package brontosig_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/brontosig/brontosig"

// arrows lists what each package of the project may import of the rest of the
// project and of other modules. The standard library is not restricted here.
var arrows = map[string][]string{
	"internal/curve":     {"github.com/decred/dcrd/dcrec/secp256k1/v4"},
	"internal/curve/gen": {},
	"musig2":             {"internal/curve", "github.com/btcsuite/btcd/btcec/v2"},
	"brontide": {
		"internal/chachapoly", "internal/curve", "github.com/btcsuite/btcd/btcec/v2", "golang.org/x/crypto/chacha20poly1305",
	},
	// For wasm, where golang.org/x/crypto's own AEAD is slow.
	"internal/chachapoly": {"golang.org/x/crypto/chacha20"},
	"brontide/wsconn":     {"github.com/coder/websocket"},
	"lnpeer":              {},
	"lnpeer/gen":          {},
	"internal/abi":        {"musig2", "brontide", "lnpeer"},
	"internal/abi/gen": {
		"internal/abi", "musig2", "brontide", "lnpeer",
	},
	"wasm": {
		"internal/abi", "internal/curve", "musig2", "brontide", "lnpeer", "github.com/btcsuite/btcd/btcec/v2",
	},
	"bridge": {
		"github.com/btcsuite/btcd/btcec/v2", "github.com/coder/websocket", "github.com/prometheus/client_golang/prometheus",
		"golang.org/x/net/proxy", "golang.org/x/time/rate",
	},
	"internal/demopeer": {"internal/curve", "brontide", "lnpeer", "github.com/btcsuite/btcd/btcec/v2"},
	"cmd/brontosig-bridge": {
		"bridge", "internal/demopeer", "github.com/BurntSushi/toml", "github.com/alecthomas/kong",
		"github.com/prometheus/client_golang/prometheus", "github.com/prometheus/client_golang/prometheus/collectors",
		"github.com/prometheus/client_golang/prometheus/promhttp",
	},
	"js/bench/inside": {
		"brontide", "lnpeer", "musig2", "github.com/btcsuite/btcd/btcec/v2",
		"github.com/btcsuite/btcd/btcec/v2/schnorr", "github.com/btcsuite/btcd/btcec/v2/schnorr/musig2",
	},
	"internal/fire":     {},
	"internal/goclient": {"brontide", "github.com/btcsuite/btcd/btcec/v2"},
	"internal/fire/run": {"internal/fire"},
	"internal/cosigner": {
		"internal/vectors", "musig2", "github.com/btcsuite/btcd/btcec/v2",
		"github.com/btcsuite/btcd/btcec/v2/schnorr", "github.com/btcsuite/btcd/btcec/v2/schnorr/musig2",
	},
	"internal/sidebyside": {},
	"internal/vectors":    {"internal/curve", "musig2", "github.com/btcsuite/btcd/btcec/v2"},
}

// goPackage is what the test needs of the output of go list.
type goPackage struct {
	ImportPath string
	Imports    []string
}

// list runs go list, for js/wasm if wasm is set.
func list(t *testing.T, wasm bool, args ...string) []goPackage {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("js/wasm cannot start the go command; the native run of this test covers both")
	}
	cmd := exec.Command("go", append([]string{"list", "-json=ImportPath,Imports"}, args...)...)
	cmd.Env = os.Environ()
	if wasm {
		cmd.Env = append(cmd.Env, "GOOS=js", "GOARCH=wasm")
	}
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestArrows(t *testing.T) {
	seen := map[string]bool{}
	for _, wasm := range []bool{false, true} {
		for _, p := range list(t, wasm, "./...") {
			name := strings.TrimPrefix(p.ImportPath, modulePath+"/")
			if name == modulePath {
				continue // the root holds tests only
			}
			seen[name] = true
			allowed, known := arrows[name]
			if !known {
				t.Errorf("package %s has no entry in the table of arrows", name)
			}
			for _, imported := range p.Imports {
				short := strings.TrimPrefix(imported, modulePath+"/")
				if !isStandard(imported) && !slices.Contains(allowed, short) {
					t.Errorf("%s must not import %s", name, short)
				}
			}
		}
	}
	for name := range arrows {
		if !seen[name] {
			t.Errorf("the table of arrows has an entry for %s, which does not exist", name)
		}
	}
}

// isStandard reports whether a package is one of the standard library, whose
// paths do not start with a host.
func isStandard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// TestModuleContents makes sure that what must stay out of the wasm module does.
func TestModuleContents(t *testing.T) {
	forbidden := []string{
		modulePath + "/bridge",
		modulePath + "/internal/demopeer",
		"github.com/coder/websocket",
		"github.com/btcsuite/btcd/btcec/v2/schnorr/musig2",
		"net",
		"net/http",
	}
	for _, p := range list(t, true, "-deps", "./wasm") {
		if slices.Contains(forbidden, p.ImportPath) {
			t.Errorf("the wasm module contains %s", p.ImportPath)
		}
	}
}
