//go:build !js

package bridge

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"testing/iotest"
)

// badActs are acts with one thing wrong that can be seen without a key.
func badActs() map[string][]byte {
	edit := func(at int, b ...byte) []byte {
		act := slices.Clone(anAct)
		copy(act[at:], b)
		return act
	}
	return map[string][]byte{
		"version 1":           edit(0, 1),
		"uncompressed key":    edit(1, 4),
		"hybrid key":          edit(1, 6),
		"key off the curve":   edit(2, bytes.Repeat([]byte{0}, 32)...),
		"key above the field": edit(2, bytes.Repeat([]byte{0xff}, 32)...),
		"other protocol":      append([]byte("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n"), make([]byte, 10)...),
		"all zero":            make([]byte, actSize),
	}
}

func TestCheckAct(t *testing.T) {
	if len(anAct) != actSize {
		t.Fatalf("an act has %d bytes", len(anAct))
	}
	if err := checkAct((*[actSize]byte)(anAct)); err != nil {
		t.Errorf("good act: %v", err)
	}
	for about, act := range badActs() {
		if err := checkAct((*[actSize]byte)(act)); !errors.Is(err, errNotAct) {
			t.Errorf("%s: got %v", about, err)
		}
	}
}

func TestReadActTwo(t *testing.T) {
	for _, split := range []func(io.Reader) io.Reader{iotest.OneByteReader, iotest.HalfReader, iotest.DataErrReader} {
		act, n, err := readActTwo(split(bytes.NewReader(anAct)))
		if err != nil || n != actSize || !bytes.Equal(act[:], anAct) {
			t.Errorf("good act: got %x, %d, %v", act, n, err)
		}
		for about, bad := range badActs() {
			if _, _, err := readActTwo(split(bytes.NewReader(bad))); !errors.Is(err, errNotAct) {
				t.Errorf("%s: got %v", about, err)
			}
		}
		for n := range actSize {
			want := io.ErrUnexpectedEOF
			if n == 0 {
				want = io.EOF
			}
			act, got, err := readActTwo(split(bytes.NewReader(anAct[:n])))
			if !errors.Is(err, want) || got != n || !bytes.Equal(act[:n], anAct[:n]) {
				t.Errorf("%d bytes: got %x, %d, %v", n, act[:got], got, err)
			}
		}
	}
	// A service that greets and waits is known by its first byte.
	greeting, _ := io.Pipe()
	if _, _, err := readActTwo(io.MultiReader(bytes.NewReader([]byte("2")), greeting)); !errors.Is(err, errNotAct) {
		t.Errorf("greeting: got %v", err)
	}
	broken := errors.New("broken")
	if _, n, err := readActTwo(io.MultiReader(bytes.NewReader(anAct[:7]), iotest.ErrReader(broken))); n != 7 || !errors.Is(err, broken) {
		t.Errorf("broken: got %d, %v", n, err)
	}
}
