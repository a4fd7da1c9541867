package brontide

import (
	"bytes"
	"errors"
	"io"
	"testing"
)

// checkRefused fails unless err is of a kind that a peer can cause.
func checkRefused(t *testing.T, err error) {
	t.Helper()
	for _, kind := range []ErrorKind{ErrVersion, ErrPublicKey, ErrMAC} {
		if errors.Is(err, kind) {
			return
		}
	}
	t.Fatalf("unexpected error %v", err)
}

// fuzzAct gives both roles any bytes for one act. Only the genuine act passes,
// and only to the role that is to receive it; a machine that refused one is
// finished, but for one that was not to receive any.
func fuzzAct(f *testing.F, number int) {
	figures := loadFigures(f)
	genuine := figures.Acts[number-1]
	f.Add([]byte(genuine))
	for _, refused := range figures.Refused {
		if refused.Act == number {
			f.Add([]byte(refused.Input))
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var act [ActThreeSize]byte
		copy(act[:], input)
		initiator, responder := figures.machines(t)
		one := must[[ActOneSize]byte](t)(initiator.GenActOne())
		var receive func(*Machine) error
		receiver, other := responder, initiator
		switch number {
		case 1:
			receive = func(m *Machine) error { return m.RecvActOne([ActOneSize]byte(act[:])) }
		case 2:
			receive = func(m *Machine) error { return m.RecvActTwo([ActTwoSize]byte(act[:])) }
			receiver, other = initiator, responder
		default:
			receive = func(m *Machine) error { return m.RecvActThree(act) }
			requireNil(t, responder.RecvActOne(one))
			must[[ActTwoSize]byte](t)(responder.GenActTwo())
		}
		requireKind(t, "the other role", receive(other), ErrWrongAct)
		requireKind(t, "the other role after it", other.WriteMessage(nil), ErrHandshakeIncomplete)

		err := receive(receiver)
		// Another act two is good if it comes from whoever holds the
		// responder's secret; no fuzzer finds one.
		if same := bytes.Equal(act[:len(genuine)], genuine); same != (err == nil) {
			t.Fatalf("genuine: %v, error: %v", same, err)
		}
		if err != nil {
			checkRefused(t, err)
			requireKind(t, "after it", receiver.WriteMessage(nil), ErrPoisoned)
			requireKind(t, "again", receive(receiver), ErrPoisoned)
		}
	})
}

func FuzzActOne(f *testing.F)   { fuzzAct(f, 1) }
func FuzzActTwo(f *testing.F)   { fuzzAct(f, 2) }
func FuzzActThree(f *testing.F) { fuzzAct(f, 3) }

// FuzzHeader gives a machine that is ready any bytes for a header.
func FuzzHeader(f *testing.F) {
	figures := loadFigures(f)
	f.Add(make([]byte, HeaderSize))
	f.Add([]byte{})
	f.Add([]byte(figures.Messages.Packets[0].Packet))
	f.Fuzz(func(t *testing.T, header []byte) {
		initiator, responder := handshaken(t, figures)
		requireNil(t, initiator.WriteMessage(figures.Messages.Plaintext))
		genuine := initiator.out.packet[:HeaderSize]
		size, err := responder.ReadHeader(bytes.NewReader(header))
		switch {
		case len(header) == 0:
			if err != io.EOF {
				t.Fatalf("no header: %v", err)
			}
		case len(header) < HeaderSize:
			if err != io.ErrUnexpectedEOF {
				t.Fatalf("a short header: %v", err)
			}
		case bytes.HasPrefix(header, genuine):
			if err != nil || int(size) != len(figures.Messages.Plaintext)+MACSize {
				t.Fatalf("the genuine header: a body of %d bytes, %v", size, err)
			}
		default:
			requireKind(t, "header", err, ErrMAC)
			requireKind(t, "after it", responder.WriteMessage(nil), ErrPoisoned)
		}
	})
}

// FuzzBody gives a machine that has read a genuine header any bytes for the
// body, to each of the two calls that read one.
func FuzzBody(f *testing.F) {
	figures := loadFigures(f)
	f.Add([]byte{1})
	f.Add(make([]byte, 3+MACSize))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, read := range []func(*Machine, io.Reader) ([]byte, error){
			func(m *Machine, r io.Reader) ([]byte, error) { return m.ReadBody(r, make([]byte, 3+MACSize)) },
			(*Machine).ReadMessage,
		} {
			initiator, responder := handshaken(t, figures)
			requireNil(t, initiator.WriteMessage([]byte("abc")))
			packet := initiator.out.packet
			must[uint32](t)(responder.ReadHeader(bytes.NewReader(packet[:HeaderSize])))
			message, err := read(responder, bytes.NewReader(body))
			switch {
			case len(body) < 3+MACSize:
				if err != io.ErrUnexpectedEOF {
					t.Fatalf("a short body: %v", err)
				}
			case bytes.HasPrefix(body, packet[HeaderSize:]):
				requireNil(t, err)
				requireBytes(t, "message", message, []byte("abc"))
			default:
				requireKind(t, "body", err, ErrMAC)
				requireKind(t, "after it", responder.WriteMessage(nil), ErrPoisoned)
			}
		}
	})
}

// FuzzSplit lets the fuzzer cut what a responder receives, the acts, three
// messages and then any bytes, into pieces. However it is cut, the same comes
// out.
func FuzzSplit(f *testing.F) {
	figures := loadFigures(f)
	f.Add([]byte{1}, []byte{})
	f.Add([]byte{255, 0, 17, 18, 19, 50, 66}, []byte("garbage that is longer than a header"))
	initiator, responder := handshaken(f, figures)
	input := append(bytes.Clone(figures.Acts[0]), figures.Acts[2]...)
	want := [][]byte{[]byte("first"), {}, bytes.Repeat([]byte{7}, 300)}
	for _, message := range want {
		input = append(input, must[[]byte](f)(NewStream(initiator).Encrypt(message))...)
	}
	two := must[[]byte](f)(NewStream(responder).Encrypt(nil)) // of the other direction
	f.Add([]byte{100}, two)
	f.Fuzz(func(t *testing.T, cuts, tail []byte) {
		_, m := figures.machines(t)
		s := NewStream(m)
		rest := append(bytes.Clone(input), tail...)
		var sent []byte
		var got [][]byte
		var failure error
		for i := 0; len(rest) > 0 && failure == nil; i++ {
			n := len(rest)
			if i < 4*len(cuts) {
				n = min(n, int(cuts[i%len(cuts)]))
			}
			send, messages, err := s.Receive(rest[:n])
			sent, got, failure, rest = append(sent, send...), append(got, messages...), err, rest[n:]
		}
		requireBytes(t, "act two", sent, figures.Acts[1])
		if len(got) != len(want) {
			t.Fatalf("%d messages", len(got))
		}
		for i := range want {
			requireBytes(t, "message", got[i], want[i])
		}
		switch {
		case len(tail) == 0:
			requireNil(t, failure)
			requireNil(t, s.End())
		case len(tail) < HeaderSize:
			requireNil(t, failure)
			requireKind(t, "the end", s.End(), ErrTruncated)
		default:
			requireKind(t, "the tail", failure, ErrMAC)
			requireKind(t, "the end", s.End(), ErrPoisoned)
		}
	})
}

// FuzzPair lets the fuzzer drive two streams: who sends messages of which
// length, how the bytes are cut on their way, and which bit of them is changed.
// Whatever arrives is what was sent, in order, until the change.
func FuzzPair(f *testing.F) {
	f.Add([]byte{0, 10, 3, 1, 200, 50, 0, 0, 1}, uint(0))
	f.Add(bytes.Repeat([]byte{0, 255, 7, 1, 1, 255}, 50), uint(7777))
	figures := loadFigures(f)
	f.Fuzz(func(t *testing.T, script []byte, change uint) {
		initiator, responder := figures.machines(t)
		a, b := NewStream(initiator), NewStream(responder)
		w := wire{t: t, ends: [2]*Stream{a, b}, change: change}
		w.carry(0, must[[]byte](t)(a.Start()), 1+int(change%60))
		for len(script) >= 3 && !w.broken {
			from, length, cut := int(script[0]&1), int(script[1]), 1+int(script[2])
			script = script[3:]
			if w.ends[from].State() != StateReady {
				// Only a change of the handshake leaves one side waiting.
				return
			}
			message := bytes.Repeat([]byte{byte(length)}, length)
			w.want[from] = append(w.want[from], message)
			w.carry(from, must[[]byte](t)(w.ends[from].Encrypt(message)), cut)
		}
	})
}

// wire carries bytes between two streams and changes one bit, unless change is
// 0.
type wire struct {
	t       *testing.T
	ends    [2]*Stream
	want    [2][][]byte
	change  uint
	carried uint
	broken  bool
}

func (w *wire) carry(from int, packet []byte, cut int) {
	bit := w.change - 8*w.carried
	changed := w.change != 0 && w.change >= 8*w.carried && bit < 8*uint(len(packet))
	if changed {
		packet = bytes.Clone(packet)
		packet[bit/8] ^= 1 << (bit % 8)
		w.broken = true
	}
	w.carried += uint(len(packet))
	to := w.ends[1-from]
	for len(packet) > 0 {
		n := min(cut, len(packet))
		answer, messages, err := to.Receive(packet[:n])
		packet = packet[n:]
		for _, message := range messages {
			requireBytes(w.t, "message", message, w.want[from][0])
			w.want[from] = w.want[from][1:]
		}
		if err != nil {
			if !w.broken {
				w.t.Fatalf("genuine bytes: %v", err)
			}
			checkRefused(w.t, err)
			return
		}
		if len(answer) > 0 {
			w.carry(1-from, answer, cut)
		}
	}
	if changed {
		w.t.Fatal("a changed packet passed")
	}
	if !w.broken && len(w.want[from]) > 0 {
		w.t.Fatalf("%d messages did not arrive", len(w.want[from]))
	}
}
