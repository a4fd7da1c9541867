package lnpeer_test

import (
	"fmt"
	"log"

	"github.com/brontosig/brontosig/lnpeer"
)

// Two peers whose messages are carried by hand.
func Example() {
	alice, err := lnpeer.New(lnpeer.Config{Features: lnpeer.NewFeatures(1, 13)})
	if err != nil {
		log.Fatal(err)
	}
	bob, err := lnpeer.New(lnpeer.Config{})
	if err != nil {
		log.Fatal(err)
	}
	// carry gives a message to a peer, shows what it tells the application, and
	// returns what it answers.
	carry := func(name string, to *lnpeer.Peer, now lnpeer.Millis, msg []byte) []byte {
		event, reply, err := to.Receive(now, msg)
		if err != nil {
			log.Fatal(err)
		}
		switch e := event.(type) {
		case *lnpeer.Init:
			fmt.Println(name, "hears of the features", e.Features.Bits())
		case *lnpeer.Pong:
			fmt.Println(name, "hears of the answer to ping", e.ID)
		}
		return reply
	}

	fromAlice, err := alice.Start()
	if err != nil {
		log.Fatal(err)
	}
	fromBob, err := bob.Start()
	if err != nil {
		log.Fatal(err)
	}
	carry("bob", bob, 0, fromAlice)
	carry("alice", alice, 0, fromBob)

	_, ping, err := alice.Ping(1000, lnpeer.AnyPong, 0)
	if err != nil {
		log.Fatal(err)
	}
	carry("alice", alice, 1050, carry("bob", bob, 1020, ping))
	// Output:
	// bob hears of the features [1 13]
	// alice hears of the features [1]
	// alice hears of the answer to ping 1
}
