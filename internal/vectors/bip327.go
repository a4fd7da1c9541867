// Package vectors reads the tables of published figures in testdata and runs
// them, so that several tests can share them.
package vectors

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
)

// Hex is bytes that stand in a table as a string of lower-case hexadecimal
// digits. A nil Hex is null, which is not the same as an empty one.
type Hex []byte

// UnmarshalJSON reads a string or null.
func (h *Hex) UnmarshalJSON(data []byte) error {
	var s *string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s == nil {
		*h = nil
		return nil
	}
	b, err := hex.DecodeString(*s)
	*h = append(Hex{}, b...)
	return err
}

// MarshalJSON writes a string, or null.
func (h Hex) MarshalJSON() ([]byte, error) {
	if h == nil {
		return []byte("null"), nil
	}
	return json.Marshal(hex.EncodeToString(h))
}

// Tweak is one tweak of a case.
type Tweak struct {
	Tweak Hex  `json:"tweak"`
	XOnly bool `json:"xonly"`
}

// Failure is the error that a case expects: a kind of the musig2 package, and
// for an invalid contribution whose it is (null: no signer's) and of what kind.
type Failure struct {
	Kind         string `json:"kind"`
	Signer       *int   `json:"signer,omitempty"`
	Contribution string `json:"contribution,omitempty"`
}

// Groups of cases, and how many there are of each in BIP-327 v1.0.4.
var BIP327Groups = map[string]int{
	"keySort": 1, "keyAgg": 9, "nonceGen": 4, "nonceAgg": 5,
	"signVerify": 17, "tweak": 6, "sigAgg": 5, "detSign": 9,
}

// BIP327Case is one case of testdata/bip327.json. Which fields it has depends on
// its operation; the rest are empty.
type BIP327Case struct {
	Group     string `json:"group"`
	Operation string `json:"operation"`
	Name      string `json:"name,omitempty"`

	PublicKeys        []Hex   `json:"publicKeys,omitempty"`
	Tweaks            []Tweak `json:"tweaks,omitempty"`
	SecretKey         Hex     `json:"secretKey,omitempty"`
	PublicKey         Hex     `json:"publicKey,omitempty"`
	AggregateKey      Hex     `json:"aggregateKey,omitempty"`
	Message           Hex     `json:"message,omitzero"`
	ExtraInput        Hex     `json:"extraInput,omitzero"`
	Rand              Hex     `json:"rand,omitempty"`
	SecretNonce       Hex     `json:"secretNonce,omitempty"`
	PublicNonces      []Hex   `json:"publicNonces,omitempty"`
	AggregateNonce    Hex     `json:"aggregateNonce,omitempty"`
	PartialSignature  Hex     `json:"partialSignature,omitempty"`
	PartialSignatures []Hex   `json:"partialSignatures,omitempty"`
	Signer            int     `json:"signer,omitempty"`

	// What is expected: these, a verdict, or an error.
	Sorted         []Hex    `json:"sorted,omitempty"`
	ExpectedNonce  Hex      `json:"expectedNonce,omitempty"`
	ExpectedSecret Hex      `json:"expectedSecretNonce,omitempty"`
	Expected       Hex      `json:"expected,omitempty"`
	Invalid        bool     `json:"invalid,omitempty"`
	Error          *Failure `json:"error,omitempty"`
}

// Same reports whether two cases are the same but for their names.
func (c BIP327Case) Same(other BIP327Case) bool {
	c.Name, other.Name = "", ""
	a, errA := json.Marshal(c)
	b, errB := json.Marshal(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// LoadBIP327 reads the cases from a file. A field that BIP327Case does not have
// is an error.
func LoadBIP327(file string) ([]BIP327Case, error) {
	var table struct {
		About string       `json:"about"`
		Cases []BIP327Case `json:"cases"`
	}
	if err := ReadStrict(file, &table); err != nil {
		return nil, err
	}
	return table.Cases, nil
}

// ReadStrict decodes a JSON file that has no field that v lacks.
func ReadStrict(file string, v any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}
