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

// TestConnReadDeadline lets a deadline pass after every byte of a message, for
// each way to read one.
func TestConnReadDeadline(t *testing.T) {
	buf := make([]byte, 100)
	for name, read := range map[string]func(*Conn) ([]byte, error){
		"ReadNextMessage":   (*Conn).ReadNextMessage,
		"AppendNextMessage": func(c *Conn) ([]byte, error) { return c.AppendNextMessage(nil) },
		"Read": func(c *Conn) ([]byte, error) {
			n, err := c.Read(buf)
			return buf[:n], err
		},
		"Read in parts": func(c *Conn) ([]byte, error) {
			// The first Read waits for the message, the second has the rest.
			n, err := c.Read(buf[:3])
			if err == nil {
				var more int
				more, err = c.Read(buf[n:])
				n += more
			}
			return buf[:n], err
		},
		"ReadNextHeader and ReadNextBody": func(c *Conn) ([]byte, error) {
			size, err := c.ReadNextHeader()
			if err != nil {
				return nil, err
			}
			// Another buffer each time.
			return c.ReadNextBody(make([]byte, size))
		},
	} {
		t.Run(name, func(t *testing.T) { testReadDeadline(t, read) })
	}
}

func testReadDeadline(t *testing.T, read func(*Conn) ([]byte, error)) {
	carrier, far := net.Pipe()
	client, server := secure(t, carrier, far)
	defer client.Close()
	defer server.Close()
	requireNil(t, client.machine.WriteMessage([]byte("patience")))
	packet := client.machine.out.packet

	for _, b := range packet[:len(packet)-1] {
		ended := make(chan error, 1)
		go func() {
			_, err := read(server)
			ended <- err
		}()
		// The pipe hands the byte over within this Write.
		must[int](t)(carrier.Write([]byte{b}))
		requireNil(t, server.SetReadDeadline(time.Unix(1, 0)))
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %v, want a timeout", err)
		}
		requireNil(t, server.SetReadDeadline(time.Time{}))
	}
	go carrier.Write(packet[len(packet)-1:])
	requireBytes(t, "message", must[[]byte](t)(read(server)), []byte("patience"))
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

// TestConnFarDeadlines sets write deadlines that do not fit into nanoseconds
// since 1970, and the first of these.
func TestConnFarDeadlines(t *testing.T) {
	client, server := securePair(t, tcpPair)
	defer client.Close()
	defer server.Close()
	requireNil(t, client.SetWriteDeadline(time.Date(2600, 1, 1, 0, 0, 0, 0, time.UTC)))
	must[int](t)(client.Write([]byte("in time")))
	requireBytes(t, "message", must[[]byte](t)(server.ReadNextMessage()), []byte("in time"))
	for _, past := range []time.Time{time.Unix(0, 0), time.Date(1500, 1, 1, 0, 0, 0, 0, time.UTC)} {
		requireNil(t, client.SetWriteDeadline(past))
		if n, err := client.Write([]byte("too late")); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("deadline %v: %d, %v", past, n, err)
		}
	}
}

// countingConn counts the writes to a carrier and keeps its deadline.
type countingConn struct {
	net.Conn
	writes   int
	deadline time.Time
}

func (c *countingConn) SetDeadline(t time.Time) error {
	c.deadline = t
	return c.Conn.SetDeadline(t)
}

func (c *countingConn) Write(p []byte) (int, error) {
	c.writes++
	return c.Conn.Write(p)
}

func TestConnOneWritePerMessage(t *testing.T) {
	a, b := tcpPair(t)
	counting := &countingConn{Conn: a}
	client, server := secure(t, counting, b)
	defer client.Close()
	defer server.Close()
	if !counting.deadline.IsZero() {
		t.Fatal("the deadline of the handshake outlives it")
	}
	counting.writes = 0
	for i, size := range []int{0, 1, 1000, MaxMessageSize} {
		requireNil(t, client.WriteMessage(make([]byte, size)))
		if n := must[int](t)(client.Flush()); n != size || counting.writes != i+1 {
			t.Fatalf("%d bytes in %d writes", n, counting.writes-i)
		}
		if got := must[[]byte](t)(server.ReadNextMessage()); len(got) != size {
			t.Fatalf("%d bytes arrived of %d", len(got), size)
		}
	}
}

// TestConnReadAhead has several messages arrive in one read of the carrier, and
// each way to read take one of them.
func TestConnReadAhead(t *testing.T) {
	carrier, far := net.Pipe()
	client, server := secure(t, carrier, far)
	defer client.Close()
	defer server.Close()
	var wire []byte
	for _, text := range []string{"one", "two", "", "three", "four and a half", "five"} {
		wire = append(wire, must[[]byte](t)(NewStream(client.machine).Encrypt([]byte(text)))...)
	}
	go carrier.Write(wire)
	buf := make([]byte, 100)
	requireBytes(t, "ReadNextMessage", must[[]byte](t)(server.ReadNextMessage()), []byte("one"))
	requireBytes(t, "AppendNextMessage", must[[]byte](t)(server.AppendNextMessage([]byte("and "))), []byte("and two"))
	requireBytes(t, "Read", buf[:must[int](t)(server.Read(buf))], []byte("three"))
	requireBytes(t, "Read", buf[:must[int](t)(server.Read(buf[:4]))], []byte("four"))
	// What Read has begun, the others finish.
	size := must[uint32](t)(server.ReadNextHeader())
	_, err := server.ReadNextBody(make([]byte, size+1))
	requireKind(t, "long buffer", err, ErrBufferSize)
	requireBytes(t, "the rest", must[[]byte](t)(server.ReadNextBody(buf[:size])), []byte(" and a half"))
	size = must[uint32](t)(server.ReadNextHeader())
	requireBytes(t, "ReadNextBody", must[[]byte](t)(server.ReadNextBody(buf[:size])), []byte("five"))
}

// TestConnClearPendingSend drops a message, after which the peer could read no
// other.
func TestConnClearPendingSend(t *testing.T) {
	client, server := securePair(t, tcpPair)
	defer client.Close()
	defer server.Close()
	client.ClearPendingSend() // nothing to drop, nothing changes
	must[int](t)(client.Write([]byte("sent")))
	requireBytes(t, "message", must[[]byte](t)(server.ReadNextMessage()), []byte("sent"))
	requireNil(t, client.WriteMessage([]byte("dropped")))
	client.ClearPendingSend()
	_, err := client.Flush()
	requireKind(t, "Flush", err, ErrPoisoned)
	requireKind(t, "WriteMessage", client.WriteMessage(nil), ErrPoisoned)
	_, err = client.ReadNextMessage()
	requireKind(t, "ReadNextMessage", err, ErrPoisoned)
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
