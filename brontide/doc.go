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
//     net.Listener over any other net.Conn whose deadlines do no harm: those of
//     package net, and with package wsconn a WebSocket.
//
// The static key is an interface, SingleKeyECDH, which a hardware signer can
// serve. PrivKeyECDH is one in memory.
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
// A deadline that passes anywhere, and a write that the carrier takes in part,
// lose nothing: the next call goes on in the same place, and nothing is
// encrypted twice.
//
// A Listener bounds the handshakes under way, in all and from one address, and
// the time that one may take. When there are too many, the oldest gives way.
//
// # What is not promised
//
// The end of a stream is not authenticated: whoever can cut the connection can
// cut it between two messages, and the reader sees an ordinary io.EOF. A protocol
// that must know whether it has heard everything says so in a message. Lengths
// and times of messages are visible to an observer of the traffic. The
// responder's key is not hidden from an active attacker who guesses it.
//
// # For users of lnd's package
//
// The exported names of lnd's brontide (v0.21.1) are here, and what takes a
// keychain.SingleKeyECDH takes the same key. These differ:
//
//	lnd's call           here, and why
//
//	NewBrontideMachine   Also returns an error, for keys that are missing or
//	                     not on the curve; lnd's panics or goes on with them.
//	ReadHeader,          After a failed authentication lnd's has advanced its
//	ReadBody,            nonce and takes what comes next. Here the Machine is
//	ReadMessage          finished, as BOLT-8 asks: no later call succeeds.
//	ReadHeader,          When the reader fails in the middle, such as by a
//	ReadNextHeader,      deadline, lnd's loses the bytes that it has read, and
//	ReadNextMessage      with them the connection. Here the next call goes on.
//	ReadMessage          The same. AppendMessage, which lnd's has not, reads
//	                     into a slice of the caller's.
//	Flush                Makes one Write of a message where lnd's makes two. The
//	                     result counts the message's own bytes in both.
//	Conn.Read            Skips an empty message. lnd's returns 0, io.EOF, which
//	                     ends every io.Copy and io.ReadAll.
//	Conn.Write           Where the deadline passes after the message was
//	                     encrypted, n counts all of it, and the next call sends
//	                     the rest. lnd's counts what was sent; a caller that
//	                     writes the remainder again gets ErrMessageNotFlushed.
//	                     An empty p sends nothing; lnd's sends an empty message
//	                     (WriteMessage and Flush do).
//	Conn.Close           Sends the rest of a message first, for a second at
//	                     most, and wipes the keys.
//	ClearPendingSend     Makes later calls fail if there was something to drop:
//	                     the peer could not decrypt what would follow.
//	Dial                 The address is a NetAddress of this package; the
//	                     timeout is for the connection and the whole handshake.
//	                     lnd's allows five seconds for the read of act two and
//	                     any time for its writes.
//	NewListener          Takes options in place of lnd's function: AcceptPeer,
//	                     which also sees the address, OnHandshakeError and
//	                     HandshakeBounds. So there is no DisabledBanClosure.
//	Listener.Accept      Returns only connections that came through; lnd's also
//	                     returns the errors of those that did not.
//	Listener             lnd's has 50 slots and holds one until Accept has
//	                     taken the connection, so that 50 that nobody takes, or
//	                     that stall, keep all others out. Here the handshake
//	                     frees its slot, and the oldest gives way to a new one.
//	Errors               ErrMaxMessageLengthExceeded and ErrMessageNotFlushed
//	                     are kinds: compare with errors.Is, not with ==.
//	EncryptAndHash, ...  lnd's Machine has methods of its inner states by
//	                     embedding. They are not offered.
package brontide
