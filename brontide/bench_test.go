package brontide

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/brontosig/brontosig/internal/sidebyside"
)

// The benchmarks here compare with the bare cipher, those of the module in
// interop with lnd's package. Each does both sides in turn, so that the ratio it
// reports is of one and the same moment.

// BenchmarkWriteMessage compares WriteMessage and Flush with the two Seal calls
// that a message is made of.
func BenchmarkWriteMessage(b *testing.B) {
	for _, size := range []int{64, 1024, MaxMessageSize} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			m, _ := randomPair(b)
			message := make([]byte, size)
			aead := must[interface {
				Seal(dst, nonce, plaintext, additional []byte) []byte
			}](b)(chacha20poly1305.New(make([]byte, chacha20poly1305.KeySize)))
			var nonce [chacha20poly1305.NonceSize]byte
			sealed := make([]byte, 0, size+MACSize)
			header := make([]byte, 0, HeaderSize)
			sidebyside.Run(b, func() {
				if m.WriteMessage(message) != nil {
					b.Fatal("WriteMessage")
				}
				if _, err := m.Flush(io.Discard); err != nil {
					b.Fatal(err)
				}
			}, func() {
				aead.Seal(header, nonce[:], message[:lengthSize], nil)
				aead.Seal(sealed, nonce[:], message, nil)
			})
		})
	}
}

// BenchmarkReadMessage compares AppendMessage with the two Open calls. The
// nonce is set back each time, so that the same packet can be read again.
func BenchmarkReadMessage(b *testing.B) {
	for _, size := range []int{64, 1024, MaxMessageSize} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			from, to := randomPair(b)
			requireNil(b, from.WriteMessage(make([]byte, size)))
			packet := bytes.Clone(from.out.packet)
			var r bytes.Reader
			message := make([]byte, 0, size)

			aead := to.in.cipher.aead
			var first, second [chacha20poly1305.NonceSize]byte
			second = nonceBytes(1)
			plaintext := make([]byte, 0, size)
			sidebyside.Run(b, func() {
				r.Reset(packet)
				if _, err := to.AppendMessage(message, &r); err != nil {
					b.Fatal(err)
				}
				to.in.cipher.nonce = 0
			}, func() {
				_, headerErr := aead.Open(plaintext, first[:], packet[:HeaderSize], nil)
				_, bodyErr := aead.Open(plaintext, second[:], packet[HeaderSize:], nil)
				if headerErr != nil || bodyErr != nil {
					b.Fatal(headerErr, bodyErr)
				}
			})
		})
	}
}

// BenchmarkStream compares a Stream, from the message to the message, with the
// four operations of the cipher.
func BenchmarkStream(b *testing.B) {
	for _, size := range []int{64, MaxMessageSize} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			from, to := connected(b)
			message := make([]byte, size)
			packet, got := make([]byte, 0, HeaderSize+size+MACSize), make([]byte, 0, size)
			aead := to.m.in.cipher.aead
			var nonce [chacha20poly1305.NonceSize]byte
			sidebyside.Run(b, func() {
				packet, err := from.AppendPacket(packet, message)
				if err != nil {
					b.Fatal(err)
				}
				if _, ok, err := to.AppendMessage(got, &packet); !ok {
					b.Fatal(err)
				}
			}, func() {
				for _, part := range [][]byte{message[:lengthSize], message} {
					sealed := aead.Seal(packet, nonce[:], part, nil)
					if _, err := aead.Open(got, nonce[:], sealed, nil); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
