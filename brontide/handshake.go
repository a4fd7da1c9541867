package brontide

import (
	"crypto/sha256"
	"fmt"

	"github.com/brontosig/brontosig/internal/curve"
	"github.com/btcsuite/btcd/btcec/v2"
)

const (
	// HandshakeVersion is the first byte of every act.
	HandshakeVersion = byte(0)
	// ActOneSize is the length in bytes of act one: the version, the
	// initiator's ephemeral key and a tag.
	ActOneSize = 1 + pubKeySize + MACSize
	// ActTwoSize is the length in bytes of act two: the version, the
	// responder's ephemeral key and a tag.
	ActTwoSize = 1 + pubKeySize + MACSize
	// ActThreeSize is the length in bytes of act three: the version, the
	// encrypted static key of the initiator with its tag, and a tag.
	ActThreeSize = 1 + pubKeySize + MACSize + MACSize

	pubKeySize = btcec.PubKeyBytesLenCompressed

	protocolName = "Noise_XK_secp256k1_ChaChaPoly_SHA256"
	prologue     = "lightning"
)

// handshake is the state of BOLT-8's three acts. Its fields have the names of
// the specification where those are short: h, ck, temp_k, e, re.
type handshake struct {
	initiator bool
	generate  func() (*btcec.PrivateKey, error)
	local     SingleKeyECDH
	remote    *btcec.PublicKey

	// next is the act, 1 to 3, that is to be made or received next; 4 when
	// all are done.
	next int

	h, ck, tempKey [32]byte
	e              *btcec.PrivateKey
	re             *btcec.PublicKey
}

// init is "Handshake State Initialization" of BOLT-8.
func (s *handshake) init(initiator bool, local SingleKeyECDH, remote, responder *btcec.PublicKey) {
	*s = handshake{
		initiator: initiator,
		generate:  btcec.NewPrivateKey,
		local:     local,
		remote:    remote,
		next:      1,
		h:         sha256.Sum256([]byte(protocolName)),
	}
	s.ck = s.h
	s.mixHash([]byte(prologue))
	s.mixHash(responder.SerializeCompressed())
}

// wipe overwrites every secret. What is public (the role, the static keys)
// stays.
func (s *handshake) wipe() {
	clear(s.h[:])
	clear(s.ck[:])
	clear(s.tempKey[:])
	if s.e != nil {
		s.e.Zero()
		s.e = nil
	}
}

// mixHash is h = SHA-256(h || data).
func (s *handshake) mixHash(data []byte) {
	buf := make([]byte, 0, sha256.Size+2*pubKeySize)
	s.h = sha256.Sum256(append(append(buf, s.h[:]...), data...))
}

// mixKey is ck, temp_k = HKDF(ck, secret). It wipes secret.
func (s *handshake) mixKey(secret [32]byte) (err error) {
	s.ck, s.tempKey, err = hkdf2(&s.ck, secret[:])
	clear(secret[:])
	return err
}

// seal is c = encryptWithAD(temp_k, nonce, h, plaintext); h = SHA-256(h || c).
// It appends c to dst.
func (s *handshake) seal(dst []byte, nonce uint64, plaintext []byte) ([]byte, error) {
	aead, err := newAEAD(&s.tempKey)
	if err != nil {
		return nil, err
	}
	n := nonceBytes(nonce)
	c := aead.Seal(nil, n[:], plaintext, s.h[:])
	s.mixHash(c)
	return append(dst, c...), nil
}

// open is p = decryptWithAD(temp_k, nonce, h, c); h = SHA-256(h || c).
func (s *handshake) open(nonce uint64, c []byte) ([]byte, error) {
	aead, err := newAEAD(&s.tempKey)
	if err != nil {
		return nil, err
	}
	n := nonceBytes(nonce)
	plaintext, err := aead.Open(nil, n[:], c, s.h[:])
	if err != nil {
		return nil, newError(ErrMAC, "authentication failed")
	}
	s.mixHash(c)
	return plaintext, nil
}

// act runs one act if it is this side's turn. Any failure ends the machine: the
// specification lets neither side try an act again.
func (m *Machine) act(number int, initiator bool, run func() error) error {
	s := &m.handshake
	if m.poisoned.Load() {
		return errPoisoned()
	}
	if s.next != number || s.initiator != initiator {
		return &Error{Kind: ErrWrongAct, Act: number, Desc: fmt.Sprintf("act %d is out of turn or of the other role", number)}
	}
	if err := run(); err != nil {
		m.Wipe()
		if e, ok := err.(*Error); ok {
			e.Act = number
		}
		return describe(err, fmt.Sprintf("act %d", number))
	}
	s.next++
	return nil
}

// GenActOne returns act one, for the initiator to send.
func (m *Machine) GenActOne() (act [ActOneSize]byte, err error) {
	s := &m.handshake
	err = m.act(1, true, func() error {
		return s.sendEphemeral(&act, s.remote)
	})
	return act, err
}

// RecvActOne takes act one of the initiator. The errors are ErrVersion,
// ErrPublicKey and ErrMAC; the last says that the initiator has another static
// key of this side in mind. The responder then hangs up without an answer.
func (m *Machine) RecvActOne(act [ActOneSize]byte) error {
	s := &m.handshake
	return m.act(1, false, func() error {
		return s.receiveEphemeral(&act, s.local.ECDH)
	})
}

// GenActTwo returns act two, for the responder to send.
func (m *Machine) GenActTwo() (act [ActTwoSize]byte, err error) {
	s := &m.handshake
	err = m.act(2, false, func() error {
		return s.sendEphemeral(&act, s.re)
	})
	return act, err
}

// RecvActTwo takes act two of the responder. The errors are ErrVersion,
// ErrPublicKey and ErrMAC.
func (m *Machine) RecvActTwo(act [ActTwoSize]byte) error {
	s := &m.handshake
	return m.act(2, true, func() error {
		return s.receiveEphemeral(&act, func(re *btcec.PublicKey) ([32]byte, error) {
			return curve.ECDH(s.e, re), nil
		})
	})
}

// sendEphemeral is "Sender Actions" of acts one and two, which differ only in
// whose key the new ephemeral one meets.
func (s *handshake) sendEphemeral(act *[ActOneSize]byte, other *btcec.PublicKey) error {
	// Step 1: e = generateKey()
	e, err := s.generate()
	if err != nil {
		return fmt.Errorf("ephemeral key: %w", err)
	}
	if e == nil || e.Key.IsZeroBit() == 1 {
		return newError(ErrArgument, "the source of ephemeral keys returned none")
	}
	s.e = e
	// Step 2: h = SHA-256(h || e.pub)
	pub := curve.PublicKey(e).SerializeCompressed()
	s.mixHash(pub)
	// Steps 3 and 4: ck, temp_k = HKDF(ck, ECDH(other, e.priv))
	if err := s.mixKey(curve.ECDH(e, other)); err != nil {
		return err
	}
	// Steps 5 to 7: m = 0 || e.pub || encryptWithAD(temp_k, 0, h, zero)
	out := append([]byte{HandshakeVersion}, pub...)
	out, err = s.seal(out, 0, nil)
	copy(act[:], out)
	return err
}

// receiveEphemeral is "Receiver Actions" of acts one and two.
func (s *handshake) receiveEphemeral(act *[ActOneSize]byte,
	ecdh func(*btcec.PublicKey) ([32]byte, error)) error {

	// Steps 2 and 3.
	if err := checkVersion(act[0]); err != nil {
		return err
	}
	re, err := parseKey(act[1 : 1+pubKeySize])
	if err != nil {
		return err
	}
	s.re = re
	// Step 4: h = SHA-256(h || re)
	s.mixHash(act[1 : 1+pubKeySize])
	// Steps 5 and 6: ck, temp_k = HKDF(ck, ECDH(re, key))
	secret, err := ecdh(re)
	if err != nil {
		return fmt.Errorf("ECDH: %w", err)
	}
	if err := s.mixKey(secret); err != nil {
		return err
	}
	// Steps 7 and 8.
	_, err = s.open(0, act[1+pubKeySize:])
	return err
}

func checkVersion(version byte) error {
	if version != HandshakeVersion {
		return newError(ErrVersion, fmt.Sprintf("version %d, not 0", version))
	}
	return nil
}

func parseKey(key []byte) (*btcec.PublicKey, error) {
	pub, err := btcec.ParsePubKey(key)
	if err != nil {
		return nil, newError(ErrPublicKey, "the public key is not a compressed point of the curve")
	}
	return pub, nil
}

// GenActThree returns act three, for the initiator to send. Messages can be
// written and read from then on.
func (m *Machine) GenActThree() (act [ActThreeSize]byte, err error) {
	s := &m.handshake
	err = m.act(3, true, func() error {
		// Steps 1 and 2: c = encryptWithAD(temp_k2, 1, h, s.pub)
		out, err := s.seal([]byte{HandshakeVersion}, 1, s.local.PubKey().SerializeCompressed())
		if err != nil {
			return err
		}
		// Steps 3 and 4: ck, temp_k3 = HKDF(ck, ECDH(re, s.priv))
		secret, err := s.local.ECDH(s.re)
		if err != nil {
			return fmt.Errorf("ECDH: %w", err)
		}
		if err := s.mixKey(secret); err != nil {
			return err
		}
		// Steps 5 and 8: m = 0 || c || encryptWithAD(temp_k3, 0, h, zero)
		if out, err = s.seal(out, 0, nil); err != nil {
			return err
		}
		if err := m.split(&m.out.cipher, &m.in.cipher); err != nil {
			return err
		}
		copy(act[:], out)
		return nil
	})
	return act, err
}

// RecvActThree takes act three of the initiator, whose static key RemotePub
// returns from then on. Messages can be written and read. The errors are
// ErrVersion, ErrPublicKey and ErrMAC.
func (m *Machine) RecvActThree(act [ActThreeSize]byte) error {
	s := &m.handshake
	return m.act(3, false, func() error {
		const tag = 1 + pubKeySize + MACSize
		// Steps 2 and 3.
		if err := checkVersion(act[0]); err != nil {
			return err
		}
		// Steps 4 and 5: rs = decryptWithAD(temp_k2, 1, h, c)
		key, err := s.open(1, act[1:tag])
		if err != nil {
			return err
		}
		remote, err := parseKey(key)
		if err != nil {
			return err
		}
		// Steps 6 and 7: ck, temp_k3 = HKDF(ck, ECDH(rs, e.priv))
		if err := s.mixKey(curve.ECDH(s.e, remote)); err != nil {
			return err
		}
		// Step 8.
		if _, err := s.open(0, act[tag:]); err != nil {
			return err
		}
		if err := m.split(&m.in.cipher, &m.out.cipher); err != nil {
			return err
		}
		s.remote = remote
		return nil
	})
}

// split derives the keys of the two directions from the final chaining key,
// first the one from initiator to responder, and wipes the handshake's secrets.
func (m *Machine) split(toResponder, toInitiator *cipherState) error {
	s := &m.handshake
	first, second, err := hkdf2(&s.ck, nil)
	if err != nil {
		return err
	}
	if err := toResponder.init(&s.ck, &first); err != nil {
		return err
	}
	if err := toInitiator.init(&s.ck, &second); err != nil {
		return err
	}
	clear(first[:])
	clear(second[:])
	s.wipe()
	m.done = true
	return nil
}
