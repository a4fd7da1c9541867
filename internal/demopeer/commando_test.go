//go:build !(js && wasm)

package demopeer_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/internal/demopeer"
	"github.com/brontosig/brontosig/lnpeer"
)

// caller is a client that writes commando byte by byte.
type caller struct {
	t    *testing.T
	conn *brontide.Conn
	rune string
}

func newCaller(t *testing.T, peer *demopeer.Peer) *caller {
	t.Helper()
	conn, err := dial(t, peer, nodeKey(t, peer))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	exchange(t, conn)
	return &caller{t, conn, peer.Rune()}
}

func started(t *testing.T) *demopeer.Peer {
	peer := start(t)
	t.Cleanup(func() {
		if err := peer.Close(); err != nil {
			t.Error(err)
		}
	})
	return peer
}

// part sends a part of a request.
func (c *caller) part(call uint64, part string, last bool) {
	c.t.Helper()
	typ := uint16(0x4c4d)
	if last {
		typ = 0x4c4f
	}
	msg := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint16(nil, typ), call)
	if _, err := c.conn.Write(append(msg, part...)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *caller) request(method, params string) string {
	return fmt.Sprintf(`{"method":%q,"id":"a/%s","params":%s,"rune":%q}`, method, method, params, c.rune)
}

// read returns the number and the part of the next reply message.
func (c *caller) read() (call uint64, part []byte, last bool) {
	c.t.Helper()
	msg, err := c.conn.ReadNextMessage()
	if err != nil {
		c.t.Fatal(err)
	}
	typ := binary.BigEndian.Uint16(msg)
	if typ != 0x594b && typ != 0x594d || len(msg) > 10+65000 || typ == 0x594b && len(msg) != 10+65000 {
		c.t.Fatalf("a message of type %x and %d bytes", typ, len(msg))
	}
	return binary.BigEndian.Uint64(msg[2:]), msg[10:], typ == 0x594d
}

type answer struct {
	ID     any
	Result map[string]any
	Error  *struct {
		Code    int
		Message string
		Data    any
	}
}

// replies reads the replies to so many calls, and says in which order they were
// complete.
func (c *caller) replies(count int) (map[uint64]answer, []uint64) {
	c.t.Helper()
	texts := make(map[uint64][]byte)
	answers := make(map[uint64]answer)
	var order []uint64
	for len(order) < count {
		call, part, last := c.read()
		texts[call] = append(texts[call], part...)
		if last {
			var a answer
			if err := json.Unmarshal(texts[call], &a); err != nil {
				c.t.Fatal(err)
			}
			answers[call] = a
			order = append(order, call)
		}
	}
	return answers, order
}

func TestCommando(t *testing.T) {
	peer := started(t)
	c := newCaller(t, peer)
	c.part(7, c.request("getinfo", "{}"), true)
	answers, _ := c.replies(1)
	if a := answers[7]; a.ID != "a/getinfo" || a.Result["id"] != peer.NodeID() || a.Error != nil {
		t.Fatalf("got %+v", a)
	}

	// In parts, and with a part of nothing.
	request := c.request("echo", `["`+strings.Repeat("x", 100000)+`"]`)
	c.part(8, request[:65000], false)
	c.part(8, "", false)
	c.part(8, request[65000:], true)
	answers, _ = c.replies(1)
	if params := answers[8].Result["params"].([]any); len(params[0].(string)) != 100000 {
		t.Fatal("the parts of the request were not joined")
	}

	// A filter.
	filtered := strings.Replace(c.request("getinfo", "[]"), `"rune"`, `"filter":{"id":true,"alias":false},"rune"`, 1)
	c.part(9, filtered, true)
	answers, _ = c.replies(1)
	if a := answers[9]; len(a.Result) != 1 || a.Result["id"] != peer.NodeID() {
		t.Fatalf("got %+v", a)
	}
}

// TestCommandoOrder has a long reply overtaken by a short one.
func TestCommandoOrder(t *testing.T) {
	c := newCaller(t, started(t))
	c.part(1, c.request("pattern", `{"bytes":5000000}`), true)
	c.part(2, c.request("getinfo", "{}"), true)
	answers, order := c.replies(2)
	if order[0] != 2 || order[1] != 1 {
		t.Fatalf("the replies came in the order %v", order)
	}
	if len(answers[1].Result["pattern"].(string)) != 5000000 {
		t.Fatal("a part is missing")
	}
}

func TestCommandoErrors(t *testing.T) {
	c := newCaller(t, started(t))
	for i, test := range []struct {
		request string
		id      any
		code    int
		text    string
	}{
		{"{", nil, 0x4c50, "Invalid JSON"},
		{"[]", nil, 0x4c50, "Invalid JSON"},
		{`{"id":1,"params":{}}`, nil, 0x4c50, "No method"},
		{`{"id":1,"method":"getinfo"}`, nil, 0x4c50, "Params must be object or array"},
		{`{"id":1,"method":"getinfo","params":5}`, nil, 0x4c50, "Params must be object or array"},
		{`{"method":"getinfo","params":{}}`, nil, 0x4c50, "missing id field"},
		{`{"id":1,"method":"getinfo","params":{}}`, nil, 0x4c51, "Not authorized: Missing rune"},
		{`{"id":1,"method":"getinfo","params":{},"rune":"x"}`, nil, 0x4c51, "Not authorized: Invalid rune"},
		{c.request("nope", "{}"), "a/nope", -32601, "Unknown command 'nope'"},
		{c.request("pattern", "{}"), "a/pattern", 0, ""},
		{c.request("pattern", `{"bytes":-1}`), "a/pattern", -32602, "bytes: a number up to 33554432 expected"},
		{c.request("fail", "{}"), "a/fail", 205, "this always fails"},
	} {
		c.part(uint64(i), test.request, true)
		answers, _ := c.replies(1)
		a := answers[uint64(i)]
		if test.code == 0 {
			if a.Error != nil {
				t.Fatalf("%s: got %+v", test.request, a)
			}
			continue
		}
		if a.Error == nil || a.Error.Code != test.code || a.Error.Message != test.text || a.ID != test.id {
			t.Fatalf("%s: got %+v", test.request, a)
		}
	}
}

// TestCommandoLimits has what Core Lightning drops without a word.
func TestCommandoLimits(t *testing.T) {
	peer := started(t)
	c := newCaller(t, peer)
	// The second request replaces the first, whose rest is then another one.
	c.part(1, c.request("getinfo", "{}")[:10], false)
	c.part(2, c.request("getinfo", "{}"), true)
	c.part(1, c.request("getinfo", "{}")[10:], true)
	answers, _ := c.replies(2)
	if answers[2].Error != nil || answers[1].Error == nil || answers[1].Error.Message != "Invalid JSON" {
		t.Fatalf("got %+v", answers)
	}

	// A request of a mebibyte is served; one of a byte more is not.
	for _, test := range []struct {
		call uint64
		size int
	}{{3, 1<<20 + 1}, {4, 1 << 20}} {
		request := c.request("echo", `[""]`)
		request = strings.Replace(request, `[""]`, `["`+strings.Repeat("y", test.size-len(request))+`"]`, 1)
		for len(request) > 65000 {
			c.part(test.call, request[:65000], false)
			request = request[65000:]
		}
		c.part(test.call, request, true)
	}
	if answers, _ := c.replies(1); answers[4].Result == nil {
		t.Fatalf("got %+v", answers)
	}

	// Sixteen unfinished requests over all peers: the oldest is lost.
	first := newCaller(t, peer)
	first.part(1, "{", false)
	first.flush()
	for range 16 {
		other := newCaller(t, peer)
		other.part(1, "{", false)
		other.flush()
	}
	first.part(1, first.request("getinfo", "{}")[1:], true)
	if answers, _ := first.replies(1); answers[1].Error == nil {
		t.Fatal("the oldest unfinished request was kept")
	}

	// What is no request is let pass.
	for _, msg := range [][]byte{{0x4c, 0x4f, 1}, {0x59, 0x4d, 0, 0, 0, 0, 0, 0, 0, 1, '{', '}'}} {
		if _, err := c.conn.Write(msg); err != nil {
			t.Fatal(err)
		}
	}
	c.flush()
}

// flush waits until the peer has dealt with everything before.
func (c *caller) flush() {
	c.t.Helper()
	if _, err := c.conn.Write([]byte{0, lnpeer.TypePing, 0, 1, 0, 0}); err != nil {
		c.t.Fatal(err)
	}
	msg, err := c.conn.ReadNextMessage()
	if err != nil || !bytes.Equal(msg, []byte{0, lnpeer.TypePong, 0, 1, 0}) {
		c.t.Fatalf("got %x, %v", msg, err)
	}
}

// TestCommandoCloses has a client that hangs up in the middle of long replies.
func TestCommandoCloses(t *testing.T) {
	peer := start(t)
	conn, err := dial(t, peer, nodeKey(t, peer))
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	exchange(t, conn)
	c := &caller{t, conn, peer.Rune()}
	for call := range uint64(8) {
		c.part(call, c.request("pattern", `{"bytes":5000000}`), true)
	}
	c.read()
	err = errors.Join(conn.Close(), peer.Close())
	if err != nil {
		t.Fatal(err)
	}
}
