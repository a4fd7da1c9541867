import { bytesOrHex, bytes, object, string } from './check.js';
import { parseHost } from './bridge-url.js';
import { establish, type Connection } from './connection.js';
import { BrontosigError } from './errors.js';
import { PUBLIC_KEY_SIZE, SECRET_KEY_SIZE } from './generated.js';
import { timeoutOf, within, type Limits } from './limits.js';
import { Machine } from './machine.js';
import { publicKey } from './public-key.js';
import { currentNetwork, type Transport } from './transport.js';
import { webSocketTransport, type WebSocketOptions } from './websocket.js';

export { bridgeUrl } from './bridge-url.js';
export { Connection, type CloseInfo } from './connection.js';
export type { MachineState } from './generated.js';
export { Machine, type MachineOptions, type Received } from './machine.js';
export { publicKey } from './public-key.js';
export type { Transport, TransportClose, WebSocketConstructor, WebSocketLike } from './transport.js';
export { webSocketTransport, type WebSocketOptions } from './websocket.js';
export type { Limits } from './limits.js';

/** Milliseconds that connecting and the handshake may take by default. */
const CONNECT_TIMEOUT = 30_000;

/** Where a node or bridge is: `ws://…` or `wss://…`, and in Node also `tcp://host:port`. */
export type Address = string | URL;

/** Options of {@link connect}. */
export interface ConnectOptions extends WebSocketOptions {
  /** The node's static public key, 33 bytes or 66 hexadecimal digits. */
  readonly nodeId: string | Uint8Array;
  /** The own static secret key, 32 bytes. A fresh one by default. */
  readonly secretKey?: Uint8Array | undefined;
}

/** Options of {@link accept}. */
export interface AcceptOptions extends Limits {
  /** The own static secret key, 32 bytes. */
  readonly secretKey: Uint8Array;
}

/**
 * Connects to a node and does the handshake as the initiator (BOLT-8).
 *
 * `signal` ends the attempt, and later the connection. `timeoutMs`, 30 seconds
 * by default, is for connecting and the handshake together.
 *
 * @param address - an address, or a transport that leads to the node.
 * @throws TypeError or RangeError that names a wrong argument.
 * @throws BrontosigError AUTHENTICATION_FAILED if the node has another key;
 * CONNECTION_FAILED if nothing answers at the address or, in a browser, the
 * bridge refuses the page's origin; BRIDGE_REFUSED, RATE_LIMITED,
 * NODE_UNREACHABLE, BRIDGE_BUSY, NODE_TIMEOUT from a bridge; CONNECTION_CLOSED
 * if the other side hangs up in the middle; PROTOCOL_ERROR; TIMEOUT; ABORTED;
 * INVALID_SECRET_KEY; INVALID_PUBLIC_KEY.
 */
export async function connect(address: Address | Transport, options: ConnectOptions): Promise<Connection> {
  const o = object('options', options);
  const remoteKey = bytesOrHex('nodeId', o.nodeId, PUBLIC_KEY_SIZE);
  const total = timeoutOf(o, CONNECT_TIMEOUT);
  const [machine, localKey] = initiator(o.secretKey, remoteKey);
  const started = performance.now();
  try {
    const transport = await open(address, { ...o, timeoutMs: total });
    const left = Math.max(1, Math.ceil(total - (performance.now() - started)));
    return await establish(transport, machine, localKey, { signal: o.signal, timeoutMs: left });
  } catch (error) {
    machine.dispose();
    throw error;
  }
}

/** Makes the machine of an initiator, with a fresh key if none is given. */
function initiator(given: Uint8Array | undefined, remoteKey: Uint8Array): [Machine, Uint8Array] {
  const secretKey = given ?? crypto.getRandomValues(new Uint8Array(SECRET_KEY_SIZE));
  try {
    const localKey = publicKey(bytes('secretKey', secretKey, SECRET_KEY_SIZE));
    return [new Machine({ role: 'initiator', secretKey, remoteKey }), localKey];
  } finally {
    if (given === undefined) {
      secretKey.fill(0);
    }
  }
}

/**
 * Does the handshake as the responder (BOLT-8).
 *
 * `signal` ends the attempt, and later the connection.
 *
 * @throws TypeError or RangeError that names a wrong argument.
 * @throws BrontosigError AUTHENTICATION_FAILED if the initiator expects another
 * key; CONNECTION_CLOSED; PROTOCOL_ERROR; TIMEOUT; ABORTED; INVALID_SECRET_KEY.
 */
export async function accept(transport: Transport, options: AcceptOptions): Promise<Connection> {
  const { secretKey, ...limits } = object('options', options);
  const machine = new Machine({ role: 'responder', secretKey });
  try {
    return await establish(transport, machine, publicKey(secretKey), limits);
  } catch (error) {
    machine.dispose();
    throw error;
  }
}

async function open(address: Address | Transport, options: ConnectOptions): Promise<Transport> {
  if (typeof address === 'object' && !(address instanceof URL)) {
    return object('transport', address);
  }
  const text = string('address', String(address));
  const scheme = /^[a-z]+(?=:\/\/)/i.exec(text)?.[0].toLowerCase();
  if (scheme === 'ws' || scheme === 'wss') {
    return webSocketTransport(text, options);
  }
  if (scheme !== 'tcp') {
    throw new TypeError('address: a ws://, wss:// or tcp:// address, or a transport, expected');
  }
  const { host, port } = parseHost('address', text.slice('tcp://'.length));
  const { openTcp } = currentNetwork();
  if (openTcp === undefined) {
    throw new BrontosigError('CONNECTION_FAILED', 'tcp:// needs Node: a browser reaches nodes through a bridge');
  }
  return within(options, 'connecting', CONNECT_TIMEOUT, async (ended) => openTcp(host, port, ended));
}
