//go:build !(js && wasm)

package demopeer_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/internal/demopeer"
	"github.com/brontosig/brontosig/lnpeer"
)

const timeout = 10 * time.Second

func start(t *testing.T) *demopeer.Peer {
	t.Helper()
	peer, err := demopeer.Start(slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return peer
}

func newKey(t *testing.T) *brontide.PrivKeyECDH {
	t.Helper()
	key, err := btcec.NewPrivateKey()
	if err != nil {
		t.Fatal(err)
	}
	return brontide.NewPrivKeyECDH(key)
}

func dial(t *testing.T, peer *demopeer.Peer, nodeID *btcec.PublicKey) (*brontide.Conn, error) {
	t.Helper()
	return brontide.Dial(newKey(t), &brontide.NetAddress{IdentityKey: nodeID, Address: peer.Address()}, timeout, nil)
}

func nodeKey(t *testing.T, peer *demopeer.Peer) *btcec.PublicKey {
	t.Helper()
	b, err := hex.DecodeString(peer.NodeID())
	if err != nil {
		t.Fatal(err)
	}
	key, err := btcec.ParsePubKey(b)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// exchange does init and a ping, and returns the length of the pong.
func exchange(t *testing.T, conn *brontide.Conn) uint16 {
	t.Helper()
	client, err := lnpeer.New(lnpeer.Config{})
	if err != nil {
		t.Fatal(err)
	}
	init, err := client.Start()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(init); err != nil {
		t.Fatal(err)
	}
	for {
		message, err := conn.ReadNextMessage()
		if err != nil {
			t.Fatal(err)
		}
		event, _, err := client.Receive(0, message)
		if err != nil {
			t.Fatal(err)
		}
		switch event := event.(type) {
		case *lnpeer.Init:
			if !event.Features.Has(1) {
				t.Fatal("the peer does not offer data_loss_protect")
			}
			_, ping, err := client.Ping(0, 11, 3)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := conn.Write(ping); err != nil {
				t.Fatal(err)
			}
		case *lnpeer.Pong:
			return event.Length
		}
	}
}

func TestPeer(t *testing.T) {
	before := runtime.NumGoroutine()
	peer := start(t)
	conns := make([]*brontide.Conn, 10)
	for i := range conns {
		conn, err := dial(t, peer, nodeKey(t, peer))
		if err != nil {
			t.Fatal(err)
		}
		conns[i] = conn
		if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
			t.Fatal(err)
		}
		if got := exchange(t, conn); got != 11 {
			t.Fatalf("a pong of %d bytes, want 11", got)
		}
	}
	if err := conns[0].Close(); err != nil {
		t.Fatal(err)
	}
	// A client that breaks the protocol is told why, and hung up on.
	if _, err := conns[1].Write([]byte{0x7f, 0xfe}); err != nil {
		t.Fatal(err)
	}
	message, err := conns[1].ReadNextMessage()
	if err != nil || len(message) < 2 || message[1] != lnpeer.TypeWarning {
		t.Fatalf("an unknown even message was answered with %x, %v", message, err)
	}
	if _, err := conns[1].ReadNextMessage(); !errors.Is(err, io.EOF) {
		t.Fatalf("the connection goes on after a warning: %v", err)
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
	for _, conn := range conns[2:] {
		untilEnd(t, conn)
	}
	for _, conn := range conns[1:] {
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	// A goroutine that has said it is done still needs a moment to end.
	for deadline := time.Now().Add(timeout); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines before, %d after", before, runtime.NumGoroutine())
		}
	}
}

// corked keeps what is written while it has its cork.
type corked struct {
	net.Conn
	cork bool
	held bytes.Buffer
}

func (c *corked) Write(p []byte) (int, error) {
	if c.cork {
		return c.held.Write(p)
	}
	return c.Conn.Write(p)
}

// TestCloseUnderLoad closes the peer while it works off what a client sent in
// one go. Of the answers the client has read none.
func TestCloseUnderLoad(t *testing.T) {
	for name, message := range map[string][]byte{
		"pings with long pongs": {0, lnpeer.TypePing, 0xff, 0xf0, 0, 0},
		"unknown odd messages":  {0x7f, 0xff},
	} {
		t.Run(name, func(t *testing.T) {
			peer := start(t)
			tcp, err := net.Dial("tcp", peer.Address())
			if err != nil {
				t.Fatal(err)
			}
			carrier := &corked{Conn: tcp}
			conn, err := brontide.Client(carrier, newKey(t), nodeKey(t, peer), timeout)
			if err != nil {
				t.Fatal(err)
			}
			if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
				t.Fatal(err)
			}
			exchange(t, conn)
			carrier.cork = true
			for range 20000 {
				if _, err := conn.Write(message); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := carrier.held.WriteTo(tcp); err != nil {
				t.Fatal(err)
			}
			if err := peer.Close(); err != nil {
				t.Fatal(err)
			}
			untilEnd(t, conn)
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// untilEnd reads messages until the connection ends.
func untilEnd(t *testing.T, conn *brontide.Conn) {
	t.Helper()
	for {
		_, err := conn.ReadNextMessage()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a connection outlived the peer")
		}
		if err != nil {
			return
		}
	}
}

func TestWrongNodeKey(t *testing.T) {
	peer := start(t)
	_, err := dial(t, peer, newKey(t).PubKey())
	if !errors.Is(err, brontide.ErrNotAnswered) {
		t.Fatalf("got %v, want ErrNotAnswered", err)
	}
	if err := peer.Close(); err != nil {
		t.Fatal(err)
	}
}
