package lnpeer

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// call expects no error.
func call(t testing.TB, p *Peer, request string, maxReply uint64) (uint64, [][]byte) {
	t.Helper()
	id, msgs, err := p.Call(0, []byte(request), maxReply)
	requireNil(t, err)
	return id, msgs
}

// reply delivers a part of a reply.
func reply(t testing.TB, p *Peer, typ uint16, id uint64, part string) Event {
	t.Helper()
	msg := binary.BigEndian.AppendUint64(newMessage(typ), id)
	event, answer := deliver(t, p, append(msg, part...))
	if answer != nil {
		t.Fatalf("a reply was answered with %x", answer)
	}
	return event
}

// TestCommandoFigures has messages worked out by hand from what Core Lightning's
// plugins/commando.c writes and reads: the type in two bytes, the number of the
// call in eight, both big-endian, and the JSON without an end mark.
func TestCommandoFigures(t *testing.T) {
	p, err := New(Config{Random: bytes.NewReader([]byte{1, 2, 3, 4, 5, 6, 7, 8})})
	requireNil(t, err)
	_, err = p.Start()
	requireNil(t, err)
	deliver(t, p, unhex(t, "0010 0000 0000"))
	id, msgs := call(t, p, `{"method":"getinfo","id":"x","params":{}}`, 1000)
	if id != 0x0102030405060708 || len(msgs) != 1 {
		t.Fatalf("call %x, %d messages", id, len(msgs))
	}
	requireHex(t, "request", msgs[0], "4c4f 0102030405060708"+
		"7b226d6574686f64223a22676574696e666f222c226964223a2278222c22706172616d73223a7b7d7d")
	event, _ := deliver(t, p, unhex(t, "594b 0102030405060708 7b2272657375"))
	if part, ok := event.(*CommandoPart); !ok || part.Call != id || string(part.Data) != `{"resu` || part.Last {
		t.Fatalf("got %+v", event)
	}
	event, _ = deliver(t, p, unhex(t, "594d 0102030405060708 6c74223a7b7d7d"))
	if part, ok := event.(*CommandoPart); !ok || part.Call != id || string(part.Data) != `lt":{}}` || !part.Last {
		t.Fatalf("got %+v", event)
	}
}

func TestCommandoRequests(t *testing.T) {
	for _, c := range []struct{ size, parts int }{
		{1, 1}, {65000, 1}, {65001, 2}, {130000, 2}, {130001, 3}, {MaxCommandoRequest, 17},
	} {
		p := ready(t)
		request := strings.Repeat("abcdefg", c.size/7+1)[:c.size]
		id, msgs := call(t, p, request, 1)
		if len(msgs) != c.parts {
			t.Fatalf("%d bytes in %d messages, want %d", c.size, len(msgs), c.parts)
		}
		var joined []byte
		for i, msg := range msgs {
			want := uint16(TypeCommandoRequestPart)
			if i == len(msgs)-1 {
				want = TypeCommandoRequest
			}
			if binary.BigEndian.Uint16(msg) != want || binary.BigEndian.Uint64(msg[2:]) != id || len(msg) > 10+MaxCommandoPart {
				t.Fatalf("message %d of %d bytes: %x…", i, len(msg), msg[:10])
			}
			joined = append(joined, msg[10:]...)
		}
		if string(joined) != request {
			t.Fatalf("%d bytes are not the request", len(joined))
		}
	}
	p := ready(t)
	for _, size := range []int{0, MaxCommandoRequest + 1} {
		_, _, err := p.Call(0, make([]byte, size), 1)
		requireKind(t, "size", err, ErrArgument)
	}
	_, _, err := started(t, Config{}).Call(0, []byte("{}"), 1)
	requireKind(t, "before init", err, ErrNotReady)
	broken := started(t, Config{Random: bytes.NewReader(make([]byte, 7))})
	deliver(t, broken, unhex(t, "0010 0000 0000"))
	_, _, err = broken.Call(0, []byte("{}"), 1)
	requireKind(t, "random", err, ErrRandom)
}

// TestCommandoInterleaving has replies to many calls, whose parts come in any
// order of the calls.
func TestCommandoInterleaving(t *testing.T) {
	p := ready(t)
	var ids []uint64
	for range 3 {
		id, _ := call(t, p, "{}", 100)
		if slices.Contains(ids, id) {
			t.Fatal("a number came twice")
		}
		ids = append(ids, id)
	}
	got := make(map[uint64]string)
	for _, step := range []struct {
		which int
		part  string
		last  bool
	}{{2, "c1", false}, {0, "a1", false}, {2, "c2", false}, {1, "b1", true}, {0, "", false}, {0, "a2", true}, {2, "", true}} {
		typ := uint16(TypeCommandoReplyPart)
		if step.last {
			typ = TypeCommandoReply
		}
		part, ok := reply(t, p, typ, ids[step.which], step.part).(*CommandoPart)
		if !ok || part.Call != ids[step.which] || part.Last != step.last {
			t.Fatalf("%+v gave %+v", step, part)
		}
		got[part.Call] += string(part.Data)
	}
	if got[ids[0]] != "a1a2" || got[ids[1]] != "b1" || got[ids[2]] != "c1c2" {
		t.Fatalf("got %v", got)
	}
	for _, id := range append(ids, 0, math.MaxUint64) {
		if event := reply(t, p, TypeCommandoReply, id, "x"); event != nil {
			t.Fatalf("a reply to no call gave %+v", event)
		}
	}
}

func TestCommandoLimits(t *testing.T) {
	p := ready(t)
	exact, _ := call(t, p, "{}", 6)
	long, _ := call(t, p, "{}", 6)
	given, _ := call(t, p, "{}", 6)
	for _, id := range []uint64{exact, long} {
		if part, ok := reply(t, p, TypeCommandoReplyPart, id, "12345").(*CommandoPart); !ok || part.Last {
			t.Fatal("no part")
		}
	}
	if part, ok := reply(t, p, TypeCommandoReply, exact, "6").(*CommandoPart); !ok || !part.Last {
		t.Fatal("a reply of just the length is refused")
	}
	if e, ok := reply(t, p, TypeCommandoReplyPart, long, "67").(*CommandoTooLong); !ok || e.Call != long {
		t.Fatal("a reply that is too long is let pass")
	}
	if event := reply(t, p, TypeCommandoReply, long, ""); event != nil {
		t.Fatalf("after its end a call gave %+v", event)
	}
	p.EndCall(given)
	p.EndCall(given)
	if event := reply(t, p, TypeCommandoReply, given, "{}"); event != nil {
		t.Fatalf("a call that was given up gave %+v", event)
	}
	if len(p.calls) != 0 {
		t.Fatalf("%d calls are left", len(p.calls))
	}

	for range MaxCalls {
		call(t, p, "{}", 1)
	}
	_, _, err := p.Call(0, []byte("{}"), 1)
	requireKind(t, "one more", err, ErrTooManyCalls)

	for _, typ := range []string{"594b", "594d"} {
		p := ready(t)
		_, answer, err := p.Receive(0, unhex(t, typ+"01020304050607"))
		requireKind(t, typ, err, ErrMalformed)
		requireWarning(t, answer, err)
	}
	// Requests of the other side are for the application.
	if event := reply(t, ready(t), TypeCommandoRequest, 1, "{}"); event.(*Message).Type != TypeCommandoRequest {
		t.Fatalf("got %+v", event)
	}
}

// TestCommandoNumbers has a source that repeats itself.
func TestCommandoNumbers(t *testing.T) {
	p := started(t, Config{Random: bytes.NewReader([]byte("AAAAAAAAAAAAAAAABBBBBBBB"))})
	deliver(t, p, unhex(t, "0010 0000 0000"))
	first, _ := call(t, p, "{}", 1)
	second, _ := call(t, p, "{}", 1)
	if first != 0x4141414141414141 || second != 0x4242424242424242 {
		t.Fatalf("%x and %x", first, second)
	}
	if _, _, err := p.Call(0, []byte("{}"), 1); !errors.Is(err, ErrRandom) {
		t.Fatalf("got %v", err)
	}
}
