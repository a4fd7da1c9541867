//go:build !(js && wasm)

package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// statusTimeout bounds each request to the status listener.
const statusTimeout = 10 * time.Second

func newRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// status serves what operators ask: whether the program lives, whether it takes
// connections, and its metrics.
type status struct {
	server http.Server
	served chan error
}

func startStatus(l net.Listener, ready func() bool, registry *prometheus.Registry) *status {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "ok\n") // whoever asked may be gone
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !ready() {
			http.Error(w, "the bridge is full or shutting down", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "ok\n")
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	s := &status{
		server: http.Server{
			Handler:           mux,
			ReadHeaderTimeout: statusTimeout, ReadTimeout: statusTimeout,
			WriteTimeout: statusTimeout, IdleTimeout: statusTimeout,
			MaxHeaderBytes: 16 << 10,
		},
		served: make(chan error, 1),
	}
	go func() { s.served <- s.server.Serve(l) }()
	return s
}

// stop ends the listener, after the answers that are being given.
func (s *status) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if s.server.Shutdown(ctx) != nil {
		_ = s.server.Close()
	}
	if err := <-s.served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
