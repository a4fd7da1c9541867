// Package lnpeer is BOLT-1, the base protocol of the Lightning Network, on top
// of anything that carries whole messages: the exchange of init with its
// features, ping and pong, errors and warnings, and the rules for message types
// that are not known. It also has the client's side of commando, by which Core
// Lightning serves its RPC to peers.
//
// It does no input or output and has no clock. A Peer takes the messages of the
// other side, and the time, and returns events for the application and what is
// to be sent:
//
//	send(peer.Start())
//	for {
//		event, reply, err := peer.Receive(now(), next())
//		if reply != nil {
//			send(reply)
//		}
//		if err != nil {
//			break // close the connection
//		}
//		// event is nil, or one of *Init, *Message, *Pong, *Warning, *PeerError,
//		// *CommandoPart, *CommandoTooLong
//	}
//
// Beside that, a timer calls Poll, which keeps the connection alive and notices
// its death.
//
// Messages are up to MaxMessageSize bytes: a type of two bytes, big-endian, and
// a payload. Package brontide carries them.
package lnpeer
