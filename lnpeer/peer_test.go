package lnpeer

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

var (
	bitcoin = [32]byte{0x6f, 0xe2, 0x8c, 31: 1}
	testnet = [32]byte{0x43, 0x49, 0x7f, 31: 2}
)

func newPeer(t testing.TB, cfg Config) *Peer {
	t.Helper()
	p, err := New(cfg)
	requireNil(t, err)
	return p
}

// started returns a peer that has sent its init.
func started(t testing.TB, cfg Config) *Peer {
	t.Helper()
	p := newPeer(t, cfg)
	_, err := p.Start()
	requireNil(t, err)
	return p
}

// ready returns a peer that has exchanged init with one that offers nothing.
func ready(t testing.TB) *Peer {
	t.Helper()
	p := started(t, Config{})
	deliver(t, p, unhex(t, "0010 0000 0000"))
	return p
}

// deliver expects no error.
func deliver(t testing.TB, p *Peer, msg []byte) (Event, []byte) {
	t.Helper()
	event, reply, err := p.Receive(0, msg)
	requireNil(t, err)
	return event, reply
}

func requireHex(t testing.TB, what string, got []byte, want string) {
	t.Helper()
	if !bytes.Equal(got, unhex(t, want)) {
		t.Fatalf("%s: got %x, want %s", what, got, want)
	}
}

func TestInitExchange(t *testing.T) {
	a := newPeer(t, Config{Features: NewFeatures(1, 45), Networks: [][32]byte{testnet, bitcoin}})
	b := newPeer(t, Config{Networks: [][32]byte{bitcoin}})
	fromA, err := a.Start()
	requireNil(t, err)
	fromB, err := b.Start()
	requireNil(t, err)
	if want := append(unhex(t, "0010 0000 0001 02 01 20"), bitcoin[:]...); !bytes.Equal(fromB, want) {
		t.Fatalf("init %x, want %x", fromB, want)
	}
	for _, c := range []struct {
		to       *Peer
		msg      []byte
		features Features
		networks int
	}{{a, fromB, DefaultFeatures(), 1}, {b, fromA, NewFeatures(1, 45), 2}} {
		event, reply := deliver(t, c.to, c.msg)
		init, ok := event.(*Init)
		if !ok || reply != nil {
			t.Fatalf("got %T and a reply %x", event, reply)
		}
		if !bytes.Equal(init.Features, c.features) || len(init.Networks) != c.networks || init.RemoteAddr != nil {
			t.Fatalf("got %+v", init)
		}
		if c.to.RemoteInit() != init {
			t.Fatal("RemoteInit is another")
		}
	}
}

// TestInitForms has the figures of BOLT-1, appendix C, and the edges of the
// format.
func TestInitForms(t *testing.T) {
	for _, c := range []struct {
		msg  string
		want ErrorKind
	}{
		{"0010 0000 0000", ""},
		{"0010 0000 0000 c9012acb0104", ""},
		{"0010 0000 0000 01", ErrTLV},
		{"0010 0000 0000 ca012a", ErrTLV},
		{"0010 0000 0000 c90101c90102", ErrTLV},
		{"0010 0000 0000 01 1f" + "000000000000000000000000000000000000000000000000000000000000ff", ErrTLV},
		{"0010 0000 0000 01 00", ""},
		{"0010", ErrMalformed},
		{"0010 00", ErrMalformed},
		{"0010 0000", ErrMalformed},
		{"0010 0001 0000", ErrMalformed},
		{"0010 0000 0002 01", ErrMalformed},
		{"", ErrMalformed},
		{"00", ErrMalformed},
		{"0010 0001 01 0003 000000", ""},
	} {
		p := started(t, Config{})
		event, reply, err := p.Receive(0, unhex(t, c.msg))
		if c.want == "" {
			requireNil(t, err)
			continue
		}
		requireKind(t, c.msg, err, c.want)
		if event != nil || reply != nil || p.RemoteInit() != nil {
			t.Fatalf("%s: a bad init left something", c.msg)
		}
	}
}

func TestInitFields(t *testing.T) {
	p := started(t, Config{Networks: [][32]byte{bitcoin}})
	msg := unhex(t, "0010 0001 01 0002 8000")
	msg = appendRecord(msg, recordNetworks, slices.Concat(testnet[:], bitcoin[:]))
	msg = appendRecord(msg, recordRemoteAddr, []byte{1, 127, 0, 0, 1, 0x26, 7})
	event, _ := deliver(t, p, msg)
	init := event.(*Init)
	requireHex(t, "features", init.Features, "8001")
	requireHex(t, "remote address", init.RemoteAddr, "017f0000012607")
	if !slices.Equal(init.Networks, [][32]byte{testnet, bitcoin}) {
		t.Fatalf("networks %x", init.Networks)
	}
}

// TestIncompatible checks that an init that cannot be lived with ends the peer
// with a warning to send.
func TestIncompatible(t *testing.T) {
	otherNetwork := appendRecord(unhex(t, "0010 0000 0000"), recordNetworks, testnet[:])
	for name, c := range map[string]struct {
		msg  []byte
		want ErrorKind
	}{
		"feature":     {unhex(t, "0010 0000 000d 10000000000000000000000000"), ErrUnknownFeature},
		"dependency":  {unhex(t, "0010 0000 0007 08000000000000"), ErrFeatureDependency},
		"network":     {otherNetwork, ErrNoCommonNetwork},
		"no networks": {unhex(t, "0010 0000 0000 0100"), ErrNoCommonNetwork},
	} {
		p := started(t, Config{Networks: [][32]byte{bitcoin}})
		event, reply, err := p.Receive(0, c.msg)
		requireKind(t, name, err, c.want)
		if event != nil {
			t.Fatalf("%s: an event came with the error", name)
		}
		requireWarning(t, reply, err)
		_, _, err = p.Receive(0, unhex(t, "0012 0000 0000"))
		requireKind(t, name, err, ErrClosed)
	}
	p := started(t, Config{KnownFeatures: []uint16{100}})
	deliver(t, p, unhex(t, "0010 0000 000d 10000000000000000000000000"))
}

// requireWarning checks that reply is a warning with the error's words.
func requireWarning(t testing.TB, reply []byte, err error) {
	t.Helper()
	other := ready(t)
	event, _ := deliver(t, other, reply)
	w, ok := event.(*Warning)
	if !ok || "lnpeer: "+w.Text() != err.Error() || w.ChannelID != [32]byte{} {
		t.Fatalf("reply %x is no warning about %v", reply, err)
	}
}

func TestOrder(t *testing.T) {
	p := newPeer(t, Config{})
	_, _, err := p.Receive(0, unhex(t, "0010 0000 0000"))
	requireKind(t, "Receive before Start", err, ErrNotReady)
	_, err = p.Start()
	requireNil(t, err)
	_, err = p.Start()
	requireKind(t, "a second Start", err, ErrAlreadyStarted)
	_, _, err = p.Ping(0, 0, 0)
	requireKind(t, "Ping before init", err, ErrNotReady)
	_, err = p.Message(0, 1, nil)
	requireKind(t, "Message before init", err, ErrNotReady)
	deliver(t, p, unhex(t, "0010 0000 0000"))
	_, _, err = p.Ping(0, 0, 0)
	requireNil(t, err)

	_, reply, err := p.Receive(0, unhex(t, "0010 0000 0000"))
	requireKind(t, "a second init", err, ErrDuplicateInit)
	requireWarning(t, reply, err)
	_, _, err = p.Ping(0, 0, 0)
	requireKind(t, "Ping of a closed peer", err, ErrClosed)
	_, err = p.Message(0, 1, nil)
	requireKind(t, "Message of a closed peer", err, ErrClosed)

	for _, first := range []string{"0012 0000 0000", "8001", "0011"} {
		_, reply, err = started(t, Config{}).Receive(0, unhex(t, first))
		requireKind(t, first, err, ErrNoInit)
		if reply != nil {
			t.Fatalf("%s: answered before init", first)
		}
	}
	refusal := append(unhex(t, "0011"), make([]byte, 32)...)
	refusal = appendPrefixed(refusal, []byte("go away"))
	_, _, err = started(t, Config{}).Receive(0, refusal)
	requireKind(t, "an error instead of init", err, ErrNoInit)
	if want := "lnpeer: the first message has type 17, not init: go away"; err.Error() != want {
		t.Fatalf("got %q", err)
	}
}

func TestNotices(t *testing.T) {
	p := ready(t)
	id := bytes.Repeat([]byte{7}, 32)
	for _, c := range []struct {
		typ, data, text string
	}{
		{"0001", "mind the gap", "mind the gap"},
		{"0011", "", ""},
		{"0011", "a\nb\\\x7f\xc3\xa9", `a\x0ab\x5c\x7f\xc3\xa9`},
	} {
		msg := appendPrefixed(slices.Concat(unhex(t, c.typ), id), []byte(c.data))
		event, reply := deliver(t, p, msg)
		var notice *Notice
		switch e := event.(type) {
		case *Warning:
			notice = &e.Notice
		case *PeerError:
			notice = &e.Notice
		}
		if _, isWarning := event.(*Warning); isWarning != (c.typ == "0001") {
			t.Fatalf("type %s gave %T", c.typ, event)
		}
		if notice == nil || !bytes.Equal(notice.ChannelID[:], id) || string(notice.Data) != c.data || notice.Text() != c.text || reply != nil {
			t.Fatalf("got %+v", event)
		}
	}
	for _, typ := range []string{"0001", "0011"} {
		for _, rest := range [][]byte{nil, id[:31], id, append(bytes.Clone(id), 0), append(bytes.Clone(id), 0, 1)} {
			_, _, err := ready(t).Receive(0, append(unhex(t, typ), rest...))
			requireKind(t, typ, err, ErrMalformed)
		}
	}
}

func TestOtherTypes(t *testing.T) {
	p := ready(t)
	// Unknown odd ones, and types that other BOLTs assign.
	for _, typ := range []string{"0003", "0101", "8001", "ffff", "0100", "0102", "0020", "0088"} {
		event, reply := deliver(t, p, unhex(t, typ+"aabb"))
		m, ok := event.(*Message)
		if !ok || reply != nil || !bytes.Equal(m.Payload, []byte{0xaa, 0xbb}) || m.Type != uint16(unhex(t, typ)[0])<<8|uint16(unhex(t, typ)[1]) {
			t.Fatalf("%s: got %v, %x", typ, event, reply)
		}
	}
	for _, typ := range []string{"0000", "0014", "00fe", "8000", "fffe"} {
		p := ready(t)
		event, reply, err := p.Receive(0, unhex(t, typ+"aabb"))
		requireKind(t, typ, err, ErrUnknownType)
		if event != nil {
			t.Fatal("the message was delivered")
		}
		requireWarning(t, reply, err)
	}

	msg, err := p.Message(0, 0x8001, []byte{1, 2})
	requireNil(t, err)
	requireHex(t, "message", msg, "8001 0102")
	msg, err = p.Message(0, 1, make([]byte, MaxMessageSize-2))
	requireNil(t, err)
	if len(msg) != MaxMessageSize {
		t.Fatalf("the longest message has %d bytes", len(msg))
	}
	_, err = p.Message(0, 1, make([]byte, MaxMessageSize-1))
	requireKind(t, "too long", err, ErrArgument)
	for _, typ := range []uint16{TypeInit, TypePing, TypePong, TypeCommandoRequestPart, TypeCommandoRequest} {
		_, err = p.Message(0, typ, nil)
		requireKind(t, "reserved", err, ErrReservedType)
	}
}

func TestConfig(t *testing.T) {
	for name, cfg := range map[string]Config{
		"both bits":         {Features: NewFeatures(0, 1)},
		"dependency":        {Features: NewFeatures(51)},
		"features too long": {Features: make(Features, MaxMessageSize+1)},
		"many networks":     {Networks: make([][32]byte, MaxMessageSize/32+1)},
		"interval":          {Keepalive: Keepalive{Interval: PingInterval - 1, Timeout: PingInterval}},
		"timeout":           {Keepalive: Keepalive{Interval: PingInterval, Timeout: PingInterval - 1}},
		"negative":          {Keepalive: Keepalive{Interval: -1, Timeout: PingInterval}},
	} {
		p, err := New(cfg)
		requireKind(t, name, err, ErrArgument)
		if p != nil {
			t.Fatalf("%s: a peer came with the error", name)
		}
	}
	// No features is not the same as the default.
	init, err := newPeer(t, Config{Features: Features{}}).Start()
	requireNil(t, err)
	requireHex(t, "init", init, "0010 0000 0000")
	// Custom features are known, since they are offered.
	p := started(t, Config{Features: NewFeatures(101)})
	deliver(t, p, unhex(t, "0010 0000 000d 10000000000000000000000000"))
}

// FuzzReceive checks that no message panics, and that a closed peer stays
// closed.
func FuzzReceive(f *testing.F) {
	f.Add([]byte("\x00\x10\x00\x00\x00\x00"), []byte("\x00\x12\x00\x01\x00\x00"))
	f.Add([]byte("\x00\x10\x00\x01\x01\x00\x01\x80\x01\x00\x03\x01\x07"), []byte("\x00\x13\x00\x00"))
	f.Add([]byte("\x00\x11"), []byte("\x80\x01"))
	f.Add([]byte("\x00\x10\x00\x00\x00\x00"), []byte("\x59\x4d\x00\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		p := started(t, Config{Random: bytes.NewReader(make([]byte, 8))})
		_, _, err := p.Receive(0, first)
		if err == nil {
			// The call that a reply may answer, whose number is 0.
			_, _, callErr := p.Call(0, []byte("{}"), 1000)
			requireNil(t, callErr)
		}
		event, reply, err2 := p.Receive(0, second)
		if err != nil && !errors.Is(err2, ErrClosed) {
			t.Fatalf("%v, then %v", err, err2)
		}
		if err2 != nil && event != nil {
			t.Fatal("an event came with an error")
		}
		if len(reply) > MaxMessageSize {
			t.Fatalf("a reply of %d bytes", len(reply))
		}
	})
}
