//go:build js && wasm

package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/brontosig/brontosig/internal/abi"
	"github.com/brontosig/brontosig/musig2"
)

// fillInput writes a secret to the input buffer, as the wrapper does, and
// returns its length.
func fillInput() uint32 {
	return uint32(copy(inBuffer, bytes.Repeat([]byte{0xa5}, 64)))
}

// detail reads the detail buffer as the wrapper does.
func detail() (signer, contribution int32, text string) {
	signer = int32(binary.LittleEndian.Uint32(detailBuffer[0:]))
	contribution = int32(binary.LittleEndian.Uint32(detailBuffer[4:]))
	length := binary.LittleEndian.Uint32(detailBuffer[8:])
	return signer, contribution, string(detailBuffer[12 : 12+length])
}

func TestExport(t *testing.T) {
	for _, test := range []struct {
		name   string
		body   func(in *input) (int32, error)
		status int32
		text   string
	}{
		{"success", func(in *input) (int32, error) { return put(in.takeAll()) }, 64, ""},
		{"error", func(*input) (int32, error) { return 0, argumentError("seven is %d", 7) },
			-int32(abi.InvalidArgument), "seven is 7"},
		{"error after output", func(in *input) (int32, error) {
			if _, err := put(in.takeAll()); err != nil {
				return 0, err
			}
			return 0, limitError("too late")
		}, -int32(abi.LimitExceeded), "too late"},
		{"unknown error", func(*input) (int32, error) { return 0, errors.New("odd") },
			-int32(abi.Internal), "odd"},
		{"panic", func(in *input) (int32, error) {
			if _, err := put(in.takeAll()); err != nil {
				return 0, err
			}
			panic("the secret value")
		}, -int32(abi.Internal), "panic at wasm.TestExport"},
		{"runtime panic", func(in *input) (int32, error) { return int32(in.rest[in.rest[0]]), nil },
			-int32(abi.Internal), "panic at wasm.TestExport"},
		{"nil pointer", func(*input) (int32, error) { var o contextObject; return int32(len(o.SigningKeys())), nil },
			-int32(abi.Internal), "panic at musig2."},
	} {
		t.Run(test.name, func(t *testing.T) {
			clear(detailBuffer[:])
			n := fillInput()
			if status := export(n, test.body); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
			if !bytes.Equal(inBuffer[:n], make([]byte, n)) {
				t.Error("the input was not wiped")
			}
			_, _, text := detail()
			if !strings.HasPrefix(text, test.text) || strings.Contains(text, "secret value") {
				t.Errorf("text %q, want %q", text, test.text)
			}
			if test.status < 0 && !bytes.Equal(outBuffer[:64], make([]byte, 64)) {
				t.Error("the output was not wiped")
			}
		})
	}
}

// TestExportInputTooLong makes sure that a wrong length reads nothing and
// leaves nothing.
func TestExportInputTooLong(t *testing.T) {
	fillInput()
	status := export(uint32(len(inBuffer))+1, func(*input) (int32, error) {
		t.Error("the body ran")
		return 0, nil
	})
	if status != -int32(abi.InvalidArgument) {
		t.Errorf("status %d", status)
	}
	if !bytes.Equal(inBuffer, make([]byte, len(inBuffer))) {
		t.Error("the input was not wiped")
	}
}

// TestOutputOfLastCall makes sure that a result that nobody fetched does not
// outlive the next call.
func TestOutputOfLastCall(t *testing.T) {
	export(fillInput(), func(in *input) (int32, error) { return put(in.takeAll()) })
	export(0, func(*input) (int32, error) { return 0, nil })
	if !bytes.Equal(outBuffer[:64], make([]byte, 64)) {
		t.Error("the output was not wiped")
	}
}

func TestPutGrows(t *testing.T) {
	half := bytes.Repeat([]byte{1}, len(outBuffer))
	n, err := put(half, half)
	if err != nil || int(n) != 2*len(half) || !bytes.Equal(outBuffer[:n], append(half, half...)) {
		t.Errorf("%d bytes put, error %v", n, err)
	}
	clearOutput()
}

func TestInReserve(t *testing.T) {
	size := uint32(len(inBuffer)) + 1
	if status := inReserve(size); status != 0 || len(inBuffer) != int(size) {
		t.Errorf("status %d, %d bytes", status, len(inBuffer))
	}
	if status := inReserve(1); status != 0 || len(inBuffer) != int(size) {
		t.Errorf("status %d, %d bytes after a smaller demand", status, len(inBuffer))
	}
	if status := inReserve(abi.MaxInputSize + 1); status != -int32(abi.LimitExceeded) {
		t.Errorf("status %d above the limit", status)
	}
}

func TestInput(t *testing.T) {
	in := &input{rest: []byte{1, 2, 3}}
	if got, err := in.take(2); err != nil || !bytes.Equal(got, []byte{1, 2}) || cap(got) != 2 {
		t.Errorf("took %v, error %v", got, err)
	}
	for _, size := range []int{2, -1} {
		if _, err := in.take(size); codeOf(err) != abi.InvalidArgument {
			t.Errorf("take(%d): error %v", size, err)
		}
	}
	if err := in.end(); codeOf(err) != abi.InvalidArgument {
		t.Errorf("end with a byte left: error %v", err)
	}
	if got := in.takeAll(); !bytes.Equal(got, []byte{3}) {
		t.Errorf("took %v", got)
	}
	if err := in.end(); err != nil {
		t.Error(err)
	}
}

func TestDetail(t *testing.T) {
	refuse(&musig2.InvalidContributionError{Signer: 3, Contribution: musig2.ContributionPartialSig, Reason: "r"})
	if signer, contribution, _ := detail(); signer != 3 || contribution != 4 {
		t.Errorf("signer %d, contribution %d", signer, contribution)
	}
	refuse(&musig2.InvalidContributionError{Signer: musig2.NoSigner, Contribution: musig2.ContributionAggNonce})
	if signer, contribution, _ := detail(); signer != -1 || contribution != 2 {
		t.Errorf("signer %d, contribution %d, nobody to blame", signer, contribution)
	}
	refuse(musig2.ErrNoKeys)
	if signer, contribution, text := detail(); signer != -1 || contribution != -1 || text != "ErrNoKeys" {
		t.Errorf("signer %d, contribution %d, text %q of an error without blame", signer, contribution, text)
	}
	// One byte, then characters of two: the limit falls into one.
	refuse(argumentError("%s", "x"+strings.Repeat("ü", detailSize)))
	if _, _, text := detail(); text != "x"+strings.Repeat("ü", (detailSize-detailText-1)/2) {
		t.Errorf("a text of %d bytes, ending in %q", len(text), text[len(text)-4:])
	}
}
