import { integer, object, string } from './check.js';
import { BrontosigError } from './errors.js';
import { within, type Limits } from './limits.js';
import {
  closeError,
  currentNetwork,
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

/** Bytes that may wait in the socket before a write waits too. */
const HIGH_WATER = 65_536;

/** Milliseconds between looks at the socket's buffer: it tells nobody when it drains. */
const DRAIN_INTERVAL = 10;

/** Bytes that may wait for the reader: a browser's WebSocket cannot be slowed. */
const MAX_QUEUED = 16 << 20;

/**
 * Bytes that a waiting chunk counts beyond its own, about what its objects take.
 * Without them, chunks of a byte or of none could wait in any number.
 */
const CHUNK_OVERHEAD = 256;

/**
 * The close codes for a server that breaks the rules, and for more than the
 * reader takes. Browsers let nobody send the codes below 3000 that RFC 6455 has
 * for it, so these follow the HTTP statuses 400 and 413.
 */
const BAD_DATA = 4400;
const TOO_MUCH = 4413;

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
   * The most bytes that wait for a slow reader, 16 MiB by default. Beyond that
   * the connection ends with QUEUE_FULL, since a WebSocket cannot be slowed.
   */
  readonly maxQueuedBytes?: number | undefined;
}

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
  object('options', options);
  const maxFrame = integer('maxFrameBytes', options.maxFrameBytes ?? MAX_FRAME, 1, 1 << 20);
  const maxQueued = integer('maxQueuedBytes', options.maxQueuedBytes ?? MAX_QUEUED, 1, 2 ** 31);
  const isAddress = typeof target === 'string' || target instanceof URL;
  return within(options, 'opening the WebSocket', OPEN_TIMEOUT, async (ended) => {
    const socket = isAddress ? newSocket(target, options) : checkSocket(target);
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

function newSocket(address: string | URL, options: WebSocketOptions): WebSocketLike {
  const Socket =
    options.WebSocket ??
    currentNetwork().WebSocket ??
    (globalThis.WebSocket as WebSocketConstructor | undefined);
  if (Socket === undefined) {
    throw new BrontosigError('CONNECTION_FAILED', 'this platform has no WebSocket: pass one as an option');
  }
  const bridgeToken = options.bridgeToken === undefined ? undefined : string('bridgeToken', options.bridgeToken);
  try {
    if (bridgeToken === undefined) {
      return new Socket(String(address));
    }
    return new Socket(String(address), ['brontosig', `brontosig.token.${base64url(bridgeToken)}`]);
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

function queuedSize(chunk: Uint8Array): number {
  return CHUNK_OVERHEAD + chunk.length;
}

class SocketTransport implements Transport {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
  readonly closed: Promise<TransportClose>;
  readonly opened: Promise<void>;

  readonly #socket: WebSocketLike;
  readonly #maxFrame: number;
  #reader!: ReadableStreamDefaultController<Uint8Array>;
  #writer!: WritableStreamDefaultController;
  #settleOpened!: { resolve: () => void; reject: (error: BrontosigError) => void };
  #settleClosed!: (close: TransportClose) => void;
  #wasOpen = false;
  #ended = false;
  #closeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(socket: WebSocketLike, maxFrame: number, maxQueued: number) {
    this.#socket = socket;
    this.#maxFrame = maxFrame;
    this.opened = new Promise((resolve, reject) => {
      this.#settleOpened = { resolve, reject };
    });
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
    // Whoever waits hears of it; where nobody does, it is no unhandled rejection.
    this.opened.catch(() => undefined);
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#reader = controller;
        },
        cancel: () => {
          this.close();
        },
      },
      { highWaterMark: maxQueued, size: queuedSize },
    );
    this.writable = new WritableStream<Uint8Array>({
      start: (controller) => {
        this.#writer = controller;
      },
      write: async (chunk) => this.#write(chunk),
      close: () => {
        this.close();
      },
      abort: () => {
        this.close();
      },
    });
    this.#listen();
  }

  close(code = 1000, reason = ''): void {
    if (this.#ended || this.#closeTimer !== undefined) {
      return;
    }
    this.#closeTimer = setTimeout(() => {
      this.#terminate();
      this.#end({ reason: 'the server did not answer the close in time' });
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
      clearTimeout(this.#closeTimer);
      const { code, reason } = event;
      if (!this.#wasOpen) {
        const text = 'no WebSocket server answers there, or it refuses this origin';
        this.#end({ code, reason, error: new BrontosigError('CONNECTION_FAILED', text, { cause }) });
        return;
      }
      this.#end({ code, reason, error: closeError(code, reason) });
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
    const chunk = new Uint8Array(data);
    if ((this.#reader.desiredSize ?? 0) < queuedSize(chunk)) {
      this.#fail(TOO_MUCH, new BrontosigError('QUEUE_FULL', 'more bytes arrived than the reader took'));
      return;
    }
    this.#reader.enqueue(chunk);
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
      this.#socket.send(new Uint8Array(chunk.subarray(at, at + this.#maxFrame)));
    }
    while (this.#socket.bufferedAmount > HIGH_WATER && !this.#ended) {
      await new Promise((resolve) => setTimeout(resolve, DRAIN_INTERVAL));
    }
  }

  #fail(code: number, error: BrontosigError): void {
    this.close(code, error.message);
    this.#end({ code, reason: error.message, error });
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
    const { error } = close;
    this.#settleOpened.reject(error ?? new BrontosigError('CONNECTION_CLOSED', 'the WebSocket was closed'));
    if (error !== undefined) {
      this.#reader.error(error);
    } else {
      try {
        this.#reader.close();
      } catch {
        // The reader has cancelled the stream, which closes it.
      }
    }
    this.#writer.error(error ?? new BrontosigError('CONNECTION_CLOSED', 'the WebSocket was closed'));
    this.#settleClosed(close);
  }
}
