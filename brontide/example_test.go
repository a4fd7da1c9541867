//go:build !(js && wasm)

package brontide_test

import (
	"fmt"
	"io"
	"log"
	"net"
	"time"

	"github.com/brontosig/brontosig/brontide"
	"github.com/btcsuite/btcd/btcec/v2"
)

// A server that sends back what it receives, and a client that knows its key.
func Example() {
	serverKey, err := btcec.NewPrivateKey()
	if err != nil {
		log.Fatal(err)
	}
	listener, err := brontide.NewListener(brontide.NewPrivKeyECDH(serverKey), "127.0.0.1:0",
		brontide.AcceptPeer(func(remote *btcec.PublicKey, addr net.Addr) bool {
			return true // or only those whose key is on a list
		}))
	if err != nil {
		log.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return // the listener was closed
			}
			go func() {
				defer conn.Close()
				if _, err := io.Copy(conn, conn); err != nil {
					log.Print(err)
				}
			}()
		}
	}()

	clientKey, err := btcec.NewPrivateKey()
	if err != nil {
		log.Fatal(err)
	}
	address := &brontide.NetAddress{IdentityKey: serverKey.PubKey(), Address: listener.Addr().String()}
	conn, err := brontide.Dial(brontide.NewPrivKeyECDH(clientKey), address, 10*time.Second, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("hello")); err != nil {
		log.Fatal(err)
	}
	message, err := conn.ReadNextMessage()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", message)
	// Output: hello
}

// A Stream takes bytes in any split and does no input or output of its own.
func ExampleStream() {
	serverKey, err := btcec.NewPrivateKey()
	if err != nil {
		log.Fatal(err)
	}
	clientKey, err := btcec.NewPrivateKey()
	if err != nil {
		log.Fatal(err)
	}
	initiator, err := brontide.NewBrontideMachine(true, brontide.NewPrivKeyECDH(clientKey), serverKey.PubKey())
	if err != nil {
		log.Fatal(err)
	}
	responder, err := brontide.NewBrontideMachine(false, brontide.NewPrivKeyECDH(serverKey), nil)
	if err != nil {
		log.Fatal(err)
	}
	client, server := brontide.NewStream(initiator), brontide.NewStream(responder)

	// Whatever one side wants to send goes to the other, here byte by byte.
	toServer, err := client.Start()
	for err == nil && len(toServer) > 0 {
		var toClient []byte
		for _, b := range toServer {
			send, _, failure := server.Receive([]byte{b})
			toClient, err = append(toClient, send...), failure
		}
		if err == nil {
			toServer, _, err = client.Receive(toClient)
		}
	}
	if err != nil {
		log.Fatal(err)
	}
	packet, err := client.Encrypt([]byte("hello"))
	if err != nil {
		log.Fatal(err)
	}
	_, messages, err := server.Receive(packet)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s from %v\n", messages[0], server.RemotePub().IsEqual(clientKey.PubKey()))
	// Output: hello from true
}
