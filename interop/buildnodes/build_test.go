package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// goSum reads the sum of a module from this module's go.sum.
func goSum(t *testing.T, module, version string) string {
	t.Helper()
	file, err := os.ReadFile("../go.sum")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := bytes.Cut(file, []byte("\n"+module+" "+version+" "))
	sum, _, _ := strings.Cut(string(rest), "\n")
	if !found {
		t.Fatalf("go.sum has no %s %s", module, version)
	}
	return sum
}

// TestSum compares the sum of lnd with the one that go.sum has for its package
// brontide.
func TestSum(t *testing.T) {
	for _, n := range nodes {
		if n.name == "lnd" && n.sum != goSum(t, n.module, n.version) {
			t.Errorf("lnd %s: go.sum has another sum", n.version)
		}
	}
}

// TestReadme makes sure that the README says which versions were tried.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if !strings.Contains(string(readme), "| "+n.name+" "+n.version) {
			t.Errorf("the README's table has no %s %s", n.name, n.version)
		}
	}
}

// small is a program that is built in no time.
func small(t *testing.T) node {
	const module, version = "golang.org/x/mod", "v0.30.0"
	return node{
		name: "gosumcheck", module: module, version: version, sum: goSum(t, module, version), folder: "gosumcheck",
	}
}

func modTime(t *testing.T, file string) int64 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime().UnixNano()
}

// TestProvide runs several builds at once where a killed one has left its files.
func TestProvide(t *testing.T) {
	dir, n := t.TempDir(), small(t)
	home := filepath.Join(dir, "gosumcheck-v0.30.0")
	if err := os.MkdirAll(filepath.Join(home, "work", "source", "stray"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lock", "work/gosumcheck", "work/source/go.mod"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte("half"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			program, err := n.provide(t.Context(), dir)
			if err != nil || program != filepath.Join(home, "gosumcheck") {
				t.Errorf("provide: %s, %v", program, err)
			}
		})
	}
	all.Wait()
	left, err := filepath.Glob(filepath.Join(home, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("beside the program and the lock: %v, %v", left, err)
	}

	program := filepath.Join(home, "gosumcheck")
	first := modTime(t, program)
	if _, err := n.provide(t.Context(), dir); err != nil || modTime(t, program) != first {
		t.Errorf("what was there was built again, %v", err)
	}
	n.tags = "another"
	if _, err := n.provide(t.Context(), dir); err != nil || modTime(t, program) == first {
		t.Errorf("what was built with other tags was taken, %v", err)
	}
	if err := os.WriteFile(program, []byte("damaged"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := n.provide(t.Context(), dir); err != nil || !n.isBuilt(program) {
		t.Errorf("a damaged program was taken, %v", err)
	}
}

// TestWrongSource refuses files that do not have the sum.
func TestWrongSource(t *testing.T) {
	dir, n := t.TempDir(), small(t)
	n.sum = "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	_, err := n.provide(t.Context(), dir)
	if err == nil || !strings.Contains(err.Error(), "must have "+n.sum) {
		t.Fatalf("error %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*", "*")); len(left) != 1 {
		t.Errorf("beside the lock: %v", left)
	}
}

// TestBuildFails passes on that the go command fails; what it says is printed.
func TestBuildFails(t *testing.T) {
	n := small(t)
	n.folder = "absent"
	program, err := n.provide(t.Context(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "go list") {
		t.Fatalf("provide: %s, %v", program, err)
	}
}
