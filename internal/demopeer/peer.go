//go:build !(js && wasm)

// Package demopeer is a Lightning peer for demonstrations and tests: it listens
// on loopback, accepts any key, exchanges init, answers pings, and serves a few
// harmless methods over commando to whoever has its rune. It knows nothing of
// channels and holds no funds.
package demopeer

import (
	"crypto/rand"
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

// customTypes is where the types begin that BOLT-1 leaves to everybody. The peer
// sends such messages back.
const customTypes = 32768

// Peer is a running peer.
type Peer struct {
	listener *brontide.Listener
	nodeID   string
	rune     string
	log      *slog.Logger

	running sync.WaitGroup
	mu      sync.Mutex
	closed  bool
	conns   map[net.Conn]bool
	// partials are the commando requests that are not complete, oldest first.
	partials []*partial
}

// Start runs a peer with a fresh key on a free port of 127.0.0.1.
func Start(log *slog.Logger) (*Peer, error) {
	key, err := btcec.NewPrivateKey()
	if err != nil {
		return nil, err
	}
	p := &Peer{
		nodeID: hex.EncodeToString(curve.PublicKey(key).SerializeCompressed()),
		// It looks like a rune and is none: nothing restricts it.
		rune:  rand.Text(),
		log:   log,
		conns: make(map[net.Conn]bool),
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

// Rune returns what allows commando calls. It is another one for each Peer.
func (p *Peer) Rune() string { return p.rune }

// Address returns where the peer listens, as host:port.
func (p *Peer) Address() string { return p.listener.Addr().String() }

// Close ends the peer and all its connections. When it returns, nothing of them
// is left.
func (p *Peer) Close() error {
	p.mu.Lock()
	p.closed = true
	err := p.listener.Close()
	for conn := range p.conns {
		// Ends the goroutine that serves it, wherever that is. A client that hung
		// up while a message was on its way is no failure of the peer's.
		p.ended(conn.Close())
	}
	p.mu.Unlock()
	p.running.Wait()
	return err
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
			p.ended(p.serve(conn.(*brontide.Conn)))
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
// error. When it returns, nothing of the connection is left.
func (p *Peer) serve(conn *brontide.Conn) error {
	calls := newCommando(p, func(msg []byte) error {
		_, err := conn.Write(msg)
		return err
	})
	err := p.converse(conn, calls)
	p.remove(conn)
	err = errors.Join(err, conn.Close())
	calls.end()
	return err
}

func (p *Peer) converse(conn *brontide.Conn, calls *commando) error {
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
		var event lnpeer.Event
		event, reply, failure = peer.Receive(lnpeer.Millis(time.Since(started).Milliseconds()), message)
		if received, ok := event.(*lnpeer.Message); ok {
			calls.receive(received.Type, received.Payload)
			if received.Type >= customTypes {
				reply = message
			}
		}
	}
}
