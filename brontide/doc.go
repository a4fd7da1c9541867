// Package brontide is BOLT-8, the encrypted and authenticated transport of the
// Lightning Network: the handshake Noise_XK_secp256k1_ChaChaPoly_SHA256 and the
// framing of messages of up to 65535 bytes.
//
// It has three layers, and a program picks one:
//
//   - Machine does the handshake and the cipher. Acts are arrays of bytes;
//     messages go through an io.Writer and an io.Reader. It owns no socket and
//     no clock, and its names are those of lnd's package of the same name.
//   - Stream drives a Machine with bytes that arrive in any split and hands
//     out whole messages. It is what a transport without io.Reader needs.
//   - Conn, Listener, Dial, Client and Server are a net.Conn and a
//     net.Listener over any other net.Conn.
//
// # What is promised
//
// The initiator knows the responder's static public key beforehand; when the
// handshake ends well, each side has proved that it holds the secret of its
// static key. Messages are confidential, authenticated and in order. Each
// direction changes its key after 1000 operations of its cipher (a message is
// two), from a chaining key of its own.
//
// A failed authentication ends a Machine for good: the key material is wiped,
// and this and every later call return an error. Secret keys are used in
// constant time only. What Go's garbage collector has copied, and what the
// cipher's implementation keeps until it is collected, cannot be wiped.
//
// # What is not promised
//
// The end of a stream is not authenticated: whoever can cut the connection can
// cut it between two messages, and the reader sees an ordinary io.EOF. Lengths
// and times of messages are visible to an observer of the traffic. The
// responder's key is not hidden from an active attacker who guesses it.
//
// # For users of lnd's package
//
//	lnd                              here
//	NewBrontideMachine: *Machine     also returns an error, for keys that are missing or not on the curve
//	Machine.Flush: plaintext bytes   the number of bytes written to the carrier
//	a failed decryption              lnd goes on with the next nonce; here the Machine is finished
//	a deadline in mid header         lnd loses the bytes read so far; here the next read goes on
//	Conn.Read of an empty message    lnd returns 0, io.EOF; here it is skipped (ReadNextMessage returns it)
//	Conn.Write that times out        here the message counts as written, and is finished by the next call
//	Listener                         lnd holds a handshake slot until Accept; here it is freed by the handshake
//	one chaining key                 both keep one for each direction, as the rotation rule needs
package brontide
