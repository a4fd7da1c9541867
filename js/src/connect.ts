import { bytes, bytesOrHex, object, options as optionsOf, pick } from './check.js';
import { parseHost } from './bridge-url.js';
import type { Connection } from './connection.js';
import { BrontosigError } from './errors.js';
import { PUBLIC_KEY_SIZE, SECRET_KEY_SIZE } from './generated.js';
import { establish } from './handshake.js';
import { checkSignal, Deadline, milliseconds, queueLimit, within, type Limits } from './limits.js';
import { Machine } from './machine.js';
import { publicKey } from './public-key.js';
import { randomBytes } from './random.js';
import { currentNetwork, type Transport } from './transport.js';
import { WEB_SOCKET_OPTIONS, webSocketTransport, type WebSocketOptions } from './websocket.js';

/** Milliseconds that connecting and the handshake may take together by default. */
const TOTAL_TIMEOUT = 30_000;

/** Milliseconds that connecting may take by default. A bridge dials in that time. */
const CONNECT_TIMEOUT = 20_000;

/** Milliseconds that the handshake may take by default. */
const HANDSHAKE_TIMEOUT = 15_000;

/** Milliseconds that `close` waits by default for what is still to be sent. */
const CLOSE_TIMEOUT = 5_000;

/** Where a node or bridge is: `ws://…` or `wss://…`, and in Node also `tcp://host:port`. */
export type Address = string | URL;

/** Options of {@link connect}. */
export interface ConnectOptions extends WebSocketOptions {
  /** The node's static public key, 33 bytes or 66 hexadecimal digits. */
  readonly nodeId: string | Uint8Array;
  /** The own static secret key, 32 bytes. A fresh one by default. */
  readonly secretKey?: Uint8Array | undefined;
  /** Milliseconds for connecting and the handshake together, 30,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds until the TCP connection or WebSocket is open, 20,000 by default. */
  readonly connectTimeoutMs?: number | undefined;
  /** Milliseconds for the handshake, 15,000 by default. */
  readonly handshakeTimeoutMs?: number | undefined;
  /** Milliseconds that `close()` waits for what is still to be sent, 5,000 by default. */
  readonly closeTimeoutMs?: number | undefined;
}

/** The names of the options of {@link connect}. */
export const CONNECT_OPTIONS: readonly (keyof ConnectOptions)[] = [
  ...WEB_SOCKET_OPTIONS, 'nodeId', 'secretKey', 'connectTimeoutMs', 'handshakeTimeoutMs', 'closeTimeoutMs',
];

/** Options of {@link accept}. */
export interface AcceptOptions extends Limits {
  /** The own static secret key, 32 bytes. */
  readonly secretKey: Uint8Array;
  /** Milliseconds for the handshake, 15,000 by default. */
  readonly timeoutMs?: number | undefined;
  /** Milliseconds that `close()` waits for what is still to be sent, 5,000 by default. */
  readonly closeTimeoutMs?: number | undefined;
}

/**
 * Connects to a node and does the handshake as the initiator (BOLT-8).
 *
 * `signal` ends the attempt, and later the connection.
 *
 * @param address - an address, or a transport that leads to the node.
 * @throws TypeError or RangeError that names a wrong argument.
 * @throws BrontosigError AUTHENTICATION_FAILED if the node has another key;
 * CONNECTION_FAILED if nothing answers at the address or, in a browser, the
 * bridge refuses the page's origin; BRIDGE_REFUSED, RATE_LIMITED,
 * NODE_UNREACHABLE, BRIDGE_BUSY, NODE_TIMEOUT from a bridge; CONNECTION_CLOSED
 * if the other side hangs up in the middle; PROTOCOL_ERROR; TIMEOUT; ABORTED;
 * INVALID_SECRET_KEY; INVALID_PUBLIC_KEY; RANDOM_FAILED.
 */
export async function connect(address: Address | Transport, options: ConnectOptions): Promise<Connection> {
  const o = optionsOf('options', options, CONNECT_OPTIONS);
  const remoteKey = bytesOrHex('nodeId', o.nodeId, PUBLIC_KEY_SIZE);
  const deadline = new Deadline(milliseconds('timeoutMs', o.timeoutMs ?? TOTAL_TIMEOUT));
  const connectMs = milliseconds('connectTimeoutMs', o.connectTimeoutMs ?? CONNECT_TIMEOUT);
  const handshakeMs = milliseconds('handshakeTimeoutMs', o.handshakeTimeoutMs ?? HANDSHAKE_TIMEOUT);
  const closeTimeoutMs = milliseconds('closeTimeoutMs', o.closeTimeoutMs ?? CLOSE_TIMEOUT);
  const maxQueuedBytes = queueLimit(o.maxQueuedBytes);
  const signal = checkSignal(o.signal);
  const [machine, localKey] = initiator(o.secretKey, remoteKey);
  try {
    const transport = await open(address, { ...o, maxQueuedBytes, timeoutMs: deadline.within(connectMs) });
    const timeoutMs = deadline.within(handshakeMs);
    return await establish(transport, machine, { localKey, signal, timeoutMs, closeTimeoutMs });
  } catch (error) {
    machine.dispose();
    throw error;
  }
}

/** Makes the machine of an initiator, with a fresh key if none is given. */
function initiator(given: Uint8Array | undefined, remoteKey: Uint8Array): [Machine, Uint8Array] {
  const secretKey = given ?? randomBytes(SECRET_KEY_SIZE);
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
 * key; CONNECTION_CLOSED; PROTOCOL_ERROR; TIMEOUT; ABORTED; INVALID_SECRET_KEY;
 * RANDOM_FAILED.
 */
export async function accept(transport: Transport, options: AcceptOptions): Promise<Connection> {
  const o = optionsOf('options', options, ['secretKey', 'signal', 'timeoutMs', 'closeTimeoutMs']);
  const timeoutMs = milliseconds('timeoutMs', o.timeoutMs ?? HANDSHAKE_TIMEOUT);
  const closeTimeoutMs = milliseconds('closeTimeoutMs', o.closeTimeoutMs ?? CLOSE_TIMEOUT);
  const signal = checkSignal(o.signal);
  const localKey = publicKey(bytes('secretKey', o.secretKey, SECRET_KEY_SIZE));
  const machine = new Machine({ role: 'responder', secretKey: o.secretKey });
  try {
    return await establish(transport, machine, { localKey, signal, timeoutMs, closeTimeoutMs });
  } catch (error) {
    machine.dispose();
    throw error;
  }
}

/** The options of {@link open}, checked. */
interface OpenOptions extends WebSocketOptions {
  readonly maxQueuedBytes: number;
  readonly timeoutMs: number;
}

async function open(address: Address | Transport, options: OpenOptions): Promise<Transport> {
  if (typeof address === 'object' && !(address instanceof URL)) {
    return object('transport', address);
  }
  if (typeof (address as unknown) !== 'string' && !(address instanceof URL)) {
    throw new TypeError('address: a ws://, wss:// or tcp:// address, or a transport, expected');
  }
  const text = String(address);
  const scheme = /^[a-z]+(?=:\/\/)/i.exec(text)?.[0].toLowerCase();
  if (scheme === 'ws' || scheme === 'wss') {
    return webSocketTransport(text, pick(options, WEB_SOCKET_OPTIONS));
  }
  if (scheme !== 'tcp') {
    throw new TypeError('address: a ws://, wss:// or tcp:// address, or a transport, expected');
  }
  const { host, port } = parseHost('address', text.slice('tcp://'.length));
  const { openTcp } = currentNetwork();
  if (openTcp === undefined) {
    throw new BrontosigError('CONNECTION_FAILED', 'tcp:// needs Node: a browser reaches nodes through a bridge');
  }
  const { maxQueuedBytes, signal, timeoutMs } = options;
  return within({ signal, timeoutMs }, 'connecting', CONNECT_TIMEOUT, async (ended) =>
    openTcp(host, port, { signal: ended, maxQueuedBytes }),
  );
}
