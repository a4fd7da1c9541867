//go:build !js

package bridge

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"
)

const (
	// headerTimeout bounds how long a client may take to send a request, and
	// for TLS before that again.
	headerTimeout = 10 * time.Second

	// maxHeaderBytes bounds the request's headers. Browsers send less than 2 KiB.
	maxHeaderBytes = 16 << 10
)

// Server serves a Bridge on a listener of its own, with the bounds that keep
// clients which have not become a WebSocket from exhausting it.
type Server struct {
	bridge *Bridge
	http   http.Server
	inner  *listener
}

// NewServer makes a Server. With a tlsConfig it serves wss, else ws. It takes the
// listener over.
func NewServer(b *Bridge, l *net.TCPListener, tlsConfig *tls.Config) *Server {
	return newServer(b, l, tlsConfig, headerTimeout)
}

func newServer(b *Bridge, l *net.TCPListener, tlsConfig *tls.Config, timeout time.Duration) *Server {
	s := &Server{bridge: b}
	s.inner = newListener(l, func(addr netip.Addr) bool { return b.rules.Load().gate.proxies.contain(addr) })
	s.http = http.Server{
		Handler:           b,
		ReadHeaderTimeout: timeout,
		// For bodies that nobody reads, and answers that nobody takes. What is
		// upgraded has its own limits: hijacking removes these.
		ReadTimeout:    timeout,
		WriteTimeout:   b.settings.dialTimeout + 2*timeout,
		MaxHeaderBytes: maxHeaderBytes,
		ErrorLog:       slog.NewLogLogger(b.log.Handler(), slog.LevelDebug),
		ConnState:      s.inner.requestCame,
		TLSConfig:      tlsConfig,
		Protocols:      new(http.Protocols),
	}
	// In HTTP/2 a WebSocket is another thing, which browsers use only where it
	// is announced.
	s.http.Protocols.SetHTTP1(true)
	// One request for a connection: a client that was refused has no use for it.
	s.http.SetKeepAlivesEnabled(false)
	return s
}

// Serve accepts clients until Shutdown, and returns nil then.
func (s *Server) Serve() error {
	var err error
	if s.http.TLSConfig != nil {
		err = s.http.ServeTLS(s.inner, "", "")
	} else {
		err = s.http.Serve(s.inner)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown ends the open connections in good order, and then the listener: in
// between, clients are told that the bridge is shutting down. When ctx ends
// before that, what is left is cut off, and the error of ctx is returned.
func (s *Server) Shutdown(ctx context.Context) error {
	err := s.bridge.Shutdown(ctx)
	if late := s.http.Shutdown(ctx); late != nil {
		// Some client has not sent its request. It has had its time.
		err = errors.Join(err, s.http.Close())
	}
	return err
}
