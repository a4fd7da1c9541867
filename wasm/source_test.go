//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/brontosig/brontosig"

// listed is what go list says about a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
}

// linked returns the project's packages that the module links.
func linked(t *testing.T) []listed {
	command := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles", ".")
	command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == modulePath || strings.HasPrefix(p.ImportPath, modulePath+"/") {
			packages = append(packages, p)
		}
	}
}

// forbiddenImports are the packages that wait, keep time, or call JavaScript.
// A call that waits returns garbage to JavaScript, and one through syscall/js
// costs a hundred times what an export does.
var forbiddenImports = map[string]bool{
	"context": true, "os": true, "os/signal": true, "sync": true, "syscall/js": true, "time": true,
}

// offences lists what a file does that code behind an export must not do.
func offences(file *ast.File) []string {
	var found []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil || forbiddenImports[path] || path == "net" || strings.HasPrefix(path, "net/") {
			found = append(found, "imports "+spec.Path.Value)
		}
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			found = append(found, "starts a goroutine")
		case *ast.SelectStmt:
			found = append(found, "selects")
		case *ast.SendStmt:
			found = append(found, "sends to a channel")
		case *ast.ChanType:
			found = append(found, "uses a channel")
		case *ast.UnaryExpr:
			if node.Op == token.ARROW {
				found = append(found, "receives from a channel")
			}
		}
		return true
	})
	return found
}

// TestNothingWaits reads all code of the project that the module links. The
// select that keeps the program alive is the one exception.
func TestNothingWaits(t *testing.T) {
	packages := linked(t)
	var seen []string
	for _, p := range packages {
		seen = append(seen, strings.TrimPrefix(p.ImportPath, modulePath+"/"))
		for _, name := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			found := offences(parsed)
			if p.ImportPath == modulePath+"/wasm" && name == "main.go" {
				if len(found) != 1 || found[0] != "selects" {
					t.Errorf("main.go: %v, want its one select", found)
				}
				continue
			}
			for _, what := range found {
				t.Errorf("%s/%s %s", p.ImportPath, name, what)
			}
		}
	}
	for _, want := range []string{"brontide", "internal/curve", "lnpeer", "musig2", "wasm"} {
		if !strings.Contains(" "+strings.Join(seen, " ")+" ", " "+want+" ") {
			t.Errorf("the module does not link %s: %v", want, seen)
		}
	}
}

// TestOffences makes sure that the test above can fail.
func TestOffences(t *testing.T) {
	for source, want := range map[string]string{
		`import "sync"`:                           `imports "sync"`,
		`import "net/netip"`:                      `imports "net/netip"`,
		`import "syscall/js"`:                     `imports "syscall/js"`,
		`func f() { go f() }`:                     "starts a goroutine",
		`func f() { select {} }`:                  "selects",
		`var c = make(chan int)`:                  "uses a channel",
		`type t struct{ c <-chan int }`:           "uses a channel",
		`func f[C ~[]int](c C) { c <- 1 }`:        "sends to a channel",
		`func f() { <-ready() }`:                  "receives from a channel",
		`import "math"; func f() { -math.Sin(1)}`: "",
	} {
		parsed, err := parser.ParseFile(token.NewFileSet(), "", "package p; "+source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(offences(parsed), ", "); got != want {
			t.Errorf("%s: %q, want %q", source, got, want)
		}
	}
}
