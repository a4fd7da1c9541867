package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestGeneratedTable holds the committed table to what the generator makes of
// features.txt.
func TestGeneratedTable(t *testing.T) {
	source, err := os.ReadFile("../features.txt")
	if err != nil {
		t.Fatal(err)
	}
	want, err := generate(string(source))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../features_table.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("features_table.go is not what the generator writes: run `make generate`")
	}
}

func TestRefusedTables(t *testing.T) {
	for source, want := range map[string]string{
		"0 a":                         "expected",
		"x a assigned":                "no even bit",
		"1 a assigned":                "no even bit",
		"-2 a assigned":               "no even bit",
		"2 a assigned\n0 b assigned":  "do not rise",
		"2 a assigned\n2 b assigned":  "do not rise",
		"# c\n\n2 a perhaps":          "features.txt:3: unknown standing",
		"2 a assigned b":              "not in the table",
		"2 a assigned b c\n4 b other": "unknown standing",
	} {
		if _, err := generate(source); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one with %q", source, err, want)
		}
	}
}
