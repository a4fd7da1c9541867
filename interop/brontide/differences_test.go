package brontide_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/brontosig/brontosig/brontide"
	"github.com/btcsuite/btcd/btcec/v2"
	lnd "github.com/lightningnetwork/lnd/brontide"
)

// The tests here hold what the documentation of our package says that lnd's does
// in another way, on both sides. One that fails may mean that lnd has changed.

// TestFailedDecryption has a forged packet come before a genuine one.
func TestFailedDecryption(t *testing.T) {
	// The packet is the third and fourth operation of the sender's cipher. lnd
	// counts a refused header as one; two of them bring it there.
	forged := make([]byte, brontide.HeaderSize)
	for name, weInitiate := range pairs {
		ours, theirs := shaken(t, weInitiate)
		for _, m := range []struct{ from, to machine }{{ours, theirs}, {theirs, ours}} {
			check(t, m.from.WriteMessage(nil))
			must(m.from.Flush(io.Discard))(t)
			var wire bytes.Buffer
			check(t, m.from.WriteMessage([]byte("genuine")))
			must(m.from.Flush(&wire))(t)
			for range 2 {
				if _, err := m.to.ReadHeader(bytes.NewReader(forged)); err == nil {
					t.Fatalf("%s: a forged header passed", name)
				}
			}
			message, err := m.to.ReadMessage(&wire)
			if m.to == machine(theirs) {
				if string(message) != "genuine" {
					t.Errorf("%s: lnd did not go on: %v", name, err)
				}
			} else if !errors.Is(err, brontide.ErrPoisoned) {
				t.Errorf("%s: ours went on: %q, %v", name, message, err)
			}
		}
	}
}

// TestDeadlineInHeader has a deadline pass inside a header.
func TestDeadlineInHeader(t *testing.T) {
	ours, theirs := shaken(t, true)
	for _, m := range []struct{ from, to machine }{{ours, theirs}, {theirs, ours}} {
		var wire bytes.Buffer
		check(t, m.from.WriteMessage([]byte("late")))
		must(m.from.Flush(&wire))(t)
		packet := wire.Bytes()
		cut := io.MultiReader(bytes.NewReader(packet[:7]), failing{})
		if _, err := m.to.ReadMessage(cut); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %v, want a timeout", err)
		}
		message, err := m.to.ReadMessage(bytes.NewReader(packet[7:]))
		if m.to == machine(theirs) {
			if err == nil {
				t.Errorf("lnd has lost nothing: %q", message)
			}
		} else if string(message) != "late" {
			t.Errorf("ours has lost bytes: %v", err)
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// TestEmptyMessage reads an empty message and another as a stream.
func TestEmptyMessage(t *testing.T) {
	ours, theirs := connect(t, true, false)
	for _, c := range []struct{ from, to conn }{{ours, theirs}, {theirs, ours}} {
		for _, message := range []string{"", "more"} {
			check(t, c.from.WriteMessage([]byte(message)))
			must(c.from.Flush())(t)
		}
		buf := make([]byte, 10)
		n, err := c.to.Read(buf)
		if c.to == theirs {
			if n != 0 || err != io.EOF {
				t.Errorf("lnd: %d, %v", n, err)
			}
		} else if err != nil || string(buf[:n]) != "more" {
			t.Errorf("ours: %q, %v", buf[:n], err)
		}
	}
}

// TestSlots establishes as many connections as lnd has slots, accepts none, and
// tries one more.
func TestSlots(t *testing.T) {
	const slots = 50
	key := lndKey(t)
	listeners := map[string]net.Listener{
		"lnd":  must(lnd.NewListener(key, "127.0.0.1:0", func(*btcec.PublicKey) (bool, error) { return true, nil }))(t),
		"ours": must(brontide.NewListener(key, "127.0.0.1:0", brontide.AcceptPeer(func(*btcec.PublicKey, net.Addr) bool { return true })))(t),
	}
	for name, l := range listeners {
		defer l.Close()
		address := &brontide.NetAddress{IdentityKey: key.PubKey(), Address: l.Addr().String()}
		for range slots {
			conn := must(brontide.Dial(lndKey(t), address, timeout, nil))(t)
			defer conn.Close()
		}
		wait := timeout
		if name == "lnd" {
			wait = 500 * time.Millisecond
		}
		conn, err := brontide.Dial(lndKey(t), address, wait, nil)
		switch {
		case name == "lnd" && !errors.Is(err, os.ErrDeadlineExceeded):
			t.Errorf("lnd has room for one more: %v", err)
		case name == "ours":
			must(conn, err)(t).Close()
		}
	}
}
