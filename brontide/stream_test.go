package brontide

import (
	"bytes"
	"testing"
)

func streams(t testing.TB) (initiator, responder *Stream) {
	f := loadFigures(t)
	i, r := f.machines(t)
	return NewStream(i), NewStream(r)
}

// connected returns two streams after their handshake.
func connected(t testing.TB) (initiator, responder *Stream) {
	t.Helper()
	initiator, responder = streams(t)
	one := must[[]byte](t)(initiator.Start())
	two := receive(t, responder, one)
	three := receive(t, initiator, two)
	if answer := receive(t, responder, three); answer != nil {
		t.Fatalf("act three was answered with %x", answer)
	}
	return initiator, responder
}

// receive expects no messages.
func receive(t testing.TB, s *Stream, p []byte) (send []byte) {
	t.Helper()
	send, messages, err := s.Receive(p)
	requireNil(t, err)
	if len(messages) != 0 {
		t.Fatalf("%d messages in a handshake", len(messages))
	}
	return send
}

// TestStreamEverySplit cuts everything that a responder receives, acts and
// messages, in two at every place, and into pieces of every small size.
func TestStreamEverySplit(t *testing.T) {
	initiator, responder := streams(t)
	one := must[[]byte](t)(initiator.Start())
	three := receive(t, initiator, receive(t, responder, one))
	input := append(bytes.Clone(one), three...)
	want := [][]byte{[]byte("first"), {}, bytes.Repeat([]byte{7}, 300)}
	for _, message := range want {
		input = append(input, must[[]byte](t)(initiator.Encrypt(message))...)
	}

	check := func(cut string, pieces ...[]byte) {
		_, s := streams(t)
		var got [][]byte
		for _, piece := range pieces {
			kept := bytes.Clone(piece)
			_, messages, err := s.Receive(piece)
			if err != nil {
				t.Fatalf("%s: %v", cut, err)
			}
			requireBytes(t, "the caller's bytes", piece, kept)
			got = append(got, messages...)
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d messages", cut, len(got))
		}
		for i := range want {
			requireBytes(t, cut, got[i], want[i])
		}
		requireNil(t, s.End())
	}
	for at := range len(input) + 1 {
		check("in two", input[:at], input[at:])
	}
	for _, size := range []int{1, 2, 3, 5, 7, 17, 18, 19} {
		var pieces [][]byte
		for rest := input; len(rest) > 0; {
			n := min(size, len(rest))
			pieces = append(pieces, rest[:n])
			rest = rest[n:]
		}
		check("in pieces", pieces...)
	}
}

// TestStreamInitiatorEverySplit does the same for act two and the messages that
// follow it.
func TestStreamInitiatorEverySplit(t *testing.T) {
	_, responder := connected(t)
	packet := must[[]byte](t)(responder.Encrypt([]byte("welcome")))
	two := loadFigures(t).Acts[1]
	input := append(bytes.Clone(two), packet...)
	for at := range len(input) + 1 {
		s, _ := streams(t)
		must[[]byte](t)(s.Start())
		sent, first, err := s.Receive(input[:at])
		requireNil(t, err)
		more, second, err := s.Receive(input[at:])
		requireNil(t, err)
		requireBytes(t, "act three", append(sent, more...), loadFigures(t).Acts[2])
		if all := append(first, second...); len(all) != 1 || string(all[0]) != "welcome" {
			t.Fatalf("cut at %d: messages %q", at, all)
		}
	}
}

// TestStreamMessagesBeforeGarbage checks that good messages are handed out
// together with the failure that follows them.
func TestStreamMessagesBeforeGarbage(t *testing.T) {
	initiator, responder := connected(t)
	input := must[[]byte](t)(initiator.Encrypt([]byte("good")))
	input = append(input, make([]byte, 2*HeaderSize)...)
	_, messages, err := responder.Receive(input)
	requireKind(t, "garbage", err, ErrMAC)
	if len(messages) != 1 || string(messages[0]) != "good" {
		t.Fatalf("messages %q", messages)
	}
	if responder.State() != StateFailed {
		t.Fatal("not failed")
	}
	if responder.m.in.cipher != (cipherState{}) || responder.m.out.cipher != (cipherState{}) {
		t.Fatal("keys left after the failure")
	}
	_, err = responder.Encrypt(nil)
	requireKind(t, "Encrypt", err, ErrPoisoned)
	_, _, err = responder.Receive(input)
	requireKind(t, "Receive", err, ErrPoisoned)
	_, err = responder.Start()
	requireKind(t, "Start", err, ErrPoisoned)
	requireKind(t, "End", responder.End(), ErrPoisoned)
}

func TestStreamEnd(t *testing.T) {
	f := loadFigures(t)
	initiator, responder := streams(t)
	requireKind(t, "before act one", responder.End(), ErrTruncated)
	must[[]byte](t)(initiator.Start())
	requireKind(t, "no act two", initiator.End(), ErrNotAnswered)
	receive(t, initiator, f.Acts[1][:1])
	requireKind(t, "inside act two", initiator.End(), ErrTruncated)
	receive(t, initiator, f.Acts[1][1:])
	requireNil(t, initiator.End())

	initiator, responder = connected(t)
	packet := must[[]byte](t)(initiator.Encrypt([]byte("abc")))
	for at := range packet {
		if at == 0 {
			requireNil(t, responder.End())
		} else {
			requireKind(t, "inside a message", responder.End(), ErrTruncated)
		}
		_, messages, err := responder.Receive(packet[at : at+1])
		requireNil(t, err)
		if done := at == len(packet)-1; done != (len(messages) == 1) {
			t.Fatalf("%d messages after byte %d", len(messages), at)
		}
	}
	requireNil(t, responder.End())
}

func TestStreamTurns(t *testing.T) {
	initiator, responder := streams(t)
	_, _, err := initiator.Receive([]byte{0})
	requireKind(t, "Receive before Start", err, ErrWrongAct)
	_, err = initiator.Encrypt(nil)
	requireKind(t, "Encrypt before the handshake", err, ErrHandshakeIncomplete)
	if send := must[[]byte](t)(responder.Start()); send != nil {
		t.Fatalf("a responder starts with %x", send)
	}
	must[[]byte](t)(initiator.Start())
	_, err = initiator.Start()
	requireKind(t, "a second Start", err, ErrWrongAct)
	if initiator.State() != StateHandshake || initiator.RemotePub() == nil || responder.RemotePub() != nil {
		t.Fatal("wrong state")
	}

	initiator, responder = connected(t)
	if initiator.State() != StateReady || responder.State() != StateReady {
		t.Fatal("not ready")
	}
	_, err = initiator.Encrypt(make([]byte, MaxMessageSize+1))
	requireKind(t, "too long", err, ErrMaxMessageLengthExceeded)
	initiator.Wipe()
	_, _, err = initiator.Receive(nil)
	requireKind(t, "after Wipe", err, ErrPoisoned)
}
