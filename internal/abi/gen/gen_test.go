package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGeneratedFiles holds the committed files to what the generator makes of
// the present sources.
func TestGeneratedFiles(t *testing.T) {
	const root = "../../.."
	files, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes: run `make generate`", name)
		}
	}
}

// TestReadExports checks what the generator refuses, since a wrong export
// would only show in JavaScript.
func TestReadExports(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"bytes", "// f does.\n//\n//go:wasmexport f\nfunc f(n uint32, b []byte) int32 { return 0 }", "neither int32 nor uint32"},
		{"BigInt", "// f does.\n//\n//go:wasmexport f\nfunc f(n uint32) int64 { return 0 }", "neither int32 nor uint32"},
		{"two results", "// f does.\n//\n//go:wasmexport f\nfunc f(n uint32) (a, b int32) { return 0, 0 }", "neither int32 nor uint32"},
		{"no n", "// f does.\n//\n//go:wasmexport f\nfunc f(handle uint32) int32 { return 0 }", "must be n"},
		{"no comment", "//go:wasmexport f\nfunc f(n uint32) int32 { return 0 }", "must start with its name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "area.go"), []byte("package main\n\n"+test.source+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := readExports(dir); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestReadCodes checks that an error code without documentation is refused.
func TestReadCodes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "codes.go")
	if err := os.WriteFile(file, []byte("package abi\n\nconst Bare Code = 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readCodes(file); err == nil || !strings.Contains(err.Error(), "Bare means that") {
		t.Errorf("error %v, want one about the comment of Bare", err)
	}
}
