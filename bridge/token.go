//go:build !js

package bridge

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"strings"
)

const (
	// subprotocol is what the bridge selects of the subprotocols that a client
	// offers: a browser fails a connection for which none was selected.
	subprotocol = "brontosig"

	// tokenSubprotocol is the start of a subprotocol that carries a token, in
	// base64url without padding. A page can set no header, but this.
	tokenSubprotocol = subprotocol + ".token."

	// minTokenSize is the least length of a token, in bytes. A random one of
	// this length cannot be guessed.
	minTokenSize = 16
)

// tokens are the hashes of what clients may show. Hashes have one length, so a
// comparison tells nothing about a token's.
type tokens [][sha256.Size]byte

func newTokens(list []string) (tokens, error) {
	var t tokens
	for _, token := range list {
		// Nothing of a token is repeated: errors end up in logs.
		if len(token) < minTokenSize {
			return nil, Error{ErrInvalidToken, "a token has fewer than 16 characters"}
		}
		for _, c := range []byte(token) {
			if c <= ' ' || c > '~' || c == ',' {
				return nil, Error{ErrInvalidToken, "a token may hold printable ASCII characters only, and no space or comma"}
			}
		}
		t = append(t, sha256.Sum256([]byte(token)))
	}
	return t, nil
}

// contain compares a token with every one of the list.
func (t tokens) contain(token string) bool {
	sum := sha256.Sum256([]byte(token))
	found := 0
	for i := range t {
		found |= subtle.ConstantTimeCompare(t[i][:], sum[:])
	}
	return found == 1
}

// offeredToken returns the token of a request, or the empty string, which is
// none. A request that brings two has none.
func offeredToken(h http.Header) string {
	var found []string
	for _, value := range h.Values("Authorization") {
		scheme, token, _ := strings.Cut(value, " ")
		if strings.EqualFold(scheme, "Bearer") {
			found = append(found, strings.TrimSpace(token))
		}
	}
	for _, line := range h.Values("Sec-Websocket-Protocol") {
		for item := range strings.SplitSeq(line, ",") {
			encoded, ok := strings.CutPrefix(strings.TrimSpace(item), tokenSubprotocol)
			if !ok {
				continue
			}
			token, err := base64.RawURLEncoding.Strict().DecodeString(encoded)
			if err != nil {
				return ""
			}
			found = append(found, string(token))
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
