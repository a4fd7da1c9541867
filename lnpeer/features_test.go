package lnpeer

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

func TestFeatures(t *testing.T) {
	f := NewFeatures(1, 8, 45, 8)
	if !bytes.Equal(f, []byte{0x20, 0, 0, 0, 0x01, 0x02}) {
		t.Fatalf("got %x", f)
	}
	if bits := f.Bits(); !slices.Equal(bits, []int{1, 8, 45}) {
		t.Fatalf("bits %v", bits)
	}
	for _, bit := range []int{-1, 0, 2, 7, 9, 44, 46, 48, 1 << 20} {
		if f.Has(bit) {
			t.Fatalf("bit %d is set", bit)
		}
	}
	if len(NewFeatures()) != 0 || len(Features(nil).Bits()) != 0 {
		t.Fatal("no bits")
	}
	if !bytes.Equal(DefaultFeatures(), []byte{2}) {
		t.Fatal("the default does not offer option_data_loss_protect")
	}
	short, long := Features{0x01}, Features{0, 0x80, 0x00}
	for _, u := range []Features{union(short, long), union(long, short)} {
		if !bytes.Equal(u, []byte{0x80, 0x01}) {
			t.Fatalf("union %x", u)
		}
	}
	if !bytes.Equal(short, []byte{1}) || !bytes.Equal(long, []byte{0, 0x80, 0}) {
		t.Fatal("union changed its arguments")
	}
	if FeatureName(1) != "option_data_loss_protect" || FeatureName(0) != FeatureName(1) || FeatureName(500) != "" {
		t.Fatal("names")
	}
}

func TestFeatureCheck(t *testing.T) {
	for name, c := range map[string]struct {
		features Features
		known    map[int]bool
		want     ErrorKind
		bits     []int
	}{
		"none":                      {nil, nil, "", nil},
		"what lnd requires":         {NewFeatures(0, 8, 12, 14, 44), nil, "", nil},
		"unknown but optional":      {NewFeatures(1, 2023, 65535), nil, "", nil},
		"unknown and required":      {NewFeatures(1, 100, 2022), nil, ErrUnknownFeature, []int{100, 2022}},
		"known to the application":  {NewFeatures(100, 2022), map[int]bool{100: true, 2022: true}, "", nil},
		"dependency missing":        {NewFeatures(51, 61), nil, ErrFeatureDependency, []int{46, 26}},
		"dependency there, odd":     {NewFeatures(50, 47, 60, 27), nil, "", nil},
		"dependency there, even":    {NewFeatures(51, 46, 61, 26), nil, "", nil},
		"more than an error lists":  {bytes.Repeat([]byte{0x55}, 40), nil, ErrUnknownFeature, nil},
		"beyond two bytes of a bit": {append(Features{1}, make([]byte, 8192)...), nil, ErrUnknownFeature, []int{65536}},
	} {
		err := c.features.check(c.known)
		if c.want == "" {
			requireNil(t, err)
			continue
		}
		requireKind(t, name, err, c.want)
		var e *Error
		errors.As(err, &e)
		if len(e.Features) > MaxListedFeatures || c.bits != nil && !slices.Equal(e.Features, c.bits) {
			t.Fatalf("%s: lists %v", name, e.Features)
		}
	}
	err := NewFeatures(50).check(nil)
	if want := "lnpeer: features that others depend on are not set: 46 (option_scid_alias)"; err.Error() != want {
		t.Fatalf("got %q", err)
	}
}
