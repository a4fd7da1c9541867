import { integer, object, options as optionsOf, string } from './check.js';
import { BrontosigError } from './errors.js';
import { Inbox } from './inbox.js';
import { queueLimit, within, type Limits } from './limits.js';
import {
  closeError,
  currentNetwork,
  printable,
  refusalError,
  type Transport,
  type TransportClose,
  type WebSocketConstructor,
  type WebSocketLike,
} from './transport.js';

/** Milliseconds that opening may take by default. */
const OPEN_TIMEOUT = 20_000;

/** Milliseconds after which a close that the server does not answer is one all the same. */
const CLOSE_TIMEOUT = 5_000;

/** Bytes in one WebSocket message. Some servers take no longer ones. */
const MAX_FRAME = 16_384;

/** Bytes in the longest WebSocket message that is taken. */
export const MAX_RECEIVED_FRAME: number = 1 << 20;

/** Bytes that may wait in the socket before a write waits too. */
const HIGH_WATER = 1 << 18;

/**
 * Milliseconds until the first and between later looks at the buffer of a
 * socket: that of a browser tells nobody when it drains.
 */
const FIRST_LOOK = 1;
const LAST_LOOK = 64;

/**
 * The close codes for a server that breaks the rules, and for more than the
 * reader takes. Browsers let nobody send the codes below 3000 that RFC 6455 has
 * for it, so these follow the HTTP statuses 400 and 413.
 */
const BAD_DATA = 4400;
const TOO_MUCH = 4413;

const TOO_LONG = 'the server sent a message that is too long';

const OPEN = 1;
const CLOSED = 3;

/** Options of {@link webSocketTransport}. */
export interface WebSocketOptions extends Limits {
  /** Makes the socket, instead of the platform's (in Node: npm `ws`). */
  readonly WebSocket?: WebSocketConstructor | undefined;
  /** A token for a bridge that asks for one. It travels as a subprotocol. */
  readonly bridgeToken?: string | undefined;
  /** The most bytes in one WebSocket message, 16,384 by default. */
  readonly maxFrameBytes?: number | undefined;
  /**
   * The most bytes that wait for a slow reader, 131,072 or more and 16 MiB by
   * default; each chunk counts 256 beyond its own. Beyond that a TCP peer is
   * made to wait, and if the reader then takes nothing for 20 seconds the
   * connection ends with QUEUE_FULL. A WebSocket cannot be slowed: it ends with
   * QUEUE_FULL at once.
   */
  readonly maxQueuedBytes?: number | undefined;
}

/** The names of the options of {@link webSocketTransport}. */
export const WEB_SOCKET_OPTIONS: readonly (keyof WebSocketOptions)[] = [
  'signal', 'timeoutMs', 'WebSocket', 'bridgeToken', 'maxFrameBytes', 'maxQueuedBytes',
];

/**
 * Opens a WebSocket as a stream of bytes, or takes one that is open or opening.
 *
 * @throws TypeError or RangeError that names a wrong argument.
 * @throws BrontosigError CONNECTION_FAILED if there is no server, or if, in a
 * browser, it refused the page's origin; BRIDGE_REFUSED, RATE_LIMITED,
 * NODE_UNREACHABLE, BRIDGE_BUSY, NODE_TIMEOUT as a bridge answers, where the
 * platform shows it; TIMEOUT; ABORTED.
 */
export async function webSocketTransport(
  target: string | URL | WebSocketLike,
  options: WebSocketOptions = {},
): Promise<Transport> {
  const o = optionsOf('options', options, WEB_SOCKET_OPTIONS);
  const maxFrame = integer('maxFrameBytes', o.maxFrameBytes ?? MAX_FRAME, 1, 1 << 20);
  const maxQueued = queueLimit(o.maxQueuedBytes);
  const bridgeToken = o.bridgeToken === undefined ? undefined : string('bridgeToken', o.bridgeToken);
  const Socket = o.WebSocket ?? platformSocket();
  if (typeof Socket !== 'function') {
    throw new TypeError('WebSocket: a constructor expected');
  }
  const make =
    typeof target === 'string' || target instanceof URL
      ? newSocket.bind(undefined, Socket, webSocketUrl(target), bridgeToken)
      : checkSocket.bind(undefined, target);
  return within(o, 'opening the WebSocket', OPEN_TIMEOUT, async (ended) => {
    const socket = make();
    const transport = new SocketTransport(socket, maxFrame, maxQueued);
    ended.addEventListener('abort', () => {
      transport.close();
    });
    if (ended.aborted) {
      transport.close();
    }
    await transport.opened;
    return transport;
  });
}

/** The WebSocket of the platform. */
function platformSocket(): WebSocketConstructor {
  const Socket = currentNetwork().WebSocket ?? (globalThis.WebSocket as WebSocketConstructor | undefined);
  if (Socket === undefined) {
    throw new BrontosigError('CONNECTION_FAILED', 'this platform has no WebSocket: pass one as an option');
  }
  return Socket;
}

/** Checks an address. The platforms differ in what they say of a wrong one. */
function webSocketUrl(address: string | URL): string {
  try {
    const { protocol, hash, href } = new URL(address);
    if (/^wss?:$/.test(protocol) && hash === '') {
      return href;
    }
  } catch {
    // It is no URL at all.
  }
  throw new TypeError('address: a ws:// or wss:// URL without a fragment expected');
}

function newSocket(Socket: WebSocketConstructor, url: string, bridgeToken: string | undefined): WebSocketLike {
  try {
    if (bridgeToken === undefined) {
      return new Socket(url);
    }
    return new Socket(url, ['brontosig', `brontosig.token.${base64url(bridgeToken)}`]);
  } catch (cause) {
    throw new BrontosigError('CONNECTION_FAILED', 'the WebSocket cannot be made', { cause });
  }
}

function checkSocket(target: WebSocketLike): WebSocketLike {
  const { addEventListener, send, close } = object('target', target as Partial<WebSocketLike>);
  if (typeof addEventListener !== 'function' || typeof send !== 'function' || typeof close !== 'function') {
    throw new TypeError('target: an address or a WebSocket expected');
  }
  return target;
}

function base64url(text: string): string {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/** What npm `ws` objects to in what the server sent, as an error. */
function socketError(cause: unknown): BrontosigError | undefined {
  const { code } = (cause ?? {}) as { code?: unknown };
  if (typeof code !== 'string' || !code.startsWith('WS_ERR_')) {
    return undefined;
  }
  const text = code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' ? TOO_LONG : 'the server breaks the rules of WebSockets';
  return new BrontosigError('PROTOCOL_ERROR', text, { cause });
}

class SocketTransport implements Transport {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  readonly backpressure = false;
  readonly closed: Promise<TransportClose>;
  readonly opened: Promise<void>;

  readonly #socket: WebSocketLike;
  readonly #maxFrame: number;
  readonly #maxQueued: number;
  readonly #inbox: Inbox;
  #writer!: WritableStreamDefaultController;
  #settleOpened!: { resolve: () => void; reject: (error: BrontosigError) => void };
  #settleClosed!: (close: TransportClose) => void;
  /** Ends the wait of a write, which looks at the buffer again. */
  #look: () => void = () => undefined;
  #wasOpen = false;
  #ended = false;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocketLike, maxFrame: number, maxQueued: number) {
    this.#socket = socket;
    this.#maxFrame = maxFrame;
    this.#maxQueued = maxQueued;
    this.opened = new Promise((resolve, reject) => {
      this.#settleOpened = { resolve, reject };
    });
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
    // Whoever waits hears of it; where nobody does, it is no unhandled rejection.
    this.opened.catch(() => undefined);
    const onCancel = (): void => {
      this.close();
    };
    this.#inbox = new Inbox({ onCancel });
    this.readable = this.#inbox.readable;
    this.writable = new WritableStream<Uint8Array>({
      start: (controller) => {
        this.#writer = controller;
      },
      write: async (chunk) => this.#write(chunk),
      close: onCancel,
      abort: onCancel,
    });
    this.#listen();
  }

  close(code = 1000, reason = ''): void {
    if (this.#ended || this.#closeTimer !== undefined) {
      return;
    }
    this.#closeTimer = setTimeout(() => {
      this.#terminate();
      this.#end({ by: 'local', reason: 'the server did not answer the close in time' });
    }, CLOSE_TIMEOUT);
    try {
      this.#socket.close(code, reason);
    } catch {
      // Platforms refuse other codes than 1000 and 3000 to 4999, and long reasons.
      this.#socket.close();
    }
  }

  #listen(): void {
    const socket = this.#socket;
    socket.binaryType = 'arraybuffer';
    const opened = (): void => {
      this.#wasOpen = true;
      this.#settleOpened.resolve();
    };
    socket.addEventListener('open', opened);
    socket.addEventListener('message', (event: MessageEvent<unknown>) => {
      this.#receive(event.data);
    });
    // An error is followed by a close. npm `ws` says there what went wrong.
    let cause: unknown;
    socket.addEventListener('error', (event: ErrorEvent) => {
      cause = event.error ?? (event.message || undefined);
    });
    socket.addEventListener('close', (event: CloseEvent) => {
      // Not before: a server that never answers the close is to be dropped.
      const by = this.#closeTimer === undefined ? 'remote' : 'local';
      clearTimeout(this.#closeTimer);
      const { code } = event;
      const reason = printable(event.reason);
      if (!this.#wasOpen) {
        const text = 'no WebSocket server answers there, or it refuses this origin';
        this.#end({ code, reason, error: new BrontosigError('CONNECTION_FAILED', text, { cause }) });
        return;
      }
      // What this side has closed has ended well, whatever became of the close.
      const error = by === 'local' ? undefined : socketError(cause) ?? closeError(code, reason);
      this.#end({ by, code, reason, error });
    });
    currentNetwork().watchRefusal?.(socket, (status, reason) => {
      this.#end({ reason, error: refusalError(status, reason) });
      this.#terminate();
    });
    if (socket.readyState === OPEN) {
      opened();
    } else if (socket.readyState === CLOSED) {
      this.#end({ reason: '', error: new BrontosigError('CONNECTION_CLOSED', 'the WebSocket is closed') });
    }
  }

  #receive(data: unknown): void {
    if (this.#ended || this.#closeTimer !== undefined) {
      return;
    }
    if (!(data instanceof ArrayBuffer)) {
      this.#fail(BAD_DATA, new BrontosigError('PROTOCOL_ERROR', 'the server sent a text message'));
      return;
    }
    if (data.byteLength > MAX_RECEIVED_FRAME) {
      this.#fail(TOO_MUCH, new BrontosigError('PROTOCOL_ERROR', TOO_LONG));
      return;
    }
    if (this.#inbox.size + Inbox.cost(data.byteLength) > this.#maxQueued) {
      this.#fail(TOO_MUCH, new BrontosigError('QUEUE_FULL', 'more bytes arrived than the reader took'));
      return;
    }
    this.#inbox.push(new Uint8Array(data));
    this.#look();
  }

  async #write(chunk: Uint8Array): Promise<void> {
    if (this.#socket.readyState !== OPEN) {
      // A socket that is closing takes what it is given and drops it. Why it
      // does is known when it has closed.
      const { error } = await this.closed;
      throw error ?? new BrontosigError('CONNECTION_CLOSED', 'the WebSocket was closed');
    }
    for (let at = 0; at < chunk.length; at += this.#maxFrame) {
      // A copy: the socket may read the bytes later.
      this.#socket.send(new Uint8Array(chunk.subarray(at, at + this.#maxFrame)), () => {
        this.#look();
      });
    }
    for (let ms = FIRST_LOOK; this.#socket.bufferedAmount > HIGH_WATER && !this.#ended; ms = Math.min(2 * ms, LAST_LOOK)) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.#look = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  /** Ends the connection for a reason of this side. */
  #fail(code: number, error: BrontosigError): void {
    this.close(code, error.message);
    this.#end({ by: 'local', code, reason: error.message, error });
  }

  /** Drops the connection where the platform can do that. */
  #terminate(): void {
    const socket = this.#socket as { terminate?: () => void };
    socket.terminate?.();
  }

  #end(close: TransportClose): void {
    if (this.#ended) {
      return;
    }
    this.#ended = true;
    this.#look();
    const error = close.error ?? new BrontosigError('CONNECTION_CLOSED', 'the WebSocket was closed');
    this.#settleOpened.reject(error);
    this.#inbox.end(close.error);
    this.#writer.error(error);
    this.#settleClosed(close);
  }
}
