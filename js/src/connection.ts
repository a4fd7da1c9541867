import { bytes, object } from './check.js';
import { BrontosigError, type ErrorCode } from './errors.js';
import { MAX_BRONTIDE_MESSAGE_SIZE } from './generated.js';
import { abortError, within, type Limits } from './limits.js';
import type { Machine } from './machine.js';
import { asError, type Transport, type TransportClose } from './transport.js';

/** Milliseconds that a handshake may take by default. */
const HANDSHAKE_TIMEOUT = 20_000;

/** Milliseconds that `close` waits for what is still to be sent. */
const CLOSE_TIMEOUT = 5_000;

/** How a {@link Connection} ended. */
export interface CloseInfo {
  /** Who ended it. */
  readonly by: 'local' | 'remote';
  /** The WebSocket close code, if there was one. */
  readonly code?: number | undefined;
  /** What the other side or a bridge said about it, or an empty string. */
  readonly reason: string;
  /** What went wrong; undefined for an orderly end. */
  readonly error?: BrontosigError | undefined;
}

/** Guards the constructor of a Connection. */
const established: unique symbol = Symbol('established');

/** What the constructor of a {@link Connection} takes. It is not for applications. */
interface Parts {
  readonly guard: typeof established;
  readonly machine: Machine;
  readonly transport: Transport;
  readonly reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly localKey: Uint8Array;
  readonly remoteKey: Uint8Array;
  readonly early: readonly Uint8Array[];
  readonly signal: AbortSignal | undefined;
}

/**
 * Does the handshake over a transport. On failure the transport is closed.
 *
 * @param machine - which has done nothing yet. The connection takes it over; on
 * failure it is the caller's to dispose.
 */
export async function establish(
  transport: Transport,
  machine: Machine,
  localKey: Uint8Array,
  limits: Limits,
): Promise<Connection> {
  object('transport', transport);
  object('transport.readable', transport.readable);
  object('transport.writable', transport.writable);
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  try {
    const [input, output] = [transport.readable.getReader(), transport.writable.getWriter()];
    [reader, writer] = [input, output];
    // The writer's failure is met where something is written.
    output.closed.catch(() => undefined);
    const early = await within(limits, 'the handshake', HANDSHAKE_TIMEOUT, async (ended) => {
      ended.addEventListener('abort', () => {
        input.cancel().catch(() => undefined);
      });
      return handshake(machine, transport, input, output, ended);
    });
    const remoteKey = machine.remoteKey ?? new Uint8Array();
    const { signal } = limits;
    return new Connection({
      guard: established, machine, transport, reader: input, writer: output, localKey, remoteKey, early, signal,
    });
  } catch (error) {
    // A transport that is just a pair of streams can end them only through
    // their locks. What has failed already fails here again, and was told then.
    reader?.cancel().catch(() => undefined);
    writer?.close().catch(() => undefined);
    transport.close();
    throw error;
  }
}

/** Runs the acts and returns the messages that came right behind them. */
async function handshake(
  machine: Machine,
  transport: Transport,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  ended: AbortSignal,
): Promise<readonly Uint8Array[]> {
  let unanswered = false;
  try {
    const act = machine.start();
    if (act.length > 0) {
      await writer.write(act);
      unanswered = true;
    }
    for (;;) {
      const { done, value } = await reader.read();
      ended.throwIfAborted();
      if (done) {
        machine.end();
        throw new BrontosigError('CONNECTION_CLOSED', 'the connection ended in the handshake');
      }
      unanswered = false;
      const { send, messages } = machine.receive(value);
      if (send !== undefined) {
        await writer.write(send);
        ended.throwIfAborted();
      }
      if (machine.state === 'ready') {
        return messages;
      }
    }
  } catch (cause) {
    const error = asError('CONNECTION_CLOSED', 'the connection broke in the handshake', cause);
    // A node may hang up on act one without ceremony.
    const code = unanswered && (await wasDropped(transport, error)) ? 'NOT_ANSWERED' : error.code;
    const known = handshakeCodes[code];
    throw known === undefined ? error : new BrontosigError(...known, { cause });
  }
}

/** The close code of a WebSocket that ended without one. */
const NO_CLOSE_FRAME = 1006;

/**
 * Tells whether the other side dropped the connection: TCP's reset, which only
 * Node shows, or a WebSocket that ended without a close, as it does on servers
 * that send none.
 */
async function wasDropped(transport: Transport, error: BrontosigError): Promise<boolean> {
  if (error.code !== 'CONNECTION_CLOSED') {
    return false;
  }
  if ((error.cause as { code?: unknown } | undefined)?.code === 'ECONNRESET') {
    return true;
  }
  return (await transport.closed)?.code === NO_CLOSE_FRAME;
}

const handshakeCodes: Readonly<Partial<Record<ErrorCode, readonly [ErrorCode, string]>>> = {
  NOT_ANSWERED: [
    'AUTHENTICATION_FAILED',
    'authentication failed: the node hung up on act one, most likely because its key is not the expected one',
  ],
  MAC_FAILED: ['AUTHENTICATION_FAILED', 'authentication failed: an act of the handshake is not authentic'],
  TRUNCATED: ['CONNECTION_CLOSED', 'the other side hung up in the middle of the handshake'],
  UNSUPPORTED_VERSION: ['PROTOCOL_ERROR', 'the other side speaks another version of the handshake'],
  INVALID_PUBLIC_KEY: ['PROTOCOL_ERROR', 'an act of the handshake holds no public key'],
};

/**
 * An encrypted and authenticated connection (BOLT-8) that carries messages of up
 * to 65,535 bytes.
 *
 * `readable` and iteration are one consumer of the messages: a second one throws
 * LOCKED. Read, or nothing that arrives is looked at; only the end of the
 * transport is noticed without.
 */
export class Connection {
  /** The static public key of the other side, 33 bytes. It has proved that it holds the secret one. */
  readonly remoteKey: Uint8Array;
  /** The own static public key, 33 bytes. */
  readonly localKey: Uint8Array;
  /** The messages that arrive. Reading slowly slows a TCP peer. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Takes messages to send. Closing it closes the connection. */
  readonly writable: WritableStream<Uint8Array>;
  /**
   * Settles, and never rejects, when the connection has ended. A fault in what
   * arrived before and was not yet read is met by whoever reads it.
   */
  readonly closed: Promise<CloseInfo>;

  readonly #machine: Machine;
  readonly #transport: Transport;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #queue: Uint8Array[];
  readonly #signal: AbortSignal | undefined;
  #messages!: ReadableStreamDefaultController<Uint8Array>;
  #settleClosed!: (info: CloseInfo) => void;
  #ended: CloseInfo | undefined;
  #closing: Promise<void> | undefined;
  readonly #writing = new Set<(error: BrontosigError) => void>();
  /** How the transport ended, if that was orderly. */
  #remoteClosed: TransportClose | undefined;
  #pulling = false;

  /** Connections are made by {@link connect} and {@link accept}. */
  constructor(parts: Parts) {
    if ((parts as Parts | undefined)?.guard !== established) {
      throw new TypeError('connections are made by connect() and accept()');
    }
    this.#machine = parts.machine;
    this.#transport = parts.transport;
    this.#reader = parts.reader;
    this.#writer = parts.writer;
    this.#queue = [...parts.early];
    this.#signal = parts.signal;
    this.localKey = parts.localKey;
    this.remoteKey = parts.remoteKey;
    this.closed = new Promise((resolve) => {
      this.#settleClosed = resolve;
    });
    this.readable = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#messages = controller;
        },
        pull: async () => {
          this.#pulling = true;
          try {
            await this.#pull();
          } finally {
            this.#pulling = false;
            if (this.#remoteClosed !== undefined) {
              // It came while this pull delivered a message.
              this.#settleOrderly(this.#remoteClosed);
            }
          }
        },
        cancel: async () => this.close(),
      },
      // Nothing is read ahead: the transport is to feel a slow reader.
      new CountQueuingStrategy({ highWaterMark: 0 }),
    );
    this.writable = new WritableStream<Uint8Array>({
      write: async (message) => this.send(message),
      close: async () => this.close(),
      abort: async () => this.close(),
    });
    this.#signal?.addEventListener('abort', this.#onAbort);
    if (this.#signal?.aborted === true) {
      // Between the last act and here.
      this.#onAbort();
    }
    void this.#transport.closed?.then((close) => {
      this.#transportClosed(close);
    });
  }

  /**
   * Sends a message.
   *
   * @param message - 0 to 65,535 bytes.
   * @returns a promise that settles when the transport has taken it and has room
   * for more.
   * @throws TypeError or RangeError for a wrong argument.
   * @throws BrontosigError CONNECTION_CLOSED, or what ended the connection.
   */
  async send(message: Uint8Array): Promise<void> {
    bytes('message', message, [0, MAX_BRONTIDE_MESSAGE_SIZE]);
    if (this.#ended !== undefined || this.#closing !== undefined || this.#remoteClosed !== undefined) {
      throw this.#closedError();
    }
    // From here to the write nothing waits, so packets go out in the order in
    // which they were encrypted.
    const packet = this.#machine.encrypt(message);
    try {
      await this.#write(packet);
    } catch (cause) {
      // Unless something else has ended it before, which then is the reason.
      const error = asError('CONNECTION_CLOSED', 'the connection broke', cause);
      this.#end({ by: 'remote', reason: '', error });
      throw this.#closedError();
    }
  }

  /** Writes to the transport. The end of the connection ends the wait, whatever the transport does. */
  async #write(packet: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writing.add(reject);
      const done = (settle: () => void): void => {
        this.#writing.delete(reject);
        settle();
      };
      this.#writer.write(packet).then(
        () => {
          done(resolve);
        },
        (cause: unknown) => {
          done(() => {
            reject(asError('CONNECTION_CLOSED', 'the connection broke', cause));
          });
        },
      );
    });
  }

  #closedError(): BrontosigError {
    return this.#ended?.error ?? new BrontosigError('CONNECTION_CLOSED', 'the connection is closed');
  }

  /** Iterates over the messages. Leaving the loop closes the connection. */
  [Symbol.asyncIterator](): AsyncIterableIterator<Uint8Array> {
    if (this.readable.locked) {
      throw new BrontosigError('LOCKED', 'the messages have a reader already');
    }
    const reader = this.readable.getReader();
    return {
      next: async () => {
        const { done, value } = await reader.read();
        return done ? { done, value: undefined } : { done, value };
      },
      return: async () => {
        await reader.cancel();
        return { done: true, value: undefined };
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /**
   * Ends the connection after everything that was sent has gone out, or after
   * five seconds. Calling it again returns the same promise. It never rejects.
   */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#ended === undefined) {
      try {
        await within({}, 'closing', CLOSE_TIMEOUT, async () => this.#writer.close());
      } catch {
        // What could not be sent is lost either way: this side gives up.
      }
      this.#end({ by: 'local', reason: '' });
    }
    await this.closed;
  }

  /** Delivers one message, or the end. */
  async #pull(): Promise<void> {
    try {
      while (this.#queue.length === 0) {
        if (this.#machine.state === 'failed') {
          // Throws what the machine had left to say.
          this.#machine.receive(new Uint8Array());
        }
        const { done, value } = await this.#read();
        if (this.#ended !== undefined) {
          return;
        }
        if (done) {
          this.#machine.end();
          const close = await this.#transport.closed;
          this.#end({ by: 'remote', code: close?.code, reason: close?.reason ?? '' });
          return;
        }
        for (const received of this.#machine.receive(value).messages) {
          this.#queue.push(received);
        }
      }
      const message = this.#queue.shift();
      if (message !== undefined) {
        this.#messages.enqueue(message);
      }
    } catch (cause) {
      const error = asError('CONNECTION_CLOSED', 'the connection broke', cause);
      const truncated = error.code === 'TRUNCATED';
      this.#end({
        by: 'remote',
        reason: '',
        error: truncated
          ? new BrontosigError('CONNECTION_CLOSED', 'the other side hung up in the middle of a message', { cause })
          : error,
      });
    }
  }

  /** Reads from the transport. If that fails, the transport says how it ended. */
  async #read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    try {
      return await this.#reader.read();
    } catch (cause) {
      const close = await this.#transport.closed;
      const error = asError('CONNECTION_CLOSED', 'the connection broke', cause);
      this.#end({ by: 'remote', reason: '', ...close, error });
      throw error;
    }
  }

  readonly #onAbort = (): void => {
    if (this.#signal !== undefined) {
      this.#end({ by: 'local', reason: '', error: abortError(this.#signal) });
    }
  };

  /**
   * Notices the end of the transport. After an orderly one there may be messages
   * left to read; whoever reads them comes to the end.
   */
  #transportClosed(close: TransportClose): void {
    this.#remoteClosed = close;
    if (close.error !== undefined) {
      this.#end({ by: 'remote', ...close });
    } else if (!this.#pulling) {
      this.#settleOrderly(close);
    }
  }

  /** Tells of an orderly end, though there may be messages left to read. */
  #settleOrderly({ code, reason }: TransportClose): void {
    // Nothing is left that the signal could end.
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#settleClosed({ by: 'remote', code, reason });
  }

  #end(info: CloseInfo): void {
    if (this.#ended !== undefined) {
      return;
    }
    this.#ended = info;
    for (const reject of this.#writing) {
      reject(this.#closedError());
    }
    this.#signal?.removeEventListener('abort', this.#onAbort);
    this.#machine.dispose();
    if (info.error !== undefined) {
      this.#messages.error(info.error);
    } else {
      try {
        this.#messages.close();
      } catch {
        // The reader has cancelled the stream, which closes it.
      }
    }
    // What has failed or been closed already fails here again.
    this.#reader.cancel().catch(() => undefined);
    this.#writer.abort().catch(() => undefined);
    this.#transport.close();
    this.#settleClosed(info);
  }
}
