//go:build !(js && wasm)

package wsconn_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/net/nettest"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/brontide/wsconn"
	"github.com/btcsuite/btcd/btcec/v2"
)

// testTimeout is for steps that end at once unless something is broken.
const testTimeout = 20 * time.Second

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// webSockets returns the two ends of a WebSocket.
func webSockets(t testing.TB) (dialed, accepted *websocket.Conn) {
	t.Helper()
	arrived := make(chan *websocket.Conn, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		arrived <- ws
	}))
	// A connection that was taken over outlives its server.
	defer server.Close()
	dialed, _, err := websocket.Dial(t.Context(), server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	return dialed, <-arrived
}

func pair(t testing.TB) (dialed, accepted net.Conn) {
	t.Helper()
	a, b := webSockets(t)
	return wsconn.New(a), wsconn.New(b)
}

// closeBoth closes both at once, since each waits for the other's answer.
func closeBoth(a, b net.Conn) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.Close()
	}()
	b.Close()
	<-done
}

func TestConn(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		a, b := pair(t)
		return a, b, func() { closeBoth(a, b) }, nil
	})
}

func newKey(t testing.TB) *brontide.PrivKeyECDH {
	return brontide.NewPrivKeyECDH(must(btcec.NewPrivateKey())(t))
}

// secure does brontide's handshake over two ends of a carrier.
func secure(t testing.TB, a, b net.Conn) (client, server *brontide.Conn) {
	t.Helper()
	key := newKey(t)
	failed := make(chan error, 1)
	go func() {
		var err error
		server, err = brontide.Server(b, key, testTimeout)
		failed <- err
	}()
	client = must(brontide.Client(a, newKey(t), key.PubKey(), testTimeout))(t)
	if err := <-failed; err != nil {
		t.Fatal(err)
	}
	return client, server
}

func securePair(t testing.TB) (client, server *brontide.Conn) {
	t.Helper()
	a, b := pair(t)
	return secure(t, a, b)
}

// TestBrontide runs brontide over WebSockets.
func TestBrontide(t *testing.T) {
	nettest.TestConn(t, func() (net.Conn, net.Conn, func(), error) {
		client, server := securePair(t)
		return client, server, func() { closeBoth(client, server) }, nil
	})
}

func TestCloseWrite(t *testing.T) {
	client, server := securePair(t)
	defer closeBoth(client, server)
	if err := server.CloseWrite(); !errors.Is(err, errors.ErrUnsupported) {
		t.Fatalf("CloseWrite: %v", err)
	}
}

// TestReadDeadline lets a deadline pass while a Read waits, and reads on.
func TestReadDeadline(t *testing.T) {
	a, b := pair(t)
	defer closeBoth(a, b)
	for range 3 {
		read := make(chan error, 1)
		go func() {
			_, err := b.Read(make([]byte, 1))
			read <- err
		}()
		if err := b.SetReadDeadline(time.Now().Add(time.Millisecond)); err != nil {
			t.Fatal(err)
		}
		if err := <-read; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("got %v, want a timeout", err)
		}
		if err := b.SetReadDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		must(a.Write([]byte("late")))(t)
		got := make([]byte, 4)
		must(io.ReadFull(b, got))(t)
		if string(got) != "late" {
			t.Fatalf("read %q", got)
		}
	}
}

// TestWriteDeadline writes until the peer's and the system's buffers are full,
// and a deadline passes. Nothing that was counted is lost.
func TestWriteDeadline(t *testing.T) {
	a, b := pair(t)
	defer closeBoth(a, b)
	if err := a.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i / 251)
	}
	var want []byte
	for {
		n, err := a.Write(data)
		want = append(want, data[:n]...)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		must(n, err)(t)
	}
	if n, err := a.Write(data); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("past the deadline: %d, %v", n, err)
	}
	if err := a.SetWriteDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		_, err := a.Write([]byte("the end"))
		written <- err
	}()
	want = append(want, "the end"...)
	got := make([]byte, len(want))
	must(io.ReadFull(b, got))(t)
	if !bytes.Equal(got, want) {
		t.Fatal("the bytes differ")
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// TestMessages has messages of all lengths come from a peer that is no stream,
// and looks at those that go to it.
func TestMessages(t *testing.T) {
	ws, accepted := webSockets(t)
	ws.SetReadLimit(wsconn.MaxMessageSize)
	c := wsconn.New(accepted)
	for _, part := range []string{"", "one, ", "", "two"} {
		if err := ws.Write(t.Context(), websocket.MessageBinary, []byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	got := make([]byte, len("one, two"))
	must(io.ReadFull(c, got))(t)
	if string(got) != "one, two" {
		t.Fatalf("read %q", got)
	}
	sent := bytes.Repeat([]byte("0123456789"), 10_000)
	must(c.Write(sent))(t)
	for len(sent) > 0 {
		kind, message, err := ws.Read(t.Context())
		if err != nil || kind != websocket.MessageBinary || !bytes.HasPrefix(sent, message) {
			t.Fatalf("a message of type %v and %d bytes, error %v", kind, len(message), err)
		}
		sent = sent[len(message):]
	}
	if _, ok := c.RemoteAddr().(*net.TCPAddr); !ok {
		t.Fatalf("remote address %v", c.RemoteAddr())
	}
	ws.CloseNow()
	c.Close()
}

// TestEnds checks what a Read says of each way in which a peer ends.
func TestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*websocket.Conn) error
		want func(error) bool
	}{
		"normal": {
			func(ws *websocket.Conn) error { return ws.Close(websocket.StatusNormalClosure, "") },
			func(err error) bool { return err == io.EOF },
		},
		"going away": {
			func(ws *websocket.Conn) error { return ws.Close(websocket.StatusGoingAway, "") },
			func(err error) bool { return err == io.EOF },
		},
		"another status": {
			func(ws *websocket.Conn) error { return ws.Close(4502, "node unreachable") },
			func(err error) bool { return websocket.CloseStatus(err) == 4502 && !errors.Is(err, io.EOF) },
		},
		"broken": {
			(*websocket.Conn).CloseNow,
			func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) },
		},
		"text": {
			func(ws *websocket.Conn) error {
				if err := ws.Write(context.Background(), websocket.MessageText, []byte("hi")); err != nil {
					return err
				}
				_, _, err := ws.Read(context.Background())
				if websocket.CloseStatus(err) != websocket.StatusUnsupportedData {
					return err
				}
				return nil
			},
			func(err error) bool { return err != nil && !errors.Is(err, io.EOF) },
		},
	} {
		ws, accepted := webSockets(t)
		conn := wsconn.New(accepted)
		if err := ws.Write(t.Context(), websocket.MessageBinary, []byte("x")); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- c.end(ws) }()
		must(io.ReadFull(conn, make([]byte, 1)))(t)
		for range 2 {
			if n, err := conn.Read(make([]byte, 1)); n != 0 || !c.want(err) {
				t.Errorf("%s: Read returned %d, %v", name, n, err)
			}
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: the peer: %v", name, err)
		}
		if _, err := conn.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("%s: Write after it: %v", name, err)
		}
		if err := conn.Close(); err != nil {
			t.Errorf("%s: Close: %v", name, err)
		}
		ws.CloseNow()
	}
}

// TestClose checks that Close sends what was written, ends calls under way and
// is idempotent, and that nothing works after it.
func TestClose(t *testing.T) {
	a, b := pair(t)
	reading := make(chan error, 1)
	go func() {
		_, err := a.Read(make([]byte, 1))
		reading <- err
	}()
	must(a.Write([]byte("last words")))(t)
	received := make(chan []byte, 1)
	go func() {
		got, err := io.ReadAll(b)
		if err != nil {
			t.Error(err)
		}
		received <- got
	}()
	for range 2 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := <-received; string(got) != "last words" {
		t.Fatalf("received %q", got)
	}
	_, readErr := a.Read(make([]byte, 1))
	_, writeErr := a.Write([]byte{1})
	for _, err := range []error{<-reading, readErr, writeErr} {
		if !errors.Is(err, net.ErrClosed) {
			t.Fatalf("after Close: %v", err)
		}
	}
	b.Close()
}

// TestNothingIsLeft counts the goroutines of connections that were closed by
// either end.
func TestNothingIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		a, b := pair(t)
		must(a.Write([]byte("unread")))(t)
		closeBoth(a, b)
	}
	for start := time.Now(); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Since(start) > testTimeout {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

// TestCloseWithoutAnswer closes towards a peer that neither reads nor answers,
// with a Write that cannot go out.
func TestCloseWithoutAnswer(t *testing.T) {
	ws, accepted := webSockets(t)
	defer ws.CloseNow()
	c := wsconn.New(accepted)
	writing := make(chan error, 1)
	go func() {
		var err error
		for err == nil {
			_, err = c.Write(make([]byte, 1<<20))
		}
		writing <- err
	}()
	if err := c.SetWriteDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if err := <-writing; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("got %v, want a timeout", err)
	}
	closed := make(chan error, 1)
	go func() { closed <- c.Close() }()
	select {
	case <-closed:
	case <-time.After(testTimeout):
		t.Fatal("Close hangs")
	}
}
