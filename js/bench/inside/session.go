//go:build js && wasm

package main

import (
	"crypto/rand"
	"errors"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	peer "github.com/btcsuite/btcd/btcec/v2/schnorr/musig2"

	"github.com/brontosig/brontosig/lnpeer"
	"github.com/brontosig/brontosig/musig2"
)

// party is n signers and a message.
type party struct {
	secret  []*btcec.PrivateKey
	public  []*btcec.PublicKey
	encoded [][]byte
	message [32]byte
}

func newParty(n int) (*party, error) {
	p := new(party)
	for range n {
		key, err := btcec.NewPrivateKey()
		if err != nil {
			return nil, err
		}
		p.secret = append(p.secret, key)
		p.public = append(p.public, key.PubKey())
		p.encoded = append(p.encoded, key.PubKey().SerializeCompressed())
	}
	_, err := rand.Read(p.message[:])
	return p, err
}

// stopwatch adds up the time of phases that come in turns.
type stopwatch struct {
	phases  []float64
	at      int
	started time.Time
}

func (s *stopwatch) start() { s.at, s.started = 0, time.Now() }

func (s *stopwatch) lap() {
	if s.at == len(s.phases) {
		s.phases = append(s.phases, 0)
	}
	now := time.Now()
	s.phases[s.at] += float64(now.Sub(s.started)) / float64(time.Millisecond)
	s.at, s.started = s.at+1, now
}

// room is one session of n signers, as far as it has come.
type room struct {
	contexts []*musig2.Context
	sessions []*musig2.Session
	nonces   [][musig2.PubNonceSize]byte
	combined [musig2.PubNonceSize]byte
	partials []musig2.PartialSignature
}

// phases are those of a session. In each, every call is made by every signer,
// but for those that only one of them makes.
var phases = []func(*room, *party) error{
	func(r *room, p *party) error {
		for i := range p.encoded {
			keys, err := musig2.ParsePubKeys(p.encoded)
			if err != nil {
				return err
			}
			ctx, err := musig2.NewContext(p.secret[i], false, musig2.WithKnownSigners(keys), musig2.WithSignerIndex(i))
			if err != nil {
				return err
			}
			r.contexts = append(r.contexts, ctx)
		}
		return nil
	},
	func(r *room, p *party) error {
		for _, ctx := range r.contexts {
			s, err := ctx.NewSession(musig2.WithSessionMessage(p.message[:]))
			if err != nil {
				return err
			}
			r.sessions = append(r.sessions, s)
			r.nonces = append(r.nonces, s.PublicNonce())
		}
		return nil
	},
	func(r *room, _ *party) (err error) {
		r.combined, err = musig2.AggregateNonces(r.nonces)
		return err
	},
	func(r *room, _ *party) error {
		for _, s := range r.sessions {
			if err := s.RegisterCombinedNonce(r.combined); err != nil {
				return err
			}
			partial, err := s.Sign(nil)
			if err != nil {
				return err
			}
			r.partials = append(r.partials, partial)
		}
		return nil
	},
	func(r *room, p *party) error {
		for i, s := range r.sessions {
			j := (i + 1) % len(p.encoded)
			if _, err := s.RegisterPubNonce(j, r.nonces[j]); err != nil {
				return err
			}
			if _, err := s.CombineSig(j, r.partials[j]); err != nil {
				return err
			}
		}
		return nil
	},
	func(r *room, p *party) error {
		for i := 2; i < len(p.encoded); i++ {
			if _, err := r.sessions[0].CombineSig(i, r.partials[i]); err != nil {
				return err
			}
		}
		_, err := r.sessions[0].FinalSig()
		return err
	},
}

// oursSession takes each phase for all sessions before it takes the next.
func oursSession(n, calls int) ([]float64, error) {
	p, err := newParty(n)
	if err != nil {
		return nil, err
	}
	rooms := make([]room, calls)
	var watch stopwatch
	watch.start()
	for _, phase := range phases {
		for i := range rooms {
			if err := phase(&rooms[i], p); err != nil {
				return nil, err
			}
		}
		watch.lap()
	}
	return watch.phases, nil
}

// btcecSession is the same with btcec's package, in one phase.
func btcecSession(n, calls int) ([]float64, error) {
	p, err := newParty(n)
	if err != nil {
		return nil, err
	}
	var watch stopwatch
	for range calls {
		watch.start()
		if err := btcecOnce(p); err != nil {
			return nil, err
		}
		watch.lap()
	}
	return watch.phases, nil
}

func btcecOnce(p *party) error {
	n := len(p.public)
	keys := make([][]*btcec.PublicKey, n)
	var aggregate *peer.AggregateKey
	for i := range keys {
		var err error
		if keys[i], err = musig2.ParsePubKeys(p.encoded); err != nil {
			return err
		}
		if aggregate, _, _, err = peer.AggregateKeys(keys[i], false); err != nil {
			return err
		}
	}
	nonces := make([]*peer.Nonces, n)
	public := make([][musig2.PubNonceSize]byte, n)
	for i := range nonces {
		var err error
		if nonces[i], err = peer.GenNonces(peer.WithPublicKey(p.public[i])); err != nil {
			return err
		}
		public[i] = nonces[i].PubNonce
	}
	combined, err := peer.AggregateNonces(public)
	if err != nil {
		return err
	}
	partials := make([]*peer.PartialSignature, n)
	for i := range partials {
		if partials[i], err = peer.Sign(nonces[i].SecNonce, p.secret[i], combined, keys[i], p.message); err != nil {
			return err
		}
	}
	for i := range keys {
		j := (i + 1) % n
		if !partials[j].Verify(public[j], combined, keys[i], keys[i][j], p.message) {
			return errors.New("a partial signature of btcec is not valid")
		}
	}
	signature := peer.CombineSigs(partials[0].R, partials)
	key, err := schnorr.ParsePubKey(schnorr.SerializePubKey(aggregate.FinalKey))
	if err != nil {
		return err
	}
	if !signature.Verify(p.message[:], key) {
		return errors.New("a signature of btcec is not valid")
	}
	return nil
}

// message has a peer take an odd message of n bytes, the type included.
func message(n, calls int) ([]float64, error) {
	p, err := lnpeer.New(lnpeer.Config{})
	if err != nil {
		return nil, err
	}
	if _, err := p.Start(); err != nil {
		return nil, err
	}
	if _, _, err := p.Receive(0, []byte{0, 16, 0, 0, 0, 0}); err != nil {
		return nil, err
	}
	bytes := make([]byte, n)
	for i := range bytes {
		bytes[i] = 0x81
	}
	var watch stopwatch
	watch.start()
	for range calls {
		if _, _, err := p.Receive(0, bytes); err != nil {
			return nil, err
		}
	}
	watch.lap()
	return watch.phases, nil
}
