package curve

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
)

func testRand(t testing.TB) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func randomScalar(rng *rand.Rand) Scalar {
	var b [ScalarSize]byte
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	var k Scalar
	k.SetBytes(&b)
	return k
}

func scalarFromHex(t testing.TB, s string) Scalar {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	var k Scalar
	k.SetByteSlice(b)
	return k
}

// edgeScalars are the ends of the range, the ends of every window, and
// patterns that make each window hold its extreme digits.
func edgeScalars(t testing.TB) []Scalar {
	hexes := []string{
		"00", "01", "02", "0f", "10", "11", "ff", "0100",
		"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140", // n-1
		"fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd036413f", // n-2
		"7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0", // (n-1)/2
		"7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a1",
		"f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0",
		"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f",
		"8888888888888888888888888888888888888888888888888888888888888888",
		"8000000000000000000000000000000000000000000000000000000000000000",
		"5363ad4cc05c30e0a5261c028812645a122e22ea20816678df02967c1b23bd72", // the endomorphism's eigenvalue
	}
	scalars := make([]Scalar, len(hexes))
	for i, s := range hexes {
		scalars[i] = scalarFromHex(t, s)
	}
	var bit Scalar
	bit.SetInt(1)
	for range 256 {
		scalars = append(scalars, bit)
		bit.Add(&bit)
	}
	return scalars
}

// theirs and ours convert between the dependency's points and ours.
func theirs(p *Point) (r secp256k1.JacobianPoint) {
	if !IsInfinity(p) {
		NewPublicKey(p).AsJacobian(&r)
	}
	return r
}

func ours(p *secp256k1.JacobianPoint) Point {
	if (p.X.IsZero() && p.Y.IsZero()) || p.Z.IsZero() {
		return Point{}
	}
	p.ToAffine()
	r, ok := PointOf(secp256k1.NewPublicKey(&p.X, &p.Y))
	if !ok {
		panic("the dependency's point is not on the curve")
	}
	return r
}

// reference multiplies with the dependency's own code.
func reference(k *Scalar, p *Point) Point {
	var r secp256k1.JacobianPoint
	q := theirs(p)
	secp256k1.ScalarMultNonConst(k, &q, &r)
	return ours(&r)
}

// referenceSum adds with the dependency's own code.
func referenceSum(points ...Point) Point {
	var sum secp256k1.JacobianPoint
	for i := range points {
		var r secp256k1.JacobianPoint
		p := theirs(&points[i])
		secp256k1.AddNonConst(&sum, &p, &r)
		sum = r
	}
	return ours(&sum)
}

func requireEqual(t *testing.T, what string, got, want *Point) {
	t.Helper()
	if !EqualNonConst(got, want) {
		t.Fatalf("%s: got %x, want %x", what, Compress(got), Compress(want))
	}
	again := *got
	normalize(&again.x, &again.x)
	normalize(&again.y, &again.y)
	if again != *got {
		t.Fatalf("%s: the result is not canonical", what)
	}
}

func TestMultiplicationAgainstDependency(t *testing.T) {
	rng := testRand(t)
	g := Generator()
	scalars := edgeScalars(t)
	for range 200 {
		scalars = append(scalars, randomScalar(rng))
	}
	seven := randomScalar(rng)
	other := reference(&seven, &g)
	for i := range scalars {
		k := &scalars[i]
		want := reference(k, &g)
		got := BaseMult(k)
		requireEqual(t, "BaseMult "+k.String(), &got, &want)
		got = MultiMultNonConst(k)
		requireEqual(t, "MultiMultNonConst "+k.String(), &got, &want)
		got = Mult(k, &g)
		requireEqual(t, "Mult of G "+k.String(), &got, &want)
		want = reference(k, &other)
		got = Mult(k, &other)
		requireEqual(t, "Mult "+k.String(), &got, &want)
		infinity := Mult(k, &Point{})
		requireEqual(t, "Mult of infinity", &infinity, &Point{})
	}
}

func TestCompleteFormulas(t *testing.T) {
	rng := testRand(t)
	g := Generator()
	k := randomScalar(rng)
	p := reference(&k, &g)
	minusP := Negate(&p)
	points := map[string]Point{"infinity": {}, "G": g, "P": p, "-P": minusP}
	for nameA, a := range points {
		for nameB, b := range points {
			sum := projective{y: one}
			if !IsInfinity(&a) {
				sum.set(&a)
			}
			if !IsInfinity(&b) {
				again := sum
				again.addAffine(&b)
				got, want := again.toPoint(), referenceSum(a, b)
				requireEqual(t, nameA+" + "+nameB, &got, &want)
				// On a result whose z is not 1.
				sum.double(1)
				sum.addAffine(&b)
				got, want = sum.toPoint(), referenceSum(a, a, b)
				requireEqual(t, "2·"+nameA+" + "+nameB, &got, &want)
			}
			got, want := SumNonConst(a, b), referenceSum(a, b)
			requireEqual(t, "sum of "+nameA+" and "+nameB, &got, &want)
		}
	}
}

func TestEqualNonConst(t *testing.T) {
	g := Generator()
	minusG := Negate(&g)
	infinity := Point{}
	if !EqualNonConst(&g, &g) || !EqualNonConst(&infinity, &infinity) {
		t.Fatal("equal points compare as different")
	}
	if EqualNonConst(&g, &minusG) || EqualNonConst(&g, &infinity) || EqualNonConst(&infinity, &g) {
		t.Fatal("different points compare as equal")
	}
}

func TestPointEncodings(t *testing.T) {
	rng := testRand(t)
	g := Generator()
	for range 50 {
		k := randomScalar(rng)
		p := reference(&k, &g)
		compressed := Compress(&p)
		back, err := ParseCompressed(compressed[:])
		if err != nil {
			t.Fatal(err)
		}
		requireEqual(t, "compressed round trip", &back, &p)
		x := XOnly(&p)
		lifted, err := LiftX(x[:])
		if err != nil {
			t.Fatal(err)
		}
		if !HasEvenY(&p) {
			p = Negate(&p)
		}
		requireEqual(t, "x-only round trip", &lifted, &p)
	}

	const fieldSize = "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f"
	const offCurve = "0000000000000000000000000000000000000000000000000000000000000005"
	valid := Compress(&g)
	cases := []struct {
		name string
		hex  string
		err  error
	}{
		{"empty", "", ErrLength},
		{"x-only", hex.EncodeToString(valid[1:]), ErrLength},
		{"one byte too many", hex.EncodeToString(valid[:]) + "00", ErrLength},
		{"infinity", hex.EncodeToString(make([]byte, 33)), ErrPrefix},
		{"zero prefix with garbage", "00" + hex.EncodeToString(valid[1:]), ErrPrefix},
		{"hybrid prefix", "06" + hex.EncodeToString(valid[1:]), ErrPrefix},
		{"x equal to p", "02" + fieldSize, ErrFieldRange},
		{"x not on the curve", "03" + offCurve, ErrNotOnCurve},
	}
	for _, c := range cases {
		b, err := hex.DecodeString(c.hex)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseCompressed(b); !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.err)
		}
	}
	if _, err := LiftX(valid[:]); !errors.Is(err, ErrLength) {
		t.Errorf("LiftX of 33 bytes: got %v", err)
	}
}

func TestKeys(t *testing.T) {
	rng := testRand(t)
	for range 20 {
		k := randomScalar(rng)
		b := k.Bytes()
		key, err := ParsePrivateKey(b[:])
		if err != nil {
			t.Fatal(err)
		}
		if got, want := PublicKey(key), key.PubKey(); !got.IsEqual(want) {
			t.Fatalf("public key of %x: got %x, want %x", b,
				got.SerializeCompressed(), want.SerializeCompressed())
		}
		other := secp256k1.NewPrivateKey(new(Scalar).SetInt(uint32(rng.Uint32() | 1)))
		got := ECDH(key, other.PubKey())
		point, ok := PointOf(other.PubKey())
		if !ok {
			t.Fatal("a public key is not on the curve")
		}
		shared := reference(&k, &point)
		compressed := Compress(&shared)
		want := sha256.Sum256(compressed[:])
		if !bytes.Equal(got[:], want[:]) {
			t.Fatalf("ECDH: got %x, want %x", got, want)
		}
	}
	order := secp256k1.Params().N
	zero := make([]byte, 32)
	for name, c := range map[string]struct {
		b   []byte
		err error
	}{
		"zero":      {zero, ErrScalarRange},
		"n":         {order.Bytes(), ErrScalarRange},
		"all ones":  {bytes.Repeat([]byte{0xff}, 32), ErrScalarRange},
		"too short": {zero[:31], ErrLength},
		"too long":  {make([]byte, 33), ErrLength},
	} {
		if _, err := ParsePrivateKey(c.b); !errors.Is(err, c.err) {
			t.Errorf("%s: got %v, want %v", name, err, c.err)
		}
	}
}

func FuzzMult(f *testing.F) {
	f.Add(make([]byte, 32), []byte{1})
	f.Fuzz(func(t *testing.T, scalar, point []byte) {
		var k, e Scalar
		k.SetByteSlice(scalar)
		e.SetByteSlice(point)
		g := Generator()
		p := reference(&e, &g)
		want := reference(&k, &p)
		got := Mult(&k, &p)
		requireEqual(t, "Mult", &got, &want)
		want = reference(&k, &g)
		got = BaseMult(&k)
		requireEqual(t, "BaseMult", &got, &want)
	})
}

func FuzzParseCompressed(f *testing.F) {
	g := Generator()
	valid := Compress(&g)
	f.Add(valid[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseCompressed(b)
		_, theirs := secp256k1.ParsePubKey(b)
		if len(b) == CompressedSize && (err == nil) != (theirs == nil) {
			t.Fatalf("ours: %v, the dependency's: %v", err, theirs)
		}
		if err != nil {
			return
		}
		if again := Compress(&p); !bytes.Equal(again[:], b) {
			t.Fatalf("round trip: %x became %x", b, again)
		}
	})
}

func BenchmarkBaseMult(b *testing.B) {
	k := randomScalar(testRand(b))
	b.ReportAllocs()
	for b.Loop() {
		BaseMult(&k)
	}
}

func BenchmarkMult(b *testing.B) {
	k, g := randomScalar(testRand(b)), Generator()
	b.ReportAllocs()
	for b.Loop() {
		Mult(&k, &g)
	}
}
