package lnpeer

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func requireKind(t testing.TB, what string, err error, kind ErrorKind) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("%s: got error %v, want %s", what, err, kind)
	}
}

func requireNil(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestBigSize has the figures of BOLT-1, appendix A.
func TestBigSize(t *testing.T) {
	for encoded, want := range map[string]uint64{
		"00": 0, "fc": 252, "fd00fd": 253, "fdffff": 65535, "fe00010000": 65536, "feffffffff": 4294967295,
		"ff0000000100000000": 4294967296, "ffffffffffffffffff": 18446744073709551615,
	} {
		b := unhex(t, encoded)
		n, rest, err := bigSize(append(bytes.Clone(b), 0x99))
		if err != nil || n != want || len(rest) != 1 {
			t.Fatalf("%s: got %d, %x, %v", encoded, n, rest, err)
		}
		if got := appendBigSize(nil, want); !bytes.Equal(got, b) {
			t.Fatalf("%d: encoded as %x", want, got)
		}
	}
	for _, bad := range []string{
		"fd00fc", "fe0000ffff", "ff00000000ffffffff",
		"fd00", "feffff", "ffffffffff", "", "fd", "fe", "ff",
	} {
		_, _, err := bigSize(unhex(t, bad))
		requireKind(t, bad, err, ErrTLV)
	}
}

// TestTLVStream has the figures of BOLT-1, appendix B, that hold for every set
// of known types.
func TestTLVStream(t *testing.T) {
	for _, bad := range []string{
		"fd", "fd01", "fd0001 00", "fd0101", "0f fd", "0f fd26", "0f fd2602", "0f fd0001 00",
		"0f fd0201" + strings.Repeat("00", 256),
		"12 00", "fd0102 00", "fe01000002 00", "ff0100000000000002 00",
		"1f 00 0f 01 2a", "1f 00 1f 01 2a", "ffffffffffffffffff 00 00 00",
	} {
		_, err := parseTLV(unhex(t, bad))
		requireKind(t, bad, err, ErrTLV)
	}
	valid := []string{"", "21 00", "fd0201 00", "fd00fd 00", "fd00ff 00", "fe02000001 00", "ff0200000000000001 00"}
	for _, good := range valid {
		_, err := parseTLV(unhex(t, good))
		requireNil(t, err)
		_, err = parseTLV(unhex(t, good+"fd01"))
		requireKind(t, good+" and a cut-off type", err, ErrTLV)
	}
	records, err := parseTLV(unhex(t, "01 02 0a0b 02 00 fd0201 01 ff"), 2)
	requireNil(t, err)
	if len(records) != 3 || records[0].typ != 1 || !bytes.Equal(records[0].value, []byte{10, 11}) ||
		records[1].typ != 2 || len(records[1].value) != 0 || records[2].typ != 0x201 {
		t.Fatalf("got %v", records)
	}
	var again []byte
	for _, r := range records {
		again = appendRecord(again, r.typ, r.value)
	}
	if !bytes.Equal(again, unhex(t, "01 02 0a0b 02 00 fd0201 01 ff")) {
		t.Fatalf("encoded as %x", again)
	}
	_, err = parseTLV(unhex(t, "01 02 0a0b 01 00"))
	requireKind(t, "the same type twice", err, ErrTLV)
}
