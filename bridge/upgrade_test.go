//go:build !js

package bridge

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestCheckUpgrade(t *testing.T) {
	good := func() *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header.Set("Connection", "keep-alive, Upgrade")
		r.Header.Set("Upgrade", "WebSocket")
		r.Header.Set("Sec-WebSocket-Version", "13")
		r.Header.Set("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")
		return r
	}
	for _, tc := range []struct {
		about  string
		change func(r *http.Request)
		want   error
	}{
		{"good", func(*http.Request) {}, nil},
		{"no Connection", func(r *http.Request) { r.Header.Del("Connection") }, refusedNoUpgrade},
		{"other Connection", func(r *http.Request) { r.Header.Set("Connection", "close") }, refusedNoUpgrade},
		{"no Upgrade", func(r *http.Request) { r.Header.Del("Upgrade") }, refusedNoUpgrade},
		{"other Upgrade", func(r *http.Request) { r.Header.Set("Upgrade", "h2c") }, refusedNoUpgrade},
		{"POST", func(r *http.Request) { r.Method = http.MethodPost }, refusedNoUpgrade},
		{"HTTP/1.0", func(r *http.Request) { r.ProtoMajor, r.ProtoMinor = 1, 0 }, refusedNoUpgrade},
		{"no version", func(r *http.Request) { r.Header.Del("Sec-WebSocket-Version") }, refusedHandshake},
		{"version 8", func(r *http.Request) { r.Header.Set("Sec-WebSocket-Version", "8") }, refusedHandshake},
		{"no key", func(r *http.Request) { r.Header.Del("Sec-WebSocket-Key") }, refusedHandshake},
		{"two keys", func(r *http.Request) { r.Header.Add("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==") }, refusedHandshake},
		{"short key", func(r *http.Request) { r.Header.Set("Sec-WebSocket-Key", "c2hvcnQ=") }, refusedHandshake},
		{"no base64", func(r *http.Request) { r.Header.Set("Sec-WebSocket-Key", "*") }, refusedHandshake},
	} {
		t.Run(tc.about, func(t *testing.T) {
			r := good()
			tc.change(r)
			if err := checkUpgrade(r); !errors.Is(err, tc.want) {
				t.Errorf("got %v, want %v", err, tc.want)
			}
		})
	}
}
