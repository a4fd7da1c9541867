//go:build !(js && wasm)

// Package demopeer is a Lightning peer for demonstrations and tests: it listens
// on loopback, accepts any key, exchanges init and answers pings. It knows
// nothing of channels and holds no funds.
package demopeer

import (
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/internal/curve"
	"github.com/brontosig/brontosig/lnpeer"
)

// idleTimeout ends a connection on which nothing came for so long, as lnd does,
// or whose other side takes nothing for so long.
const idleTimeout = 5 * time.Minute

// Peer is a running peer.
type Peer struct {
	listener *brontide.Listener
	nodeID   string
	log      *slog.Logger

	running sync.WaitGroup
	mu      sync.Mutex
	closed  bool
	conns   map[net.Conn]bool
}

// Start runs a peer with a fresh key on a free port of 127.0.0.1.
func Start(log *slog.Logger) (*Peer, error) {
	key, err := btcec.NewPrivateKey()
	if err != nil {
		return nil, err
	}
	p := &Peer{
		nodeID: hex.EncodeToString(curve.PublicKey(key).SerializeCompressed()),
		log:    log,
		conns:  make(map[net.Conn]bool),
	}
	p.listener, err = brontide.NewListener(brontide.NewPrivKeyECDH(key), "127.0.0.1:0",
		brontide.OnHandshakeError(func(_ net.Addr, err error) {
			log.Info("demo peer: handshake failed", "err", err)
		}))
	if err != nil {
		return nil, err
	}
	p.running.Add(1)
	go p.accept()
	return p, nil
}

// NodeID returns the public key as 66 hex digits.
func (p *Peer) NodeID() string { return p.nodeID }

// Address returns where the peer listens, as host:port.
func (p *Peer) Address() string { return p.listener.Addr().String() }

// Close ends the peer and all its connections. When it returns, nothing of them
// is left.
func (p *Peer) Close() error {
	p.mu.Lock()
	p.closed = true
	errs := []error{p.listener.Close()}
	for conn := range p.conns {
		// Ends the goroutine that serves it, wherever that is.
		errs = append(errs, conn.Close())
	}
	p.mu.Unlock()
	p.running.Wait()
	return errors.Join(errs...)
}

func (p *Peer) accept() {
	defer p.running.Done()
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				p.log.Error("demo peer: cannot accept", "err", err)
			}
			return
		}
		if !p.add(conn) {
			continue
		}
		go func() {
			defer p.running.Done()
			err := serve(conn.(*brontide.Conn))
			p.remove(conn)
			p.ended(errors.Join(err, conn.Close()))
		}()
	}
}

// add registers a connection, or closes it if the peer is about to end.
func (p *Peer) add(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		p.ended(conn.Close())
		return false
	}
	p.conns[conn] = true
	p.running.Add(1)
	return true
}

func (p *Peer) remove(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, conn)
}

// ended reports why a connection ended, unless the peer itself did it.
func (p *Peer) ended(err error) {
	if err != nil && !errors.Is(err, net.ErrClosed) {
		p.log.Info("demo peer: connection ended", "err", err)
	}
}

// serve speaks BOLT-1 until the other side ends the connection, which is no
// error.
func serve(conn *brontide.Conn) error {
	peer, err := lnpeer.New(lnpeer.Config{})
	if err != nil {
		return err
	}
	started := time.Now()
	reply, failure := peer.Start()
	for {
		if err := conn.SetDeadline(time.Now().Add(idleTimeout)); err != nil {
			return err
		}
		if reply != nil {
			// No message of this protocol is empty, so Write sends exactly one.
			if _, err := conn.Write(reply); err != nil {
				return errors.Join(failure, err)
			}
		}
		if failure != nil {
			return failure
		}
		message, err := conn.ReadNextMessage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// Events are for applications, and this one has no use for any.
		_, reply, failure = peer.Receive(lnpeer.Millis(time.Since(started).Milliseconds()), message)
	}
}
