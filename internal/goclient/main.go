//go:build !(js && wasm)

// Goclient is a Lightning client in Go for tests of what carries bytes between
// it and a node:
//
//	goclient NODEID ADDRESS
//
// It exchanges init with the node, sends pings of many sizes without waiting,
// and compares the pongs. Then it prints how many there were.
package main

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/brontide"
)

const (
	timeout  = 30 * time.Second
	pings    = 300
	typeInit = 16
	typePing = 18
	typePong = 19
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: goclient NODEID ADDRESS")
		os.Exit(2)
	}
	n, err := run(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(n)
}

func run(nodeID, address string) (pongs int, err error) {
	id, err := hex.DecodeString(nodeID)
	if err != nil {
		return 0, err
	}
	node, err := btcec.ParsePubKey(id)
	if err != nil {
		return 0, err
	}
	key, err := btcec.NewPrivateKey()
	if err != nil {
		return 0, err
	}
	conn, err := brontide.Dial(brontide.NewPrivKeyECDH(key), &brontide.NetAddress{IdentityKey: node, Address: address}, timeout, nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := conn.SetDeadline(time.Now().Add(timeout)); err != nil {
		return 0, err
	}
	// No global features, and data_loss_protect.
	if _, err := conn.Write([]byte{0, typeInit, 0, 0, 0, 1, 2}); err != nil {
		return 0, err
	}
	if message, err := conn.ReadNextMessage(); err != nil || len(message) < 2 || message[1] != typeInit {
		return 0, fmt.Errorf("no init but %x: %w", message, err)
	}
	sent := make(chan error, 1)
	go func() { sent <- sendPings(conn) }()
	for ; pongs < pings; pongs++ {
		if err := readPong(conn, size(pongs)); err != nil {
			return pongs, err
		}
	}
	return pongs, <-sent
}

// size is how many bytes the pong to the nth ping has.
func size(n int) int { return n * 1771 % 65532 }

func sendPings(conn *brontide.Conn) error {
	for n := range pings {
		ping := binary.BigEndian.AppendUint16([]byte{0, typePing}, uint16(size(n)))
		ignored := (65531 - size(n)) % 65530
		ping = binary.BigEndian.AppendUint16(ping, uint16(ignored))
		if _, err := conn.Write(append(ping, make([]byte, ignored)...)); err != nil {
			return err
		}
	}
	return nil
}

func readPong(conn *brontide.Conn, size int) error {
	message, err := conn.ReadNextMessage()
	if err != nil {
		return err
	}
	if len(message) < 4 || message[1] != typePong || int(binary.BigEndian.Uint16(message[2:])) != size || len(message) != 4+size {
		return fmt.Errorf("a message of %d bytes is not the pong of %d bytes", len(message), size)
	}
	return nil
}
