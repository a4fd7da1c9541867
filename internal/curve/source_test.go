package curve

import (
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// publicOnly lists the functions that may call what takes time that depends on
// its arguments, besides those that say so by their own name. A function in the
// list sees public data alone: points, public keys, aggregate nonces, coefficients,
// challenges and partial signatures that have been given out.
var publicOnly = map[string][]string{
	".": {
		"decompress", "PointOf",
	},
	"../../musig2": {
		"aggregate", "applyTweak", "sumNonces", "combine", "verify", "schnorrHolds",
	},
	"../../brontide": {},
}

// slowByArgument tells whether a function may take time that depends on what it
// is given: by its name, or because the dependency hides it behind a plain one.
func slowByArgument(f *types.Func) bool {
	if f.Pkg() != nil && (strings.HasPrefix(f.Pkg().Path(), "github.com/decred/dcrd/dcrec/secp256k1") ||
		strings.HasPrefix(f.Pkg().Path(), "github.com/btcsuite/btcd/btcec")) {
		switch f.Name() {
		case "PubKey", "GenerateSharedSecret", "ScalarBaseMult", "ScalarMult", "PrivKeyFromBytes":
			return true
		}
	}
	return strings.Contains(f.Name(), "NonConst")
}

// TestSecretsMeetConstantTimeCode reads the sources of the packages that handle
// secrets.
func TestSecretsMeetConstantTimeCode(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("the sources are the same: the native run of this test covers them")
	}
	for dir, allowed := range publicOnly {
		used := map[string]bool{}
		files, info, set := typeCheck(t, dir)
		for _, file := range files {
			for _, declaration := range file.Decls {
				where := "package level"
				if function, ok := declaration.(*ast.FuncDecl); ok {
					where = function.Name.Name
				}
				ast.Inspect(declaration, func(n ast.Node) bool {
					name, ok := n.(*ast.Ident)
					if !ok {
						return true
					}
					called, ok := info.Uses[name].(*types.Func)
					if !ok || !slowByArgument(called) {
						return true
					}
					if strings.Contains(where, "NonConst") {
						return true
					}
					used[where] = true
					if !slices.Contains(allowed, where) {
						t.Errorf("%s: %s uses %s and is not listed as a function of public data",
							set.Position(name.Pos()), where, called.FullName())
					}
					return true
				})
			}
		}
		for _, name := range allowed {
			if !used[name] {
				t.Errorf("%s: %s is listed and calls nothing of the kind", dir, name)
			}
		}
	}
}

// typeCheck reads a package without its tests.
func typeCheck(t *testing.T, dir string) ([]*ast.File, *types.Info, *token.FileSet) {
	t.Helper()
	// The importer would run cgo for package net, and leave its files behind.
	cgo := build.Default.CgoEnabled
	build.Default.CgoEnabled = false
	defer func() { build.Default.CgoEnabled = cgo }()
	set := token.NewFileSet()
	pkg, err := build.ImportDir(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	for _, name := range pkg.GoFiles {
		file, err := parser.ParseFile(set, filepath.Join(dir, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Importer: importer.ForCompiler(set, "source", nil)}
	if _, err := config.Check(dir, set, files, info); err != nil {
		t.Fatal(err)
	}
	return files, info, set
}
