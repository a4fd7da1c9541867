//go:build !(js && wasm)

package wsconn_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/coder/websocket"

	"github.com/brontosig/brontosig/brontide"
	"github.com/brontosig/brontosig/brontide/wsconn"
	"github.com/btcsuite/btcd/btcec/v2"
)

// A server and a client that speak brontide over a WebSocket.
func Example() {
	serverKey, err := btcec.NewPrivateKey()
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if err != nil {
			return // Accept has answered
		}
		conn, err := brontide.Server(wsconn.New(ws), brontide.NewPrivKeyECDH(serverKey), 10*time.Second)
		if err != nil {
			log.Print(err)
			return
		}
		defer conn.Close()
		message, err := conn.ReadNextMessage()
		if err != nil {
			log.Print(err)
			return
		}
		if _, err := conn.Write(append([]byte("you said: "), message...)); err != nil {
			log.Print(err)
		}
	}))
	defer server.Close()

	clientKey, err := btcec.NewPrivateKey()
	if err != nil {
		log.Fatal(err)
	}
	ws, _, err := websocket.Dial(context.Background(), server.URL, nil)
	if err != nil {
		log.Fatal(err)
	}
	conn, err := brontide.Client(wsconn.New(ws), brontide.NewPrivKeyECDH(clientKey), serverKey.PubKey(), 10*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("hello")); err != nil {
		log.Fatal(err)
	}
	answer, err := conn.ReadNextMessage()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", answer)
	// Output: you said: hello
}
