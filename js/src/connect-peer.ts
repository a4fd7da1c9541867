import { byteList, bytes, bytesOrHex, integer, list, options as optionsOf, pick } from './check.js';
import { bridgeUrl, parseHost } from './bridge-url.js';
import { connect, CONNECT_OPTIONS, type Address, type ConnectOptions } from './connect.js';
import { CHAIN_HASH_SIZE, MAX_SIGNERS, PING_INTERVAL, PUBLIC_KEY_SIZE, SECRET_KEY_SIZE } from './generated.js';
import { checkSignal, MAX_QUEUED, milliseconds, within } from './limits.js';
import { connected, Peer } from './peer.js';
import { randomBytes } from './random.js';
import type { ReconnectOptions, ReconnectSettings } from './reconnect.js';
import { Session, type SessionSettings } from './session.js';
import { systemTiming, type Timing } from './timing.js';
import type { Transport } from './transport.js';

/** Milliseconds that connecting, the handshake and init may take together by default. */
const CONNECT_TIMEOUT = 30_000;

/** Milliseconds that the exchange of init may take by default, as with lnd. */
const INIT_TIMEOUT = 15_000;

/** The least that `maxQueuedBytes` may be: two of the longest messages, with what they cost. */
const LEAST_QUEUED = 1 << 18;

/**
 * Milliseconds until a ping goes out. An extension's service worker stays awake
 * while its WebSocket has traffic every 30 seconds.
 */
const KEEPALIVE_INTERVAL = 25_000;

/** Milliseconds in which a node that is alive answers a ping. */
const KEEPALIVE_TIMEOUT = 30_000;

/** The longest time of a keepalive, in milliseconds: a day. */
const KEEPALIVE_LONGEST = 86_400_000;

/** Milliseconds before the first attempt to reconnect, about. */
const MIN_DELAY = 1_000;

/** The most milliseconds between two attempts to reconnect. */
const MAX_DELAY = 60_000;

/** How a peer finds out that its node is gone. */
export interface KeepaliveOptions {
  /**
   * Milliseconds, 1,000 or more and 25,000 by default, for which nothing may
   * have been received, or nothing sent, until a ping goes out.
   */
  readonly intervalMs?: number | undefined;
  /** Milliseconds, 1,000 or more and 30,000 by default, for which the node may be silent after a ping. */
  readonly timeoutMs?: number | undefined;
}

/** Options of {@link connectPeer}. */
export interface PeerOptions extends Omit<ConnectOptions, 'nodeId'> {
  /** The node's static public key, 33 bytes or 66 hexadecimal digits. A URI names it already. */
  readonly nodeId?: string | Uint8Array | undefined;
  /** The bridge, `ws://…` or `wss://…`, through which a browser reaches the node of a URI. */
  readonly bridge?: string | URL | undefined;
  /** The feature bits to offer (BOLT-9); by default 1, option_data_loss_protect. */
  readonly features?: readonly number[] | undefined;
  /** Feature bits beyond those of BOLT-9 that the node may require. */
  readonly knownFeatures?: readonly number[] | undefined;
  /** The chain hashes of the networks of interest, 32 bytes each; a node that is on others only is refused. */
  readonly networks?: readonly Uint8Array[] | undefined;
  /** Milliseconds for the exchange of init, 15,000 by default. */
  readonly initTimeoutMs?: number | undefined;
  /** How to find out that the node is gone; false for not at all. */
  readonly keepalive?: KeepaliveOptions | false | undefined;
  /**
   * Whether to connect again when the connection breaks, and how fast. Not by
   * default. The first connection is not tried again: {@link connectPeer}
   * rejects. Each attempt has a fresh ephemeral key and the same static one. An
   * authentication failure, a wrong network, features that do not fit and an
   * application that does not read end the peer all the same.
   */
  readonly reconnect?: ReconnectOptions | boolean | undefined;
}

/** The names of the options of {@link connectPeer}. */
const PEER_OPTIONS: readonly (keyof PeerOptions)[] = [
  ...CONNECT_OPTIONS, 'bridge', 'features', 'knownFeatures', 'networks', 'initTimeoutMs', 'keepalive', 'reconnect',
];

/**
 * Connects to a Lightning node: the handshake (BOLT-8), then init (BOLT-1).
 *
 * `signal` ends the attempt, and later the peer. `timeoutMs`, 30 seconds by
 * default, is for all of it together. `maxQueuedBytes`, 262,144 or more and 16
 * MiB by default, bounds what has arrived and waits: one half for messages that
 * nobody has read, the other for what has not been decrypted. When the first half
 * is full nothing is read for up to 20 seconds, which slows a node on TCP; then,
 * or when the second half of a WebSocket is full too, the peer ends with
 * QUEUE_FULL.
 *
 * @param target - `pubkey@host:port`, with port 9735 if it is left out; or an address or transport that leads to
 * the node, with the option `nodeId`. In a browser a URI needs the option
 * `bridge`.
 * @throws TypeError or RangeError that names a wrong argument.
 * @throws BrontosigError as `connect` of `brontosig/brontide` does; and
 * UNKNOWN_FEATURE, FEATURE_DEPENDENCY, NO_COMMON_NETWORK, NO_INIT,
 * MALFORMED_MESSAGE, MALFORMED_TLV for what the node says in init.
 */
export async function connectPeer(target: Address | Transport, options: PeerOptions = {}): Promise<Peer> {
  return connectPeerWith(systemTiming, target, options);
}

/** {@link connectPeer} with another source of time and chance, for tests. */
export async function connectPeerWith(
  timing: Timing,
  target: Address | Transport,
  options: PeerOptions = {},
): Promise<Peer> {
  const o = optionsOf('options', options, PEER_OPTIONS);
  const settings = sessionSettings(o);
  const reconnect = reconnectSettings(o.reconnect);
  const maxQueuedBytes = integer('maxQueuedBytes', o.maxQueuedBytes ?? MAX_QUEUED, LEAST_QUEUED, 2 ** 31) >>> 1;
  const [address, nodeId] = resolve(target, o);
  if (reconnect !== undefined && typeof address === 'object' && !(address instanceof URL)) {
    throw new TypeError('reconnect: needs an address, since a transport cannot be opened again');
  }
  const timeoutMs = milliseconds('timeoutMs', o.timeoutMs ?? CONNECT_TIMEOUT);
  const userSignal = checkSignal(o.signal);
  // The caller may change its arrays when the first connection is open.
  const [key, secretKey] = [bytesOrHex('nodeId', nodeId, PUBLIC_KEY_SIZE).slice(), ownKey(o.secretKey)];
  const open = async (signal: AbortSignal | undefined): Promise<Session> =>
    within({ signal, timeoutMs }, 'connecting', CONNECT_TIMEOUT, async (ended) => {
      const life = new AbortController();
      const onEnded = (): void => {
        life.abort(ended.reason);
      };
      ended.addEventListener('abort', onEnded);
      try {
        const connection = await connect(address, {
          ...pick({ ...o, nodeId: key }, CONNECT_OPTIONS), secretKey, maxQueuedBytes, timeoutMs, signal: life.signal,
        });
        return await Session.open(connection, life, settings, timing);
      } finally {
        ended.removeEventListener('abort', onEnded);
      }
    });
  const onEnd = (): void => {
    secretKey.fill(0);
  };
  try {
    const session = await open(userSignal);
    if (reconnect === undefined) {
      onEnd(); // there will be no other handshake
    }
    return new Peer({
      guard: connected, session, connect: open, reconnect, timing, maxQueuedBytes, signal: userSignal, onEnd,
    });
  } catch (error) {
    onEnd();
    throw error;
  }
}

const uri = /^(?<id>0[23][0-9a-f]{64})@(?<host>.+)$/i;

/** Says where to connect to, and which key the node must have. */
function resolve(target: Address | Transport, o: PeerOptions): [Address | Transport, string | Uint8Array] {
  const isAddress = typeof target !== 'string' || /^[a-z]+:\/\//i.test(target);
  if (isAddress) {
    if (o.nodeId === undefined) {
      throw new TypeError('nodeId: needed unless the target is pubkey@host:port');
    }
    return [target, o.nodeId];
  }
  const { id, host } = uri.exec(target)?.groups ?? {};
  if (id === undefined || host === undefined) {
    throw new TypeError(
      'target: pubkey@host:port expected, with a public key of 66 hexadecimal digits that start with 02 or 03',
    );
  }
  if (o.nodeId !== undefined && hexOf(o.nodeId) !== id.toLowerCase()) {
    throw new TypeError('nodeId: another key than that of the URI');
  }
  const place = parseHost('target', host);
  const authority = `${place.host}:${place.port}`;
  return [o.bridge === undefined ? `tcp://${authority}` : bridgeUrl(o.bridge, authority), id];
}

function hexOf(key: string | Uint8Array): string {
  if (typeof key === 'string') {
    return key.toLowerCase();
  }
  return Array.from(key, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A copy of the own key, or a fresh one. */
function ownKey(given: Uint8Array | undefined): Uint8Array {
  return given === undefined
    ? randomBytes(SECRET_KEY_SIZE)
    : bytes('secretKey', given, SECRET_KEY_SIZE).slice();
}

function sessionSettings(o: PeerOptions): SessionSettings {
  const bits = (name: string, value: readonly number[]): number[] =>
    Array.from(list(name, value, MAX_SIGNERS), (bit, i) => integer(`${name}[${i}]`, bit, 0, 0xffff));
  return {
    features: o.features === undefined ? undefined : bits('features', o.features),
    knownFeatures: bits('knownFeatures', o.knownFeatures ?? []),
    networks: byteList('networks', o.networks ?? [], CHAIN_HASH_SIZE, MAX_SIGNERS).map((hash) => hash.slice()),
    initTimeoutMs: milliseconds('initTimeoutMs', o.initTimeoutMs ?? INIT_TIMEOUT),
    keepalive: keepaliveSettings(o.keepalive ?? {}),
  };
}

function keepaliveSettings(keepalive: KeepaliveOptions | false): SessionSettings['keepalive'] {
  if (keepalive === false) {
    return undefined;
  }
  const { intervalMs, timeoutMs } = optionsOf('keepalive', keepalive, ['intervalMs', 'timeoutMs']);
  const time = (name: string, value: number): number => integer(name, value, PING_INTERVAL, KEEPALIVE_LONGEST);
  return {
    intervalMs: time('keepalive.intervalMs', intervalMs ?? KEEPALIVE_INTERVAL),
    timeoutMs: time('keepalive.timeoutMs', timeoutMs ?? KEEPALIVE_TIMEOUT),
  };
}

function reconnectSettings(reconnect: ReconnectOptions | boolean | undefined): ReconnectSettings | undefined {
  if (reconnect === undefined || reconnect === false) {
    return undefined;
  }
  const o = reconnect === true ? {} : optionsOf('reconnect', reconnect, ['minDelayMs', 'maxDelayMs']);
  const minDelayMs = milliseconds('reconnect.minDelayMs', o.minDelayMs ?? MIN_DELAY);
  const maxDelayMs = integer('reconnect.maxDelayMs', o.maxDelayMs ?? Math.max(MAX_DELAY, minDelayMs), minDelayMs, 2 ** 31 - 1);
  return { minDelayMs, maxDelayMs };
}
