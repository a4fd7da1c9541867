import { bytes, integer, list, options as optionsOf, pick } from './check.js';
import { bridgeUrl, parseHost } from './bridge-url.js';
import { connect, CONNECT_OPTIONS, type Address, type ConnectOptions } from './connect.js';
import { CHAIN_HASH_SIZE, MAX_SIGNERS } from './generated.js';
import { queueLimit, within } from './limits.js';
import { newPeer, type Peer, type PeerSettings } from './peer.js';
import type { Transport } from './transport.js';

export { bridgeUrl } from './bridge-url.js';
export type { Address } from './connect.js';
export type { CloseInfo } from './connection.js';
export {
  Peer,
  type Message,
  type Notice,
  type PeerEvents,
  type PeerState,
  type PingOptions,
  type PingResult,
  type RemoteInit,
} from './peer.js';

/** Milliseconds that connecting, the handshake and init may take by default. */
const CONNECT_TIMEOUT = 30_000;

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
}

/** The names of the options of {@link connectPeer}. */
const PEER_OPTIONS: readonly (keyof PeerOptions)[] = [
  ...CONNECT_OPTIONS, 'bridge', 'features', 'knownFeatures', 'networks',
];

/**
 * Connects to a Lightning node: the handshake (BOLT-8), then init (BOLT-1).
 *
 * `signal` ends the attempt, and later the connection. `timeoutMs`, 30 seconds
 * by default, is for all of it together.
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
  const o = optionsOf('options', options, PEER_OPTIONS);
  const settings = peerSettings(o);
  const [address, nodeId] = resolve(target, o);
  const timeoutMs = o.timeoutMs ?? CONNECT_TIMEOUT;
  return within({ signal: o.signal, timeoutMs }, 'connecting', CONNECT_TIMEOUT, async (ended) => {
    const connection = await connect(address, pick({ ...o, nodeId, timeoutMs }, CONNECT_OPTIONS));
    if (ended.aborted) {
      await connection.close();
    }
    return newPeer(connection, settings, ended);
  });
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

function peerSettings(o: PeerOptions): PeerSettings {
  const bits = (name: string, value: readonly number[]): number[] =>
    Array.from(list(name, value, MAX_SIGNERS), (bit, i) => integer(`${name}[${i}]`, bit, 0, 0xffff));
  return {
    features: o.features === undefined ? undefined : bits('features', o.features),
    knownFeatures: bits('knownFeatures', o.knownFeatures ?? []),
    networks: Array.from(list('networks', o.networks ?? [], MAX_SIGNERS), (hash, i) =>
      bytes(`networks[${i}]`, hash, CHAIN_HASH_SIZE),
    ),
    maxQueuedBytes: queueLimit(o.maxQueuedBytes),
  };
}
