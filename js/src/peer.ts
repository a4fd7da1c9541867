import { bytes, integer, object } from './check.js';
import type { CloseInfo, Connection } from './connection.js';
import { BrontosigError } from './errors.js';
import {
  CHAIN_HASH_SIZE,
  CHANNEL_ID_SIZE,
  MAX_BRONTIDE_MESSAGE_SIZE,
  MAX_PING_PADDING,
  NO_PONG,
  PEER_EVENTS,
} from './generated.js';
import { Handle, handleOf } from './handle.js';
import { within, type Limits } from './limits.js';
import { pieces } from './musig2-check.js';
import { call, output } from './runtime.js';
import { asError } from './transport.js';

/** Milliseconds in which a ping is answered by default. */
const PING_TIMEOUT = 30_000;

/**
 * Bytes that a waiting message counts beyond its payload, about what its objects
 * take. Without them, empty messages could wait in any number.
 */
const MESSAGE_OVERHEAD = 256;

/** What the other side said in its init message (BOLT-1). */
export interface RemoteInit {
  /** The features, a big-endian bit map. */
  readonly features: Uint8Array;
  /** The chain hashes of the networks that it named, 32 bytes each. */
  readonly networks: readonly Uint8Array[];
  /** The own address as the other side sees it (BOLT-7's address descriptor); may be empty. */
  readonly remoteAddress: Uint8Array;
}

/** A message of a type that the peer layer does not handle itself. */
export interface Message {
  /** The type, 0 to 65,535. */
  readonly type: number;
  /** What follows the type. */
  readonly payload: Uint8Array;
}

/** A warning or an error of the other side. */
export interface Notice {
  /** The channel that it is about, 32 bytes; all zeros for none or all. */
  readonly channelId: Uint8Array;
  /** Its text, made printable. */
  readonly text: string;
}

/** Where a {@link Peer} stands. */
export type PeerState = 'open' | 'closed';

/** The events of a {@link Peer}, with what listeners get. */
export interface PeerEvents {
  /** The other side warns. */
  readonly warning: Notice;
  /** The other side reports an error. It may close the connection next. */
  readonly error: Notice;
  /** The state has changed. */
  readonly state: PeerState;
  /** The connection has ended. */
  readonly close: CloseInfo;
}

/** Options of {@link Peer.ping}. */
export interface PingOptions extends Limits {
  /** Bytes of padding in the pong, 0 to 65,531. */
  readonly pongBytes?: number | undefined;
  /** Bytes of padding in the ping, 0 to 65,529. */
  readonly padding?: number | undefined;
}

/** What {@link Peer.ping} returns. */
export interface PingResult {
  /** Milliseconds until the pong came. */
  readonly rttMs: number;
}

/** What {@link newPeer} needs to know of the options, checked. */
export interface PeerSettings {
  readonly features: readonly number[] | undefined;
  readonly knownFeatures: readonly number[];
  readonly networks: readonly Uint8Array[];
  readonly maxQueuedBytes: number;
}

/** The base protocol of one connection, in the wasm module. */
class Protocol extends Handle {
  constructor(settings: PeerSettings) {
    const features = settings.features === undefined ? undefined : featureBytes(settings.features);
    const known = settings.knownFeatures.map((bit) => Uint8Array.of(bit & 0xff, bit >> 8));
    super(
      call(
        'lnpeer_new',
        [features ?? new Uint8Array(), ...known, ...settings.networks],
        features === undefined ? 0 : 1,
        features?.length ?? 0,
        known.length,
        settings.networks.length,
      ),
    );
  }

  start(): Uint8Array<ArrayBuffer> {
    return output(call('lnpeer_start', [], handleOf(this)));
  }

  receive(message: Uint8Array): Received {
    const all = output(call('lnpeer_receive', [message], handleOf(this)));
    const event = PEER_EVENTS[all[0] ?? 0] ?? 'none';
    const [reply, rest] = cut(all.slice(1));
    return { event, reply, rest };
  }

  message(type: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
    return output(call('lnpeer_message', [payload], handleOf(this), type));
  }

  ping(pongBytes: number, padding: number): Uint8Array<ArrayBuffer> {
    return output(call('lnpeer_ping', [], handleOf(this), pongBytes, padding));
  }
}

interface Received {
  readonly event: (typeof PEER_EVENTS)[number];
  /** To be sent, unless it is empty. */
  readonly reply: Uint8Array;
  readonly rest: Uint8Array<ArrayBuffer>;
}

/** Takes a part that has its length before it from the front. */
function cut(joined: Uint8Array<ArrayBuffer>): [part: Uint8Array<ArrayBuffer>, rest: Uint8Array<ArrayBuffer>] {
  const end = 4 + new DataView(joined.buffer).getUint32(0, true);
  return [joined.slice(4, end), joined.slice(end)];
}

/** Writes feature bits as the big-endian bit map of BOLT-9. */
function featureBytes(bits: readonly number[]): Uint8Array {
  const map = new Uint8Array(bits.length === 0 ? 0 : (Math.max(...bits) >> 3) + 1);
  for (const bit of bits) {
    const at = map.length - 1 - (bit >> 3);
    map[at] = (map[at] ?? 0) | (1 << (bit & 7));
  }
  return map;
}

/** A ping that has not been answered. */
interface Waiting {
  readonly answered: () => void;
  readonly failed: (error: BrontosigError) => void;
}

/** Guards the constructor of a Peer. */
const connected: unique symbol = Symbol('connected');

/** What the constructor of a {@link Peer} takes. It is not for applications. */
interface Parts {
  readonly guard: typeof connected;
  readonly connection: Connection;
  readonly protocol: Protocol;
  readonly incoming: AsyncIterator<Uint8Array, undefined>;
  readonly remoteInit: RemoteInit;
  readonly maxQueuedBytes: number;
}

/**
 * Exchanges init over a connection. On failure the connection is closed.
 *
 * @param ended - ends the attempt when it aborts.
 */
export async function newPeer(
  connection: Connection,
  settings: PeerSettings,
  ended: AbortSignal,
): Promise<Peer> {
  const { maxQueuedBytes } = settings;
  let protocol: Protocol | undefined;
  const onAbort = (): void => {
    void connection.close();
  };
  ended.addEventListener('abort', onAbort);
  try {
    protocol = new Protocol(settings);
    await connection.send(protocol.start());
    const incoming = connection[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
    const { done, value } = await incoming.next();
    if (done === true) {
      throw new BrontosigError('CONNECTION_CLOSED', 'the node hung up before it sent init');
    }
    const received = protocol.receive(value);
    await reply(connection, protocol, received);
    const [features, rest] = cut(received.rest);
    const [networks, remoteAddress] = cut(rest);
    const remoteInit = { features, networks: pieces(networks, CHAIN_HASH_SIZE), remoteAddress };
    return new Peer({ guard: connected, connection, protocol, incoming, remoteInit, maxQueuedBytes });
  } catch (error) {
    protocol?.dispose();
    // It has five seconds to bring a last warning out, which nobody waits for.
    void connection.close();
    throw asError('CONNECTION_CLOSED', 'the connection broke before init', error);
  } finally {
    ended.removeEventListener('abort', onAbort);
  }
}

/** Sends the reply of the protocol, and throws the error that it announces. */
async function reply(connection: Connection, protocol: Protocol, received: Received): Promise<void> {
  const sent = received.reply.length > 0 ? connection.send(received.reply) : undefined;
  if (received.event === 'failure') {
    // The warning is a courtesy: the error does not wait for it.
    sent?.catch(() => undefined);
    protocol.receive(new Uint8Array());
  }
  await sent;
}

/**
 * A Lightning node that has completed the handshake and init. Pings of the other
 * side are answered, whether or not somebody reads the messages.
 *
 * Events: `warning` and `error` with a {@link Notice}, `state`, and `close` with
 * a {@link CloseInfo}. With `on` listeners get these values; with
 * `addEventListener` they are the `detail` of a `CustomEvent`.
 */
export class Peer extends EventTarget {
  /** The node's static public key, 33 bytes. */
  readonly remoteKey: Uint8Array;
  /** The own static public key, 33 bytes. */
  readonly localKey: Uint8Array;
  /** What the node said in init. */
  readonly remoteInit: RemoteInit;
  /** Settles, and never rejects, when the connection has ended. */
  readonly closed: Promise<CloseInfo>;

  readonly #connection: Connection;
  readonly #protocol: Protocol;
  readonly #incoming: AsyncIterator<Uint8Array, undefined>;
  readonly #maxQueuedBytes: number;
  readonly #pings: Waiting[] = [];
  readonly #queue: Message[] = [];
  #queuedBytes = 0;
  #wake: (() => void) | undefined;
  #hasReader = false;
  #failure: BrontosigError | undefined;
  #ended: CloseInfo | undefined;

  /** Peers are made by {@link connectPeer}. */
  constructor(parts: Parts) {
    if ((parts as Parts | undefined)?.guard !== connected) {
      throw new TypeError('peers are made by connectPeer()');
    }
    super();
    this.#connection = parts.connection;
    this.#protocol = parts.protocol;
    this.#incoming = parts.incoming;
    this.#maxQueuedBytes = parts.maxQueuedBytes;
    this.remoteInit = parts.remoteInit;
    this.remoteKey = parts.connection.remoteKey;
    this.localKey = parts.connection.localKey;
    this.closed = this.#run();
  }

  /** Whether the connection is open. */
  get state(): PeerState {
    return this.#ended === undefined ? 'open' : 'closed';
  }

  /**
   * Listens to an event.
   *
   * @returns a function that ends the listening.
   */
  on<K extends keyof PeerEvents>(type: K, listener: (detail: PeerEvents[K]) => void): () => void {
    const onEvent = (event: Event): void => {
      listener((event as CustomEvent<PeerEvents[K]>).detail);
    };
    this.addEventListener(type, onEvent);
    return () => {
      this.removeEventListener(type, onEvent);
    };
  }

  /**
   * Sends a message.
   *
   * @param type - 0 to 65,535, but not that of init, ping or pong.
   * @param payload - up to 65,533 bytes.
   * @throws TypeError or RangeError that names a wrong argument.
   * @throws BrontosigError RESERVED_TYPE; CONNECTION_CLOSED, or what ended the
   * connection.
   */
  async send(type: number, payload: Uint8Array): Promise<void> {
    integer('type', type, 0, 0xffff);
    bytes('payload', payload, [0, MAX_BRONTIDE_MESSAGE_SIZE - 2]);
    this.#requireOpen();
    await this.#connection.send(this.#protocol.message(type, payload));
  }

  /**
   * Iterates over the messages that the peer layer does not handle itself. There
   * can be one such iteration. It ends with the connection, and throws what went
   * wrong with it. Messages that nobody reads count against `maxQueuedBytes`.
   *
   * @throws BrontosigError LOCKED if there was an iteration before.
   */
  messages(): AsyncIterableIterator<Message> {
    if (this.#hasReader) {
      throw new BrontosigError('LOCKED', 'the messages have a reader already');
    }
    this.#hasReader = true;
    return this.#iterate();
  }

  async *#iterate(): AsyncGenerator<Message, undefined> {
    for (;;) {
      const message = this.#queue.shift();
      if (message !== undefined) {
        this.#queuedBytes -= MESSAGE_OVERHEAD + message.payload.length;
        yield message;
        continue;
      }
      if (this.#ended !== undefined) {
        if (this.#ended.error !== undefined) {
          throw this.#ended.error;
        }
        return undefined;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /**
   * Measures the time until the node answers (BOLT-1, ping and pong).
   *
   * @throws TypeError or RangeError that names a wrong option.
   * @throws BrontosigError TIMEOUT, after 30 seconds by default; ABORTED;
   * TOO_MANY_PINGS; CONNECTION_CLOSED, or what ended the connection.
   */
  async ping(options: PingOptions = {}): Promise<PingResult> {
    const o = object('options', options);
    const pongBytes = integer('pongBytes', o.pongBytes ?? 0, 0, NO_PONG - 1);
    const padding = integer('padding', o.padding ?? 0, 0, MAX_PING_PADDING);
    return within(o, 'the answer to a ping', PING_TIMEOUT, async () => {
      this.#requireOpen();
      const message = this.#protocol.ping(pongBytes, padding);
      const started = performance.now();
      // Pongs come in the order of the pings, so one that nobody waits for any
      // more keeps its place.
      const answered = new Promise<void>((resolve, reject) => {
        this.#pings.push({ answered: resolve, failed: reject });
      });
      answered.catch(() => undefined);
      await this.#connection.send(message);
      await answered;
      return { rttMs: performance.now() - started };
    });
  }

  /** Ends the connection. It never rejects. */
  async close(): Promise<void> {
    await this.#connection.close();
    await this.closed;
  }

  #requireOpen(): void {
    if (this.#ended !== undefined) {
      throw this.#closedError();
    }
  }

  #closedError(): BrontosigError {
    return this.#ended?.error ?? new BrontosigError('CONNECTION_CLOSED', 'the connection is closed');
  }

  /** Takes every message until the connection ends. */
  async #run(): Promise<CloseInfo> {
    try {
      for (;;) {
        const { done, value } = await this.#incoming.next();
        if (done === true) {
          break;
        }
        const received = this.#protocol.receive(value);
        this.#deliver(received);
        await reply(this.#connection, this.#protocol, received);
      }
    } catch (cause) {
      this.#failure = asError('CONNECTION_CLOSED', 'the connection broke', cause);
    }
    await this.#connection.close();
    const info = await this.#connection.closed;
    // What this side objected to is the cause, not the close that followed.
    this.#ended = this.#failure === undefined ? info : { ...info, error: info.error ?? this.#failure };
    this.#protocol.dispose();
    for (const ping of this.#pings.splice(0)) {
      ping.failed(this.#closedError());
    }
    this.#wake?.();
    this.#emit('state', 'closed');
    this.#emit('close', this.#ended);
    return this.#ended;
  }

  #deliver({ event, rest }: Received): void {
    switch (event) {
      case 'message':
        this.#enqueue({ type: new DataView(rest.buffer).getUint16(0, true), payload: rest.slice(2) });
        break;
      case 'pong':
        this.#pings.shift()?.answered();
        break;
      case 'warning':
      case 'error': {
        const text = new TextDecoder().decode(rest.subarray(CHANNEL_ID_SIZE));
        this.#emit(event, { channelId: rest.slice(0, CHANNEL_ID_SIZE), text });
        break;
      }
      case 'init':
      case 'failure':
      case 'none':
    }
  }

  #enqueue(message: Message): void {
    this.#queuedBytes += MESSAGE_OVERHEAD + message.payload.length;
    if (this.#queuedBytes > this.#maxQueuedBytes) {
      throw new BrontosigError('QUEUE_FULL', 'more messages arrived than the application took');
    }
    this.#queue.push(message);
    this.#wake?.();
  }

  #emit<K extends keyof PeerEvents>(type: K, detail: PeerEvents[K]): void {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
