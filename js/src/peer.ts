import { bytes, integer } from './check.js';
import { checkCall, type CommandoOptions } from './commando.js';
import type { CloseInfo } from './connection.js';
import { BrontosigError } from './errors.js';
import { MAX_BRONTIDE_MESSAGE_SIZE } from './generated.js';
import { abortError } from './limits.js';
import { MessageQueue } from './message-queue.js';
import { pingSizes, type PingOptions, type PingResult } from './pings.js';
import type { Message, Notice, RemoteInit } from './protocol.js';
import { Backoff, mayReconnect, type ReconnectSettings } from './reconnect.js';
import type { Session } from './session.js';
import type { Timing } from './timing.js';
import { asError } from './transport.js';

/** Where a {@link Peer} stands. `reconnecting` is only reached with the option `reconnect`. */
export type PeerState = 'open' | 'reconnecting' | 'closed';

/** What listeners of the event `disconnect` get. */
export interface Disconnect {
  /** How the connection, or the last attempt to get another one, ended. */
  readonly info: CloseInfo;
  /** The number of the attempt that comes next, from 1. */
  readonly attempt: number;
  /** Milliseconds until that attempt. */
  readonly delayMs: number;
}

/** The events of a {@link Peer}, with what listeners get. */
export interface PeerEvents {
  /** The other side warns. */
  readonly warning: Notice;
  /** The other side reports an error. It may close the connection next. */
  readonly error: Notice;
  /** The state has changed. */
  readonly state: PeerState;
  /** The connection has ended, and with the option `reconnect` another attempt will follow. */
  readonly disconnect: Disconnect;
  /** The peer has ended for good. */
  readonly close: CloseInfo;
}

/** Guards the constructor of a Peer. */
export const connected: unique symbol = Symbol('connected');

/** What the constructor of a {@link Peer} takes. It is not for applications. */
export interface PeerParts {
  readonly guard: typeof connected;
  readonly session: Session;
  /** Opens another connection like the first. */
  readonly connect: (signal: AbortSignal) => Promise<Session>;
  readonly reconnect: ReconnectSettings | undefined;
  readonly timing: Timing;
  readonly maxQueuedBytes: number;
  readonly signal: AbortSignal | undefined;
  /** Called when the peer has ended for good. */
  readonly onEnd: () => void;
}

/**
 * A Lightning node that has completed the handshake and init. Pings of the other
 * side are answered, and commando is served, whether or not somebody reads the
 * messages.
 *
 * Events: `warning` and `error` with a {@link Notice}, `state`, `disconnect`, and
 * `close` with a {@link CloseInfo}. With `on` listeners get these values; with
 * `addEventListener` they are the `detail` of a `CustomEvent`.
 *
 * With the option `reconnect` a peer outlives its connections. While it has none,
 * `send`, `ping` and `commando` reject with NOT_CONNECTED and nothing is sent;
 * what was under way when the connection broke rejects with what broke it.
 * Nothing is sent again by itself: a message or a call that was not confirmed may
 * or may not have arrived. `messages()` goes on with what the next connection brings.
 */
export class Peer extends EventTarget {
  /** The node's static public key, 33 bytes. */
  readonly remoteKey: Uint8Array;
  /** The own static public key, 33 bytes. It stays the same when the peer reconnects. */
  readonly localKey: Uint8Array;
  /** Settles, and never rejects, when the peer has ended for good. */
  readonly closed: Promise<CloseInfo>;

  readonly #parts: PeerParts;
  readonly #queue: MessageQueue;
  readonly #backoff: Backoff | undefined;
  /** Ends waits and attempts between connections. */
  readonly #ending = new AbortController();
  #session: Session | undefined;
  #remoteInit: RemoteInit;
  #state: PeerState = 'open';
  #ended: CloseInfo | undefined;

  /**
   * Peers are made by `connectPeer`.
   *
   * @internal
   */
  constructor(parts: PeerParts) {
    if ((parts as PeerParts | undefined)?.guard !== connected) {
      throw new TypeError('peers are made by connectPeer()');
    }
    super();
    const { session, reconnect, timing } = parts;
    this.#parts = parts;
    this.#queue = new MessageQueue(parts.maxQueuedBytes);
    this.#backoff = reconnect === undefined ? undefined : new Backoff(reconnect, timing);
    this.#remoteInit = session.remoteInit;
    this.remoteKey = session.connection.remoteKey;
    this.localKey = session.connection.localKey;
    parts.signal?.addEventListener('abort', this.#onAbort);
    this.closed = this.#run(session);
    if (parts.signal?.aborted === true) {
      // Between the exchange of init and here.
      this.#onAbort();
    }
  }

  /** Whether there is a connection, or will be. */
  get state(): PeerState {
    return this.#state;
  }

  /** What the node said in init, on the present connection or the last. */
  get remoteInit(): RemoteInit {
    return this.#remoteInit;
  }

  /**
   * Listens to an event.
   *
   * @returns a function that ends the listening.
   */
  on<K extends keyof PeerEvents>(type: K, listener: (detail: PeerEvents[K]) => void): () => void {
    if (typeof listener !== 'function') {
      throw new TypeError('listener: a function expected');
    }
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
   * @param type - 0 to 65,535, but not that of init, ping, pong or a commando request.
   * @param payload - up to 65,533 bytes.
   * @throws TypeError or RangeError that names a wrong argument.
   * @throws BrontosigError RESERVED_TYPE; NOT_CONNECTED; CONNECTION_CLOSED, or
   * what ended the connection.
   */
  async send(type: number, payload: Uint8Array): Promise<void> {
    integer('type', type, 0, 0xffff);
    bytes('payload', payload, [0, MAX_BRONTIDE_MESSAGE_SIZE - 2]);
    await this.#open().send(type, payload);
  }

  /**
   * Iterates over the messages that the peer layer does not handle itself, across
   * reconnects. It ends with the peer, and throws what went wrong with it. There
   * can be one such iteration at a time; one that is left leaves the rest to the
   * next. Messages that nobody reads count against `maxQueuedBytes`.
   *
   * @throws BrontosigError LOCKED if another iteration is under way.
   */
  messages(): AsyncIterableIterator<Message> {
    return this.#queue.iterate();
  }

  /**
   * Measures the time until the node answers (BOLT-1, ping and pong). At most one
   * ping a second goes out; a further one waits.
   *
   * @throws TypeError or RangeError that names a wrong option.
   * @throws BrontosigError TIMEOUT, after 30 seconds by default; ABORTED;
   * TOO_MANY_PINGS; NOT_CONNECTED; CONNECTION_CLOSED, or what ended the connection.
   */
  async ping(options: PingOptions = {}): Promise<PingResult> {
    pingSizes(options);
    return this.#open().ping(options);
  }

  /**
   * Calls a method of the node's RPC (commando, which Core Lightning serves).
   * Calls may run at the same time. A call whose reply does not come, because of
   * a timeout or the connection's end, may have been carried out all the same: it
   * is never repeated by itself, as it may be a payment.
   *
   * @param method - such as `getinfo`.
   * @param params - by name as an object, or by position as an array.
   * @returns the result.
   * @throws TypeError or RangeError that names a wrong argument; a request may
   * have 1,048,576 bytes.
   * @throws CommandoError if the node answers with an error.
   * @throws BrontosigError TIMEOUT, after 60 seconds by default; ABORTED;
   * RESPONSE_TOO_LARGE; INVALID_RESPONSE; TOO_MANY_CALLS; NOT_CONNECTED;
   * CONNECTION_CLOSED, or what ended the connection.
   */
  async commando(method: string, params: object, options: CommandoOptions): Promise<unknown> {
    const call = checkCall(method, params, options);
    return this.#open().commando(call);
  }

  /** Ends the connection, and every attempt to get another one. It never rejects. */
  async close(): Promise<void> {
    this.#ending.abort(new BrontosigError('CONNECTION_CLOSED', 'the connection is closed'));
    await this.#session?.connection.close();
    await this.closed;
  }

  #open(): Session {
    if (this.#ended !== undefined) {
      throw this.#ended.error ?? new BrontosigError('CONNECTION_CLOSED', 'the connection is closed');
    }
    if (this.#session === undefined) {
      throw new BrontosigError('NOT_CONNECTED', 'the peer is between two connections');
    }
    return this.#session;
  }

  readonly #onAbort = (): void => {
    const { signal } = this.#parts;
    if (signal !== undefined) {
      const reason = abortError(signal);
      this.#ending.abort(reason);
      this.#session?.abort(reason);
    }
  };

  /** Goes from connection to connection until the end. */
  async #run(first: Session): Promise<CloseInfo> {
    let session = first;
    for (;;) {
      this.#session = session;
      this.#remoteInit = session.remoteInit;
      if (this.#state !== 'open') {
        this.#become('open');
      }
      const info = await session.run({
        onMessage: (message) => {
          this.#queue.push(message);
          return this.#queue.full ? this.#queue.room() : undefined;
        },
        onNotice: (kind, notice) => {
          this.#emit(kind, notice);
        },
      });
      this.#session = undefined;
      this.#backoff?.closed();
      const next = await this.#again(info);
      if ('connection' in next) {
        session = next;
        this.#backoff?.opened();
        continue;
      }
      return this.#finish(next);
    }
  }

  /** Tries to get another connection. Returns it, or how it all ended. */
  async #again(info: CloseInfo): Promise<Session | CloseInfo> {
    let last = info;
    while (this.#backoff !== undefined && !this.#isEnding() && mayReconnect(last)) {
      const next = this.#backoff.next();
      if (this.#state !== 'reconnecting') {
        this.#become('reconnecting');
      }
      this.#emit('disconnect', { info: last, ...next });
      await this.#wait(next.delayMs);
      if (this.#isEnding()) {
        break;
      }
      try {
        const session = await this.#parts.connect(this.#ending.signal);
        if (!this.#isEnding()) {
          return session;
        }
        await session.abandon();
      } catch (cause) {
        last = { by: 'remote', reason: '', error: asError('CONNECTION_FAILED', 'the connection failed', cause) };
      }
    }
    if (this.#state === 'reconnecting' && this.#isEnding()) {
      const { aborted } = this.#parts.signal ?? {};
      return { by: 'local', reason: '', error: aborted === true ? (this.#ending.signal.reason as BrontosigError) : undefined };
    }
    return last;
  }

  /** Whether the application has ended the peer, which may happen during any wait. */
  #isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Waits, unless the peer is ended before. */
  async #wait(ms: number): Promise<void> {
    const { signal } = this.#ending;
    await new Promise<void>((resolve) => {
      const cancel = this.#parts.timing.after(ms, () => {
        signal.removeEventListener('abort', stop);
        resolve();
      });
      const stop = (): void => {
        cancel();
        resolve();
      };
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) {
        stop();
      }
    });
  }

  #finish(info: CloseInfo): CloseInfo {
    this.#ended = info;
    this.#parts.signal?.removeEventListener('abort', this.#onAbort);
    this.#parts.onEnd();
    this.#queue.end(info.error);
    this.#become('closed');
    this.#emit('close', info);
    return info;
  }

  #become(state: PeerState): void {
    this.#state = state;
    this.#emit('state', state);
  }

  #emit<K extends keyof PeerEvents>(type: K, detail: PeerEvents[K]): void {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
