package musig2_test

import (
	"fmt"
	"log"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/brontosig/brontosig/musig2"
)

// Two signers make one signature under a taproot output key. What one hands to
// the other is public; in life it travels over a network.
func Example() {
	keys := make([]*btcec.PrivateKey, 2)
	public := make([]*btcec.PublicKey, 2)
	for i := range keys {
		var err error
		if keys[i], err = btcec.NewPrivateKey(); err != nil {
			log.Fatal(err)
		}
		public[i] = keys[i].PubKey()
	}
	message := []byte("both of us agree")

	sessions := make([]*musig2.Session, 2)
	var outputKey [musig2.XOnlyPubKeySize]byte
	for i := range keys {
		ctx, err := musig2.NewContext(keys[i], false, musig2.WithKnownSigners(public), musig2.WithBip86TweakCtx())
		if err != nil {
			log.Fatal(err)
		}
		outputKey = ctx.OutputKey()
		if sessions[i], err = ctx.NewSession(musig2.WithSessionMessage(message)); err != nil {
			log.Fatal(err)
		}
	}

	// The first round: nonces.
	for i, s := range sessions {
		other := 1 - i
		if _, err := s.RegisterPubNonce(other, sessions[other].PublicNonce()); err != nil {
			log.Fatal(err)
		}
	}
	// The second: partial signatures. One of the two combines.
	if _, err := sessions[0].Sign(nil); err != nil {
		log.Fatal(err)
	}
	partial, err := sessions[1].Sign(nil)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := sessions[0].CombineSig(1, partial); err != nil {
		log.Fatal(err) // an InvalidContributionError would blame signer 1
	}
	signature, err := sessions[0].FinalSig()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(musig2.VerifySignature(&signature, message, &outputKey))
	// Output: true
}
