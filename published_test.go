package brontosig_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/brontosig/brontosig/internal/vectors"
)

// publishedDir may hold the vector files of BIP-327 as they were published. The
// project does not carry them; its own table has the same figures.
const publishedDir = "../shared/vectors/bip327"

// published is the union of the layouts of the published files.
type published struct {
	SecretKey    vectors.Hex     `json:"sk"`
	PublicKeys   []vectors.Hex   `json:"pubkeys"`
	Sorted       []vectors.Hex   `json:"sorted_pubkeys"`
	SecNonce     vectors.Hex     `json:"secnonce"`
	SecNonces    []vectors.Hex   `json:"secnonces"`
	PubNonces    []vectors.Hex   `json:"pnonces"`
	AggNonce     vectors.Hex     `json:"aggnonce"`
	AggNonces    []vectors.Hex   `json:"aggnonces"`
	Tweaks       []vectors.Hex   `json:"tweaks"`
	PartialSigs  []vectors.Hex   `json:"psigs"`
	Message      vectors.Hex     `json:"msg"`
	Messages     []vectors.Hex   `json:"msgs"`
	Cases        []publishedCase `json:"test_cases"`
	Valid        []publishedCase `json:"valid_test_cases"`
	Errors       []publishedCase `json:"error_test_cases"`
	SignErrors   []publishedCase `json:"sign_error_test_cases"`
	VerifyFails  []publishedCase `json:"verify_fail_test_cases"`
	VerifyErrors []publishedCase `json:"verify_error_test_cases"`
}

type publishedCase struct {
	Keys         []int           `json:"key_indices"`
	Nonces       []int           `json:"nonce_indices"`
	PNonces      []int           `json:"pnonce_indices"`
	TweakIndices []int           `json:"tweak_indices"`
	Tweaks       []vectors.Hex   `json:"tweaks"`
	XOnly        []bool          `json:"is_xonly"`
	PartialSigs  []int           `json:"psig_indices"`
	SecNonce     int             `json:"secnonce_index"`
	AggNonce     int             `json:"aggnonce_index"`
	Message      int             `json:"msg_index"`
	Signer       int             `json:"signer_index"`
	Sig          vectors.Hex     `json:"sig"`
	AggNonceHex  vectors.Hex     `json:"aggnonce"`
	AggOther     vectors.Hex     `json:"aggothernonce"`
	Rand         vectors.Hex     `json:"rand"`
	Rand2        vectors.Hex     `json:"rand_"`
	SecretKey    vectors.Hex     `json:"sk"`
	PublicKey    vectors.Hex     `json:"pk"`
	AggregateKey vectors.Hex     `json:"aggpk"`
	MessageHex   vectors.Hex     `json:"msg"`
	ExtraInput   vectors.Hex     `json:"extra_in"`
	SecretNonce  vectors.Hex     `json:"expected_secnonce"`
	PublicNonce  vectors.Hex     `json:"expected_pubnonce"`
	Expected     json.RawMessage `json:"expected"`
	Comment      string          `json:"comment"`
	Error        *struct {
		Type         string `json:"type"`
		Signer       *int   `json:"signer"`
		Contribution string `json:"contrib"`
		Message      string `json:"message"`
	} `json:"error"`
}

// publishedErrors maps the errors that are not about contributions to kinds of
// the musig2 package.
var publishedErrors = map[string]string{
	"The tweak must be less than n.":                               "ErrInvalidTweak",
	"The result of tweaking cannot be infinity.":                   "ErrAggregateInfinity",
	"The signer's pubkey must be included in the list of pubkeys.": "ErrKeyNotInSet",
	"first secnonce value is out of range.":                        "ErrInvalidSecNonce",
}

func pick(list []vectors.Hex, indices []int) []vectors.Hex {
	var picked []vectors.Hex
	for _, i := range indices {
		picked = append(picked, list[i])
	}
	return picked
}

// convert brings a case to the project's layout, as far as all files agree.
func (p *published) convert(t *testing.T, group, operation string, c *publishedCase) vectors.BIP327Case {
	t.Helper()
	out := vectors.BIP327Case{
		Group:      group,
		Operation:  operation,
		PublicKeys: pick(p.PublicKeys, c.Keys),
		Signer:     c.Signer,
	}
	tweaks := c.Tweaks
	if tweaks == nil {
		tweaks = pick(p.Tweaks, c.TweakIndices)
	}
	for i, tweak := range tweaks {
		out.Tweaks = append(out.Tweaks, vectors.Tweak{Tweak: tweak, XOnly: c.XOnly[i]})
	}
	if c.Error != nil {
		out.Error = &vectors.Failure{Kind: "ErrInvalidContribution",
			Signer: c.Error.Signer, Contribution: c.Error.Contribution}
		if c.Error.Type == "value" {
			out.Error = &vectors.Failure{Kind: publishedErrors[c.Error.Message]}
		}
		if out.Error.Kind == "" {
			t.Fatalf("unknown error %q", c.Error.Message)
		}
	}
	return out
}

func (c *publishedCase) expected(t *testing.T) vectors.Hex {
	t.Helper()
	var h vectors.Hex
	if c.Expected != nil {
		if err := json.Unmarshal(c.Expected, &h); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func readPublished(t *testing.T, name string) *published {
	t.Helper()
	p := new(published)
	if err := vectors.ReadStrict(filepath.Join(publishedDir, name+"_vectors.json"), p); err != nil {
		t.Fatal(err)
	}
	return p
}

func publishedCases(t *testing.T) []vectors.BIP327Case {
	var all []vectors.BIP327Case
	p := readPublished(t, "key_sort")
	all = append(all, vectors.BIP327Case{Group: "keySort", Operation: "keySort", PublicKeys: p.PublicKeys, Sorted: p.Sorted})

	p = readPublished(t, "key_agg")
	for _, c := range append(p.Valid, p.Errors...) {
		out := p.convert(t, "keyAgg", "keyAgg", &c)
		out.Expected = c.expected(t)
		all = append(all, out)
	}

	p = readPublished(t, "nonce_gen")
	for _, c := range p.Cases {
		out := p.convert(t, "nonceGen", "nonceGen", &c)
		out.Rand, out.SecretKey, out.PublicKey, out.AggregateKey = c.Rand2, c.SecretKey, c.PublicKey, c.AggregateKey
		out.Message, out.ExtraInput = c.MessageHex, c.ExtraInput
		out.ExpectedSecret, out.Expected = c.SecretNonce, c.PublicNonce
		all = append(all, out)
	}

	p = readPublished(t, "nonce_agg")
	for _, c := range append(p.Valid, p.Errors...) {
		out := p.convert(t, "nonceAgg", "nonceAgg", &c)
		out.PublicNonces, out.Expected = pick(p.PubNonces, c.PNonces), c.expected(t)
		all = append(all, out)
	}

	p = readPublished(t, "sign_verify")
	for _, c := range append(p.Valid, p.SignErrors...) {
		out := p.convert(t, "signVerify", "sign", &c)
		out.SecretKey, out.SecretNonce, out.AggregateNonce = p.SecretKey, p.SecNonces[c.SecNonce], p.AggNonces[c.AggNonce]
		out.PublicNonces, out.Message, out.Expected = pick(p.PubNonces, c.Nonces), p.Messages[c.Message], c.expected(t)
		all = append(all, out)
	}
	for i, c := range append(p.VerifyFails, p.VerifyErrors...) {
		out := p.convert(t, "signVerify", "verify", &c)
		out.PartialSignature, out.PublicNonces, out.Message = c.Sig, pick(p.PubNonces, c.Nonces), p.Messages[c.Message]
		out.Invalid = i < len(p.VerifyFails)
		all = append(all, out)
	}

	p = readPublished(t, "tweak")
	for _, c := range append(p.Valid, p.Errors...) {
		out := p.convert(t, "tweak", "sign", &c)
		out.SecretKey, out.SecretNonce, out.AggregateNonce = p.SecretKey, p.SecNonce, p.AggNonce
		out.PublicNonces, out.Message, out.Expected = pick(p.PubNonces, c.Nonces), p.Message, c.expected(t)
		all = append(all, out)
	}

	p = readPublished(t, "sig_agg")
	for _, c := range append(p.Valid, p.Errors...) {
		out := p.convert(t, "sigAgg", "sigAgg", &c)
		out.AggregateNonce, out.PublicNonces = c.AggNonceHex, pick(p.PubNonces, c.Nonces)
		out.PartialSignatures, out.Message, out.Expected = pick(p.PartialSigs, c.PartialSigs), p.Message, c.expected(t)
		all = append(all, out)
	}

	p = readPublished(t, "det_sign")
	for _, c := range append(p.Valid, p.Errors...) {
		out := p.convert(t, "detSign", "detSign", &c)
		out.SecretKey, out.AggregateNonce, out.Rand, out.Message = p.SecretKey, c.AggOther, c.Rand, p.Messages[c.Message]
		if c.Expected != nil {
			var pair [2]vectors.Hex
			if err := json.Unmarshal(c.Expected, &pair); err != nil {
				t.Fatal(err)
			}
			out.ExpectedNonce, out.Expected = pair[0], pair[1]
		}
		all = append(all, out)
	}
	return all
}

// TestPublishedVectors runs the files as published, where they are at hand, and
// makes sure that the project's own table has every one of their cases.
func TestPublishedVectors(t *testing.T) {
	if _, err := os.Stat(publishedDir); err != nil {
		t.Skip("the published BIP-327 files are not beside the project; its own table of the same figures is tested in musig2")
	}
	table, err := vectors.LoadBIP327("testdata/bip327.json")
	if err != nil {
		t.Fatal(err)
	}
	cases := publishedCases(t)
	for i := range cases {
		c := &cases[i]
		t.Run(c.Group, func(t *testing.T) {
			vectors.RunBIP327(t, c)
			for j := range table {
				if table[j].Same(*c) {
					return
				}
			}
			t.Errorf("case %d is not in the project's table", i)
		})
	}
}
