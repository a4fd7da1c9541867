package chachapoly

import (
	"bytes"
	"crypto/cipher"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
)

func pair(t testing.TB, key []byte) (ours, theirs cipher.AEAD) {
	t.Helper()
	ours, err := New(key)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err = chacha20poly1305.New(key)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// TestAgainstCrypto compares every length up to some blocks, and long ones, with
// golang.org/x/crypto.
func TestAgainstCrypto(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	random := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	sizes := []int{1000, 4096, 16384, 65535, 65536}
	for n := range 200 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		ours, theirs := pair(t, random(KeySize))
		nonce, plaintext, ad := random(NonceSize), random(n), random(rng.IntN(40))
		if n%5 == 0 {
			plaintext = bytes.Repeat([]byte{0xff}, n) // the largest limbs
		}
		prefix := []byte("before")
		got := ours.Seal(slices.Clone(prefix), nonce, plaintext, ad)
		want := theirs.Seal(slices.Clone(prefix), nonce, plaintext, ad)
		if !bytes.Equal(got, want) {
			t.Fatalf("%d bytes: another ciphertext than golang.org/x/crypto's", n)
		}
		sealed := got[len(prefix):]
		for _, at := range []int{0, len(sealed) / 2, len(sealed) - 1} {
			bad := slices.Clone(sealed)
			bad[at] ^= 1 << (at % 8)
			if _, err := ours.Open(nil, nonce, bad, ad); err == nil {
				t.Fatalf("%d bytes: changed byte %d was not noticed", n, at)
			}
		}
		opened, err := ours.Open(sealed[:0], nonce, sealed, ad) // in place
		if err != nil || !bytes.Equal(opened, plaintext) {
			t.Fatalf("%d bytes: not opened: %v", n, err)
		}
	}
}

func TestArguments(t *testing.T) {
	if _, err := New(make([]byte, 31)); err == nil {
		t.Error("a short key was taken")
	}
	ours, _ := pair(t, make([]byte, KeySize))
	for n := range Overhead {
		if _, err := ours.Open(nil, make([]byte, NonceSize), make([]byte, n), nil); err == nil {
			t.Errorf("%d bytes were opened", n)
		}
	}
	if ours.NonceSize() != 12 || ours.Overhead() != 16 {
		t.Error("wrong sizes")
	}
}

// TestPoly1305 compares with the definition in big integers, around the values
// where a reduction or a carry begins.
func TestPoly1305(t *testing.T) {
	p := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 130), big.NewInt(5))
	little := func(b []byte) *big.Int {
		b = slices.Clone(b)
		slices.Reverse(b)
		return new(big.Int).SetBytes(b)
	}
	fills := []byte{0, 1, 0xfa, 0xfb, 0xfc, 0xff}
	for _, k := range fills {
		for _, first := range fills {
			for _, rest := range fills {
				var key [32]byte
				for i := range key {
					key[i] = k
				}
				data := bytes.Repeat([]byte{rest}, 5*blockSize)
				for i := 0; i < len(data); i += blockSize {
					data[i] = first
				}
				var m mac
				m.init(&key)
				m.blocks(data)
				got := m.tag()

				r := little(key[:16])
				r.And(r, new(big.Int).SetBytes([]byte{
					0x0f, 0xff, 0xff, 0xfc, 0x0f, 0xff, 0xff, 0xfc, 0x0f, 0xff, 0xff, 0xfc, 0x0f, 0xff, 0xff, 0xff,
				}))
				h := new(big.Int)
				for block := range slices.Chunk(data, blockSize) {
					h.Add(h, little(append(slices.Clone(block), 1)))
					h.Mod(h.Mul(h, r), p)
				}
				h.Add(h, little(key[16:]))
				want := make([]byte, 17)
				new(big.Int).And(h, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))).FillBytes(want)
				slices.Reverse(want)
				if !bytes.Equal(got[:], want[:16]) {
					t.Fatalf("key %x, data %x and %x: %x, expected %x", k, first, rest, got, want[:16])
				}
			}
		}
	}
	// h just below, at and above p when the tag is made, which no data of a
	// test would reach by chance.
	for d := int64(-7); d <= 7; d++ {
		for _, base := range []*big.Int{p, new(big.Int).Lsh(big.NewInt(1), 130), big.NewInt(7)} {
			h := new(big.Int).Add(base, big.NewInt(d))
			var m mac
			rest := new(big.Int).Set(h)
			for i := range m.h {
				m.h[i] = new(big.Int).And(rest, big.NewInt(limbMask)).Uint64()
				rest.Rsh(rest, limbBits)
			}
			m.h[4] += rest.Uint64() << limbBits
			got := m.tag()
			h.Mod(h, p)
			want := make([]byte, 17)
			h.FillBytes(want)
			slices.Reverse(want)
			if !bytes.Equal(got[:], want[:16]) {
				t.Fatalf("%v + %d: %x, expected %x", base, d, got, want[:16])
			}
		}
	}
}

func FuzzAgainstCrypto(f *testing.F) {
	f.Add(make([]byte, KeySize), make([]byte, NonceSize), []byte("data"), []byte("more"))
	f.Fuzz(func(t *testing.T, key, nonce, plaintext, ad []byte) {
		key = append(key, make([]byte, KeySize)...)[:KeySize]
		nonce = append(nonce, make([]byte, NonceSize)...)[:NonceSize]
		ours, theirs := pair(t, key)
		sealed := ours.Seal(nil, nonce, plaintext, ad)
		if !bytes.Equal(sealed, theirs.Seal(nil, nonce, plaintext, ad)) {
			t.Fatal("another ciphertext than golang.org/x/crypto's")
		}
		if opened, err := ours.Open(nil, nonce, sealed, ad); err != nil || !bytes.Equal(opened, plaintext) {
			t.Fatal("not opened")
		}
	})
}

func BenchmarkSeal(b *testing.B) {
	ours, theirs := pair(b, make([]byte, KeySize))
	for _, size := range []int{2, 64, 1024, 65535} {
		for name, aead := range map[string]cipher.AEAD{"ours": ours, "x/crypto": theirs} {
			plaintext, dst := make([]byte, size), make([]byte, 0, size+Overhead)
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					aead.Seal(dst, make([]byte, NonceSize), plaintext, nil)
				}
			})
		}
	}
}
