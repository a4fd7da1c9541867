package brontide

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/brontosig/brontosig/internal/curve"
	"github.com/brontosig/brontosig/internal/vectors"
	"github.com/btcsuite/btcd/btcec/v2"
)

// figures is testdata/bolt8.json.
type figures struct {
	Comment   string  `json:"comment"`
	Initiator party   `json:"initiator"`
	Responder party   `json:"responder"`
	Acts      [3]hexa `json:"acts"`
	Keys      struct {
		ToResponder hexa `json:"initiatorToResponder"`
		ToInitiator hexa `json:"responderToInitiator"`
		Chaining    hexa `json:"chaining"`
	} `json:"keys"`
	Refused []struct {
		By    string `json:"by"`
		Act   int    `json:"act"`
		Input hexa   `json:"input"`
		Error string `json:"error"`
	} `json:"refused"`
	Messages struct {
		Plaintext hexa `json:"plaintext"`
		Packets   []struct {
			Index  int  `json:"index"`
			Packet hexa `json:"packet"`
		} `json:"packets"`
	} `json:"messages"`
}

type hexa = vectors.Hex

type party struct {
	StaticSecret    hexa `json:"staticSecret"`
	StaticPublic    hexa `json:"staticPublic"`
	EphemeralSecret hexa `json:"ephemeralSecret"`
}

func loadFigures(t testing.TB) *figures {
	t.Helper()
	data, err := os.ReadFile("../testdata/bolt8.json")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	f := new(figures)
	if err := decoder.Decode(f); err != nil {
		t.Fatal(err)
	}
	if len(f.Refused) != 13 || len(f.Messages.Packets) != 6 {
		t.Fatalf("%d refused acts and %d packets, want 13 and 6", len(f.Refused), len(f.Messages.Packets))
	}
	return f
}

func privateKey(t testing.TB, secret []byte) *btcec.PrivateKey {
	t.Helper()
	key, err := curve.ParsePrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (p *party) static(t testing.TB) *PrivKeyECDH {
	return NewPrivKeyECDH(privateKey(t, p.StaticSecret))
}

// machine returns the party's machine with its fixed ephemeral key.
func (p *party) machine(t testing.TB, initiator bool, remote *btcec.PublicKey) *Machine {
	t.Helper()
	m, err := NewBrontideMachine(initiator, p.static(t), remote,
		EphemeralGenerator(func() (*btcec.PrivateKey, error) {
			return privateKey(t, p.EphemeralSecret), nil
		}))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (f *figures) machines(t testing.TB) (initiator, responder *Machine) {
	return f.Initiator.machine(t, true, f.Responder.static(t).PubKey()), f.Responder.machine(t, false, nil)
}

func requireBytes(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if !bytes.Equal(got, want) {
		t.Fatalf("%s: got %x, want %x", what, got, want)
	}
}

func requireKind(t testing.TB, what string, err error, kind ErrorKind) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Fatalf("%s: got error %v, want %s", what, err, kind)
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func requireNil(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestVectorHandshake(t *testing.T) {
	f := loadFigures(t)
	requireBytes(t, "initiator's key", f.Initiator.static(t).PubKey().SerializeCompressed(), f.Initiator.StaticPublic)
	requireBytes(t, "responder's key", f.Responder.static(t).PubKey().SerializeCompressed(), f.Responder.StaticPublic)

	initiator, responder := f.machines(t)
	one := must[[ActOneSize]byte](t)(initiator.GenActOne())
	requireBytes(t, "act one", one[:], f.Acts[0])
	requireNil(t, responder.RecvActOne(one))
	two := must[[ActTwoSize]byte](t)(responder.GenActTwo())
	requireBytes(t, "act two", two[:], f.Acts[1])
	requireNil(t, initiator.RecvActTwo(two))
	if responder.RemotePub() != nil {
		t.Fatal("the responder names a peer before act three")
	}
	three := must[[ActThreeSize]byte](t)(initiator.GenActThree())
	requireBytes(t, "act three", three[:], f.Acts[2])
	requireNil(t, responder.RecvActThree(three))

	for _, side := range []struct {
		name     string
		out, in  *cipherState
		wantKeys [2]hexa
	}{
		{"initiator", &initiator.out.cipher, &initiator.in.cipher, [2]hexa{f.Keys.ToResponder, f.Keys.ToInitiator}},
		{"responder", &responder.out.cipher, &responder.in.cipher, [2]hexa{f.Keys.ToInitiator, f.Keys.ToResponder}},
	} {
		requireBytes(t, side.name+" sending key", side.out.key[:], side.wantKeys[0])
		requireBytes(t, side.name+" receiving key", side.in.key[:], side.wantKeys[1])
		requireBytes(t, side.name+" sending chaining key", side.out.chainingKey[:], f.Keys.Chaining)
		requireBytes(t, side.name+" receiving chaining key", side.in.chainingKey[:], f.Keys.Chaining)
	}
	requireBytes(t, "responder's peer", responder.RemotePub().SerializeCompressed(), f.Initiator.StaticPublic)
	requireBytes(t, "initiator's peer", initiator.RemotePub().SerializeCompressed(), f.Responder.StaticPublic)
	requireBytes(t, "initiator's own key", initiator.LocalPub().SerializeCompressed(), f.Initiator.StaticPublic)
}

// refusedKind maps the words of the table to the kinds of this package.
var refusedKind = map[string]ErrorKind{
	"truncated":  ErrTruncated,
	"version":    ErrVersion,
	"public key": ErrPublicKey,
	"mac":        ErrMAC,
}

// TestVectorRefusedActs feeds each refused act to a Stream whole and byte by
// byte.
func TestVectorRefusedActs(t *testing.T) {
	f := loadFigures(t)
	for _, c := range f.Refused {
		kind, ok := refusedKind[c.Error]
		if !ok {
			t.Fatalf("unknown error %q in the table", c.Error)
		}
		for _, step := range []int{1, len(c.Input)} {
			initiator, responder := f.machines(t)
			s := NewStream(responder)
			switch {
			case c.By == "initiator" && c.Act == 2:
				s = NewStream(initiator)
				must[[]byte](t)(s.Start())
			case c.By == "responder" && c.Act == 1:
			case c.By == "responder" && c.Act == 3:
				_, _, err := s.Receive(f.Acts[0])
				requireNil(t, err)
			default:
				t.Fatalf("no such act: %s %d", c.By, c.Act)
			}
			err := receiveInSteps(s, c.Input, step)
			if kind == ErrTruncated {
				requireNil(t, err)
				err = s.End()
			}
			requireKind(t, c.By+" "+c.Error, err, kind)
			var e *Error
			if !errors.As(err, &e) || e.Act != c.Act {
				t.Fatalf("error %v does not name act %d", err, c.Act)
			}
			if kind == ErrTruncated {
				continue
			}
			if s.State() != StateFailed {
				t.Fatal("the stream is not failed")
			}
			_, _, err = s.Receive(nil)
			requireKind(t, "after the failure", err, ErrPoisoned)
		}
	}
}

// receiveInSteps returns the first error.
func receiveInSteps(s *Stream, input []byte, step int) error {
	for len(input) > 0 {
		n := min(step, len(input))
		if _, _, err := s.Receive(input[:n]); err != nil {
			return err
		}
		input = input[n:]
	}
	return nil
}

func TestVectorMessages(t *testing.T) {
	f := loadFigures(t)
	initiator, responder := handshaken(t, f)
	sender, receiver := NewStream(initiator), NewStream(responder)
	want := make(map[int]hexa)
	last := 0
	for _, p := range f.Messages.Packets {
		want[p.Index] = p.Packet
		last = max(last, p.Index)
	}
	if last != 1001 {
		t.Fatalf("the table ends at %d", last)
	}
	for i := range last + 1 {
		packet := must[[]byte](t)(sender.Encrypt(f.Messages.Plaintext))
		if p, ok := want[i]; ok {
			requireBytes(t, "packet", packet, p)
		}
		_, messages, err := receiver.Receive(packet)
		requireNil(t, err)
		if len(messages) != 1 {
			t.Fatalf("message %d: %d messages", i, len(messages))
		}
		requireBytes(t, "message", messages[0], f.Messages.Plaintext)
	}
}

// handshaken returns two machines that have done the handshake of the figures.
func handshaken(t testing.TB, f *figures) (initiator, responder *Machine) {
	t.Helper()
	initiator, responder = f.machines(t)
	shake(t, initiator, responder)
	return initiator, responder
}

func shake(t testing.TB, initiator, responder *Machine) {
	t.Helper()
	requireNil(t, responder.RecvActOne(must[[ActOneSize]byte](t)(initiator.GenActOne())))
	requireNil(t, initiator.RecvActTwo(must[[ActTwoSize]byte](t)(responder.GenActTwo())))
	requireNil(t, responder.RecvActThree(must[[ActThreeSize]byte](t)(initiator.GenActThree())))
}
