//go:build js && wasm

package main

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/brontosig/brontosig/internal/abi"
)

// unreached are the kinds of brontide that only a caller of Machine's own
// methods can meet. The exports go through Stream, which hands every packet over
// whole, reads headers and bodies in their order, and is done with the static
// key when that is wiped.
var unreached = map[string]bool{
	"ErrMessageNotFlushed": true, "ErrHeaderNotRead": true, "ErrBufferSize": true, "ErrKeyWiped": true,
}

// TestEveryKindHasCode looks up, in the table, each kind of error that a file
// of a protocol package mentions. One that is missing would reach JavaScript as
// INTERNAL. Files that are not built for js/wasm do not count.
func TestEveryKindHasCode(t *testing.T) {
	known := make(map[string]bool)
	for _, k := range kinds {
		known[k.kind.Error()] = true
	}
	for _, dir := range []string{"musig2", "brontide", "lnpeer"} {
		mentioned := mentionedKinds(t, filepath.Join("..", dir))
		if len(mentioned) == 0 {
			t.Errorf("%s mentions no kind of error", dir)
		}
		for name := range mentioned {
			if known[name] == unreached[name] {
				t.Errorf("%s.%s: it has a code: %v; an export reaches it: %v", dir, name, known[name], !unreached[name])
			}
		}
	}
}

// mentionedKinds returns the names of the kinds of error that the package in
// dir mentions where it does not declare them.
func mentionedKinds(t *testing.T, dir string) map[string]bool {
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	mentioned := make(map[string]bool)
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), "_test.go") || !strings.HasSuffix(entry.Name(), ".go") {
			continue
		}
		if match, err := build.Default.MatchFile(dir, entry.Name()); err != nil || !match {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, entry.Name()), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(node ast.Node) bool {
			if _, ok := node.(*ast.SelectorExpr); ok {
				return false // a name of another package
			}
			if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Err") {
				return false
			}
			if name, ok := node.(*ast.Ident); ok && strings.HasPrefix(name.Name, "Err") &&
				name.Name != "ErrorKind" && name.Name != "Error" {
				mentioned[name.Name] = true
			}
			return true
		})
	}
	return mentioned
}

func TestCodeOf(t *testing.T) {
	for _, k := range kinds {
		if got := codeOf(k.kind); got != k.code {
			t.Errorf("%v: code %d, want %d", k.kind, got, k.code)
		}
		if k.code == abi.Internal {
			t.Errorf("%v has the code of a bug", k.kind)
		}
	}
}
