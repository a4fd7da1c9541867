//go:build !(js && wasm)

package demopeer_test

import (
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
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
		event, _, err := client.Receive(message)
		if err != nil {
			t.Fatal(err)
		}
		switch event := event.(type) {
		case *lnpeer.Init:
			if !event.Features.Has(1) {
				t.Fatal("the peer does not offer data_loss_protect")
			}
			ping, err := client.Ping(11, 3)
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
		if _, err := conn.ReadNextMessage(); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("a connection outlived the peer: %v", err)
		}
	}
	for _, conn := range conns[1:] {
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after := runtime.NumGoroutine(); after > before {
		t.Fatalf("%d goroutines before, %d after", before, after)
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
