//go:build !(js && wasm)

package brontide

import (
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
)

// Client does the handshake of the initiator over carrier, with a peer whose
// static key must be remote, and returns the connection. A timeout above 0 is
// for the whole handshake, in both directions. On an error the carrier is
// closed. ErrNotAnswered and ErrMAC say that the peer most likely has another
// key.
func Client(carrier net.Conn, local SingleKeyECDH, remote *btcec.PublicKey, timeout time.Duration) (*Conn, error) {
	machine, err := NewBrontideMachine(true, local, remote)
	return establish(carrier, machine, err, timeout)
}

// Server does the handshake of the responder over carrier and returns the
// connection; its RemotePub is the initiator's proven static key. A timeout
// above 0 is for the whole handshake, in both directions. On an error the
// carrier is closed.
func Server(carrier net.Conn, local SingleKeyECDH, timeout time.Duration) (*Conn, error) {
	machine, err := NewBrontideMachine(false, local, nil)
	return establish(carrier, machine, err, timeout)
}

// establish runs a handshake between a deadline set and a deadline cleared, and
// leaves nothing behind when any of it fails.
func establish(carrier net.Conn, machine *Machine, err error, timeout time.Duration) (*Conn, error) {
	if err == nil && timeout > 0 {
		err = carrier.SetDeadline(time.Now().Add(timeout))
	}
	if err == nil {
		err = shakeHands(carrier, NewStream(machine))
	}
	if err == nil && timeout > 0 {
		err = carrier.SetDeadline(time.Time{})
	}
	if err != nil {
		if machine != nil {
			machine.Wipe()
		}
		return nil, errors.Join(err, carrier.Close())
	}
	return newConn(carrier, machine), nil
}

// shakeHands reads no byte beyond the last act.
func shakeHands(carrier net.Conn, s *Stream) error {
	send, err := s.Start()
	if err != nil {
		return err
	}
	var buf [ActThreeSize]byte
	for {
		if len(send) > 0 {
			if _, err := carrier.Write(send); err != nil {
				return fmt.Errorf("brontide: sending an act: %w", err)
			}
		}
		if s.State() == StateReady {
			return nil
		}
		n := 0
		readErr := fill(carrier, buf[:s.actSize()], &n)
		if send, _, err = s.Receive(buf[:n]); err != nil {
			return err
		}
		if readErr == io.EOF {
			return s.End()
		}
		if readErr != nil {
			return fmt.Errorf("brontide: waiting for an act: %w", readErr)
		}
	}
}
