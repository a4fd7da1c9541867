/**
 * Lightning nodes as peers: init, pings, messages (BOLT-1), and commando.
 *
 * @module brontosig/lightning
 */
export { bridgeUrl } from './bridge-url.js';
export type { Address } from './connect.js';
export { connectPeer, type KeepaliveOptions, type PeerOptions } from './connect-peer.js';
export { CommandoError, type CommandoOptions } from './commando.js';
export type { CloseInfo } from './connection.js';
export { Peer, type Disconnect, type PeerEvents, type PeerState } from './peer.js';
export type { PingOptions, PingResult } from './pings.js';
export type { Message, Notice, RemoteInit } from './protocol.js';
export type { ReconnectOptions } from './reconnect.js';
