/**
 * Encrypted connections (BOLT-8), over WebSockets, in Node over TCP, or over any
 * pair of streams.
 *
 * @module brontosig/brontide
 */
export { bridgeUrl } from './bridge-url.js';
export { accept, connect, type AcceptOptions, type Address, type ConnectOptions } from './connect.js';
export { Connection, type CloseInfo, type SendOptions } from './connection.js';
export type { MachineState } from './generated.js';
export type { Limits } from './limits.js';
export { Machine, type MachineOptions, type Received } from './machine.js';
export { publicKey } from './public-key.js';
export type { Transport, TransportClose, WebSocketConstructor, WebSocketLike } from './transport.js';
export { webSocketTransport, type WebSocketOptions } from './websocket.js';
