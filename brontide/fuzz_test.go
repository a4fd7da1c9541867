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

// FuzzActs gives each act in each role any bytes. Only the genuine act passes,
// and a machine that refused one is finished.
func FuzzActs(f *testing.F) {
	figures := loadFigures(f)
	for i, act := range figures.Acts {
		f.Add(i+1, []byte(act))
	}
	for _, refused := range figures.Refused {
		f.Add(refused.Act, []byte(refused.Input))
	}
	f.Fuzz(func(t *testing.T, number int, input []byte) {
		number = 1 + int(uint(number)%3)
		initiator, responder := figures.machines(t)
		one := must[[ActOneSize]byte](t)(initiator.GenActOne())
		var err error
		var act [ActThreeSize]byte
		copy(act[:], input)
		genuine := figures.Acts[number-1]
		target := responder
		switch number {
		case 1:
			err = responder.RecvActOne([ActOneSize]byte(act[:]))
		case 2:
			target = initiator
			err = initiator.RecvActTwo([ActTwoSize]byte(act[:]))
		default:
			requireNil(t, responder.RecvActOne(one))
			must[[ActTwoSize]byte](t)(responder.GenActTwo())
			err = responder.RecvActThree(act)
		}
		same := bytes.Equal(act[:len(genuine)], genuine)
		// Another act two is good if it comes from whoever holds the
		// responder's secret; no fuzzer finds one.
		if same != (err == nil) {
			t.Fatalf("act %d, genuine: %v, error: %v", number, same, err)
		}
		if err != nil {
			checkRefused(t, err)
			requireKind(t, "after it", target.WriteMessage(nil), ErrPoisoned)
		}
	})
}

// FuzzHeaderAndBody gives a machine that is ready any bytes for a header and a
// body after a genuine header.
func FuzzHeaderAndBody(f *testing.F) {
	f.Add(make([]byte, HeaderSize), make([]byte, 3+MACSize))
	f.Add([]byte{}, []byte{1})
	figures := loadFigures(f)
	f.Fuzz(func(t *testing.T, header, body []byte) {
		initiator, responder := handshaken(t, figures)
		requireNil(t, initiator.WriteMessage([]byte("abc")))
		packet := bytes.Clone(initiator.out.packet)

		_, err := responder.ReadHeader(bytes.NewReader(header))
		forged := len(header) >= HeaderSize && !bytes.Equal(header[:HeaderSize], packet[:HeaderSize])
		if forged != errors.Is(err, ErrMAC) {
			t.Fatalf("header %x: %v", header, err)
		}

		_, responder = handshaken(t, figures)
		size := must[uint32](t)(responder.ReadHeader(bytes.NewReader(packet[:HeaderSize])))
		_, err = responder.ReadBody(bytes.NewReader(body), make([]byte, size))
		switch {
		case len(body) < int(size):
			if err != io.ErrUnexpectedEOF {
				t.Fatalf("a short body: %v", err)
			}
		case bytes.Equal(body[:size], packet[HeaderSize:]):
			requireNil(t, err)
		default:
			requireKind(t, "body", err, ErrMAC)
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
