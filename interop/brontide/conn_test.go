package brontide_test

import (
	"bytes"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/brontosig/brontosig/brontide"
	"github.com/btcsuite/btcd/btcec/v2"
	lnd "github.com/lightningnetwork/lnd/brontide"
	"github.com/lightningnetwork/lnd/lnwire"
)

const timeout = 20 * time.Second

// conn is what the connections of the two packages have in common.
type conn interface {
	net.Conn
	ReadNextMessage() ([]byte, error)
	ReadNextHeader() (uint32, error)
	ReadNextBody([]byte) ([]byte, error)
	WriteMessage([]byte) error
	Flush() (int, error)
	RemotePub() *btcec.PublicKey
	LocalPub() *btcec.PublicKey
	ClearPendingSend()
}

// TestNames checks that ours has every method of lnd's connections and
// listeners, with the same parameters and results.
func TestNames(t *testing.T) {
	for _, pair := range [][2]reflect.Type{
		{reflect.TypeFor[*lnd.Conn](), reflect.TypeFor[*brontide.Conn]()},
		{reflect.TypeFor[*lnd.Listener](), reflect.TypeFor[*brontide.Listener]()},
	} {
		theirs, ours := pair[0], pair[1]
		for i := range theirs.NumMethod() {
			want := theirs.Method(i)
			got, ok := ours.MethodByName(want.Name)
			if !ok {
				t.Errorf("%v has no %s", ours, want.Name)
				continue
			}
			// The first parameter is the receiver.
			if g, w := signature(got.Type), signature(want.Type); g != w {
				t.Errorf("%v.%s is %s, lnd's %s", ours, want.Name, g, w)
			}
		}
	}
}

func signature(f reflect.Type) string {
	var in, out []reflect.Type
	for i := 1; i < f.NumIn(); i++ {
		in = append(in, f.In(i))
	}
	for i := range f.NumOut() {
		out = append(out, f.Out(i))
	}
	return reflect.FuncOf(in, out, f.IsVariadic()).String()
}

// connect returns the two ends of a connection over TCP. Each side is of our
// package or of lnd's.
func connect(t testing.TB, weDial, weListen bool) (dialed, accepted conn) {
	t.Helper()
	dialer, key := lndKey(t), lndKey(t)
	var l net.Listener
	if weListen {
		l = must(brontide.NewListener(key, "127.0.0.1:0"))(t)
	} else {
		l = must(lnd.NewListener(key, "127.0.0.1:0", func(*btcec.PublicKey) (bool, error) { return true, nil }))(t)
	}
	defer l.Close()
	if weDial {
		address := &brontide.NetAddress{IdentityKey: key.PubKey(), Address: l.Addr().String()}
		dialed = must(brontide.Dial(dialer, address, timeout, net.DialTimeout))(t)
	} else {
		address := &lnwire.NetAddress{IdentityKey: key.PubKey(), Address: l.Addr()}
		dialed = must(lnd.Dial(dialer, address, timeout, net.DialTimeout))(t)
	}
	accepted = must(l.Accept())(t).(conn)
	t.Cleanup(func() { dialed.Close(); accepted.Close() })
	if !dialed.RemotePub().IsEqual(accepted.LocalPub()) || !accepted.RemotePub().IsEqual(dialed.LocalPub()) {
		t.Fatal("the two ends disagree on their keys")
	}
	return dialed, accepted
}

// TestConn sends messages both ways at the same time over TCP.
func TestConn(t *testing.T) {
	for name, weInitiate := range pairs {
		t.Run(name, func(t *testing.T) {
			ours, theirs := connect(t, weInitiate, !weInitiate)
			source := newSource(newRand(t))
			var batches [2][][]byte
			for i := range messages {
				batches[i%2] = append(batches[i%2], source.message(brontide.MaxMessageSize))
			}
			failures := make(chan error, 2)
			for i, from := range []conn{ours, theirs} {
				go func() {
					for _, message := range batches[i] {
						err := from.WriteMessage(message)
						if err == nil {
							_, err = from.Flush()
						}
						if err != nil {
							failures <- err
							return
						}
					}
					failures <- nil
				}()
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				receive(t, theirs, batches[0])
			}()
			receive(t, ours, batches[1])
			<-done
			for range 2 {
				check(t, <-failures)
			}
		})
	}
}

// receive reads whole messages and messages in two steps by turns.
func receive(t *testing.T, from conn, want [][]byte) {
	buf := make([]byte, brontide.MaxMessageSize+brontide.MACSize)
	for i, message := range want {
		var got []byte
		var err error
		if i%2 == 0 {
			got, err = from.ReadNextMessage()
		} else {
			var size uint32
			if size, err = from.ReadNextHeader(); err == nil {
				got, err = from.ReadNextBody(buf[:size])
			}
		}
		if err != nil || !bytes.Equal(got, message) {
			t.Errorf("message %d of %d bytes: got %d bytes, error %v", i, len(message), len(got), err)
			return
		}
	}
}
