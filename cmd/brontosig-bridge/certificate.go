//go:build !(js && wasm)

package main

import (
	"crypto/tls"
	"sync/atomic"
)

// certificate is the server's, which can be replaced while connections are open.
type certificate struct {
	chain, key string
	current    atomic.Pointer[tls.Certificate]
}

// loadCertificate reads a certificate from files.
func loadCertificate(chain, key string) (*certificate, error) {
	c := &certificate{chain: chain, key: key}
	return c, c.reload()
}

// reload reads the files again. When it fails, the certificate stays.
func (c *certificate) reload() error {
	loaded, err := tls.LoadX509KeyPair(c.chain, c.key)
	if err != nil {
		return err
	}
	c.current.Store(&loaded)
	return nil
}

func (c *certificate) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return c.current.Load(), nil
		},
	}
}
