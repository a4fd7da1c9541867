//go:build !(js && wasm)

package brontide

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/net/nettest"
)

// testTimeout is for steps that end at once unless something is broken.
const testTimeout = 20 * time.Second

// tcpPair returns the two ends of a TCP connection.
func tcpPair(t testing.TB) (dialed, accepted net.Conn) {
	t.Helper()
	l := must[net.Listener](t)(net.Listen("tcp", "127.0.0.1:0"))
	defer l.Close()
	dialed = must[net.Conn](t)(net.Dial("tcp", l.Addr().String()))
	return dialed, must[net.Conn](t)(l.Accept())
}

func pipePair(testing.TB) (net.Conn, net.Conn) { return net.Pipe() }

// secure does the handshake over two ends of a carrier.
func secure(t testing.TB, a, b net.Conn) (client, server *Conn) {
	t.Helper()
	key := newKey(t)
	failed := make(chan error, 1)
	go func() {
		var err error
		server, err = Server(b, key, testTimeout)
		failed <- err
	}()
	client = must[*Conn](t)(Client(a, newKey(t), key.PubKey(), testTimeout))
	requireNil(t, <-failed)
	return client, server
}

// securePair makes the carrier too.
func securePair(t testing.TB, pair func(testing.TB) (net.Conn, net.Conn)) (client, server *Conn) {
	t.Helper()
	a, b := pair(t)
	return secure(t, a, b)
}

var carriers = map[string]func(testing.TB) (net.Conn, net.Conn){"TCP": tcpPair, "Pipe": pipePair}

func TestConn(t *testing.T) {
	for name, pair := range carriers {
		t.Run(name, func(t *testing.T) {
			nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
				client, server := securePair(t, pair)
				return client, server, func() { client.Close(); server.Close() }, nil
			})
		})
	}
}

func TestConnMessages(t *testing.T) {
	client, server := securePair(t, tcpPair)
	defer client.Close()
	defer server.Close()
	if !server.RemotePub().IsEqual(client.LocalPub()) || !client.RemotePub().IsEqual(server.LocalPub()) {
		t.Fatal("the two ends disagree on their keys")
	}
	for _, message := range [][]byte{{}, []byte("hello"), bytes.Repeat([]byte{1}, MaxMessageSize)} {
		sent := make(chan error, 1)
		go func() {
			err := client.WriteMessage(message)
			if err == nil {
				_, err = client.Flush()
			}
			sent <- err
		}()
		requireBytes(t, "message", must[[]byte](t)(server.ReadNextMessage()), message)
		requireNil(t, <-sent)
	}
	requireKind(t, "too long", client.WriteMessage(make([]byte, MaxMessageSize+1)), ErrMaxMessageLengthExceeded)
}

// TestConnReadAcrossMessages reads a stream whose messages are empty, short and
// long, in pieces that do not fit them.
func TestConnReadAcrossMessages(t *testing.T) {
	client, server := securePair(t, tcpPair)
	defer server.Close()
	data := randomBytes(seededRand(t), 3*MaxMessageSize)
	sent := make(chan error, 1)
	go func() {
		err := client.WriteMessage(nil)
		if err == nil {
			_, err = client.Write(data)
		}
		sent <- errors.Join(err, client.Close())
	}()
	got := must[[]byte](t)(io.ReadAll(server))
	requireNil(t, <-sent)
	if !bytes.Equal(got, data) {
		t.Fatalf("%d bytes differ from the %d sent", len(got), len(data))
	}
}

func TestConnMixedReads(t *testing.T) {
	client, server := securePair(t, tcpPair)
	defer client.Close()
	defer server.Close()
	must[int](t)(client.Write([]byte("head and tail")))
	if n := must[int](t)(server.Read(nil)); n != 0 {
		t.Fatalf("an empty Read returned %d", n)
	}
	var head [5]byte
	must[int](t)(server.Read(head[:]))
	requireBytes(t, "rest", must[[]byte](t)(server.ReadNextMessage()), []byte("and tail"))
}

// TestConnReadDeadline lets a deadline pass after every byte of a message.
func TestConnReadDeadline(t *testing.T) {
	carrier, far := net.Pipe()
	client, server := secure(t, carrier, far)
	defer client.Close()
	defer server.Close()
	requireNil(t, client.machine.WriteMessage([]byte("patience")))
	packet := client.machine.out.packet

	for _, b := range packet[:len(packet)-1] {
		read := make(chan error, 1)
		go func() {
			_, err := server.ReadNextMessage()
			read <- err
		}()
		// The pipe hands the byte over within this Write.
		must[int](t)(carrier.Write([]byte{b}))
		requireNil(t, server.SetReadDeadline(time.Unix(1, 0)))
		if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %v, want a timeout", err)
		}
		requireNil(t, server.SetReadDeadline(time.Time{}))
	}
	go carrier.Write(packet[len(packet)-1:])
	requireBytes(t, "message", must[[]byte](t)(server.ReadNextMessage()), []byte("patience"))
}

// TestConnWriteDeadline stops a Write in the middle of its packet; what follows
// must finish that packet first.
func TestConnWriteDeadline(t *testing.T) {
	for name, finish := range map[string]func(*Conn) error{
		"Flush": func(c *Conn) error { _, err := c.Flush(); return err },
		"Write": func(c *Conn) error { _, err := c.Write([]byte{}); return err },
		"Close": (*Conn).Close,
	} {
		carrier, far := net.Pipe()
		client, server := secure(t, carrier, far)
		written := make(chan error, 1)
		go func() {
			n, err := client.Write([]byte("counted"))
			if n != 7 {
				err = errors.Join(err, errors.New("the message does not count as accepted"))
			}
			written <- err
		}()
		var start [3]byte
		must[int](t)(io.ReadFull(far, start[:]))
		requireNil(t, client.SetWriteDeadline(time.Unix(1, 0)))
		if err := <-written; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%s: got %v, want a timeout", name, err)
		}
		if n, err := client.Write([]byte("more")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("%s: Write past the deadline returned %d, %v", name, n, err)
		}
		requireNil(t, client.SetDeadline(time.Time{}))

		finished := make(chan error, 1)
		go func() { finished <- finish(client) }()
		message, err := server.machine.ReadMessage(io.MultiReader(bytes.NewReader(start[:]), far))
		requireNil(t, err)
		requireBytes(t, name, message, []byte("counted"))
		requireNil(t, <-finished)
		client.Close()
		server.Close()
	}
}

// TestConnClose checks that Close ends a Read and a Write under way, is
// idempotent, and that nothing works after it.
func TestConnClose(t *testing.T) {
	for name, pair := range carriers {
		client, server := securePair(t, pair)
		ended := make(chan error, 2)
		reading := make(chan struct{})
		go func() {
			close(reading)
			_, err := client.Read(make([]byte, 1))
			ended <- err
		}()
		go func() {
			<-reading
			var err error
			for err == nil {
				_, err = client.Write(make([]byte, MaxMessageSize))
			}
			ended <- err
		}()
		<-reading
		requireNil(t, client.Close())
		for range 2 {
			if err := <-ended; !errors.Is(err, net.ErrClosed) {
				t.Fatalf("%s: got %v, want net.ErrClosed", name, err)
			}
		}
		requireNil(t, client.Close())
		_, err := client.Read(make([]byte, 1))
		_, writeErr := client.Write([]byte{1})
		_, flushErr := client.Flush()
		for _, err := range []error{err, writeErr, flushErr, client.WriteMessage(nil)} {
			if !errors.Is(err, net.ErrClosed) {
				t.Fatalf("%s: after Close: %v", name, err)
			}
		}
		if client.machine.in.cipher != (cipherState{}) || client.machine.out.cipher != (cipherState{}) {
			t.Fatal("keys left after Close")
		}
		server.Close()
	}
}

func TestConnCloseWrite(t *testing.T) {
	client, server := securePair(t, tcpPair)
	defer client.Close()
	defer server.Close()
	must[int](t)(client.Write([]byte("last words")))
	requireNil(t, client.CloseWrite())
	requireBytes(t, "stream", must[[]byte](t)(io.ReadAll(server)), []byte("last words"))
	must[int](t)(server.Write([]byte("heard")))
	requireBytes(t, "answer", must[[]byte](t)(client.ReadNextMessage()), []byte("heard"))

	piped, far := securePair(t, pipePair)
	defer piped.Close()
	defer far.Close()
	if err := piped.CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("over a pipe: %v", err)
	}
}

// TestConnMAC checks that a forged byte ends both the machine and the carrier.
func TestConnMAC(t *testing.T) {
	carrier, far := tcpPair(t)
	client, server := secure(t, carrier, far)
	defer client.Close()
	defer server.Close()
	must[int](t)(carrier.Write(make([]byte, HeaderSize)))
	_, err := server.Read(make([]byte, 1))
	requireKind(t, "forged header", err, ErrMAC)
	_, err = server.Write([]byte{1})
	requireKind(t, "write after it", err, ErrPoisoned)
	if _, err := client.Read(make([]byte, 1)); err == nil {
		t.Fatal("the carrier is still open")
	}
}

func TestConnTruncated(t *testing.T) {
	carrier, far := tcpPair(t)
	client, server := secure(t, carrier, far)
	defer server.Close()
	requireNil(t, client.machine.WriteMessage([]byte("cut short")))
	must[int](t)(carrier.Write(client.machine.out.packet[:20]))
	requireNil(t, carrier.Close())
	if _, err := io.ReadAll(server); err != io.ErrUnexpectedEOF {
		t.Fatalf("got %v, want io.ErrUnexpectedEOF", err)
	}
}

// TestHandshakeFailures has one side fail in every act.
func TestHandshakeFailures(t *testing.T) {
	f := loadFigures(t)
	for name, c := range map[string]struct {
		server bool
		// peer plays the other side and then hangs up, unless it stalls.
		peer  func(net.Conn)
		stall bool
		want  error
	}{
		"client: hang-up after act one": {false, func(c net.Conn) { io.ReadFull(c, make([]byte, ActOneSize)) }, false, ErrNotAnswered},
		"client: hang-up in act two": {false, func(c net.Conn) {
			io.ReadFull(c, make([]byte, ActOneSize))
			c.Write(f.Acts[1][:20])
		}, false, ErrTruncated},
		"client: another's act two": {false, func(c net.Conn) {
			io.ReadFull(c, make([]byte, ActOneSize))
			c.Write(f.Acts[1])
		}, false, ErrMAC},
		"client: silence":                 {false, func(c net.Conn) { io.ReadFull(c, make([]byte, ActOneSize)) }, true, os.ErrDeadlineExceeded},
		"server: hang-up at once":         {true, func(net.Conn) {}, false, ErrTruncated},
		"server: hang-up in act one":      {true, func(c net.Conn) { c.Write(f.Acts[0][:49]) }, false, ErrTruncated},
		"server: act one for another key": {true, func(c net.Conn) { c.Write(f.Acts[0]) }, false, ErrMAC},
		"server: silence":                 {true, func(net.Conn) {}, true, os.ErrDeadlineExceeded},
	} {
		near, far := tcpPair(t)
		played := make(chan struct{})
		go func() {
			defer close(played)
			c.peer(far)
			if !c.stall {
				far.Close()
			}
		}()
		timeout := testTimeout
		if c.stall {
			timeout = 20 * time.Millisecond
		}
		var conn *Conn
		var err error
		if c.server {
			conn, err = Server(near, newKey(t), timeout)
		} else {
			conn, err = Client(near, newKey(t), newKey(t).PubKey(), timeout)
		}
		if conn != nil || !errors.Is(err, c.want) {
			t.Fatalf("%s: got %v, want %v", name, err, c.want)
		}
		<-played
		if _, err := near.Write([]byte{1}); !errors.Is(err, net.ErrClosed) {
			t.Fatalf("%s: the carrier is still open: %v", name, err)
		}
		far.Close()
	}

	near, far := net.Pipe()
	defer far.Close()
	_, err := Client(near, newKey(t), nil, 0)
	requireKind(t, "no remote key", err, ErrArgument)
	_, err = Server(near, nil, 0)
	requireKind(t, "no local key", err, ErrArgument)
}
