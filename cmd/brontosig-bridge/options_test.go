//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPrecedence sets one option in all places, and makes sure that each place
// counts where none above it says anything.
func TestPrecedence(t *testing.T) {
	path := writeFile(t, filepath.Join(t.TempDir(), "bridge.toml"), `
# Nodes of ours.
allow = ["file.example:9735", "10.0.0.0/8"]
listen = "127.0.0.1:3"
max-per-client = 3
allow-no-origin = true
idle-timeout = "3m"
public-port = [1, 2]
`)
	t.Setenv("BRONTOSIG_BRIDGE_CONFIG", path)
	t.Setenv("BRONTOSIG_BRIDGE_ALLOW", "env.example:9735,second.example:9735")
	t.Setenv("BRONTOSIG_BRIDGE_MAX_PER_CLIENT", "2")
	o, err := parseOptions([]string{"--allow", "flag.example:9735"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(o.Allow, []string{"flag.example:9735"}) || o.MaxPerClient != 2 || o.Listen != "127.0.0.1:3" ||
		!o.AllowNoOrigin || o.IdleTimeout != 3*time.Minute || !slices.Equal(o.PublicPort, []int{1, 2}) || o.MaxPerTarget != 1000 {
		t.Errorf("got %+v", o)
	}
	if o, err = parseOptions(nil, io.Discard); err != nil || !slices.Equal(o.Allow, []string{"env.example:9735", "second.example:9735"}) {
		t.Errorf("got %+v and %v", o, err)
	}
}

func TestBadFiles(t *testing.T) {
	for text, says := range map[string]string{
		"listn = 1":          "listn",
		"config = 'x'":       "config",
		"[allow]\nx = 1":     "allow",
		"max-dials = 'many'": "max-dials",
		"listen = ":          "line 1",
		"token = 'hush-hush-hush-hush'\nlisten = [": "line 2",
	} {
		path := writeFile(t, filepath.Join(t.TempDir(), "bridge.toml"), text)
		_, err := parseOptions([]string{"--config", path}, io.Discard)
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hush") {
			t.Errorf("%q: got %v, want %q", text, err, says)
		}
	}
}

// TestEveryOptionArrives sets every option that is the bridge's own to something
// and makes sure that all of the bridge's configuration is then set.
func TestEveryOptionArrives(t *testing.T) {
	o, err := parseOptions(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(o).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString("x")
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		}
	}
	if o.BytesPerSecond, o.TotalBytesPerSecond = 1, 1; err != nil {
		t.Fatal(err)
	}
	c := reflect.ValueOf(o.bridge())
	for i := range c.NumField() {
		name := c.Type().Field(i).Name
		if c.Field(i).IsZero() && name != "Logger" && name != "Registerer" {
			t.Errorf("no option sets %s", name)
		}
	}
}

// TestDocumentedOptions compares the table of docs/bridge.md with the flags.
func TestDocumentedOptions(t *testing.T) {
	text, err := os.ReadFile("../../docs/bridge.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, m := range regexp.MustCompile("(?m)^\\| `--([a-z-]+)[ `]").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1])
	}
	var o options
	parser, err := newParser(&o, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	var flags []string
	for _, f := range parser.Model.Flags {
		if f.Name == "help" {
			continue
		}
		flags = append(flags, f.Name)
		row := regexp.MustCompile("(?m)^\\| `--" + f.Name + "[ `].*$").FindString(string(text))
		if f.Default != "" && f.Default != "0" && f.Name != "route" && !strings.Contains(row, f.Default) {
			t.Errorf("the table does not say that the default of --%s is %s: %s", f.Name, f.Default, row)
		}
	}
	if !slices.Equal(documented, flags) {
		t.Errorf("documented are\n%q,\nand there are\n%q", documented, flags)
	}
}
