import { bytes, options as optionsOf } from './check.js';
import { BrontosigError } from './errors.js';
import { MAX_BRONTIDE_MESSAGE_SIZE } from './generated.js';
import { abortError, checkSignal, untilAborted, within } from './limits.js';
import type { Machine } from './machine.js';
import { asError, closedOf, closeQuietly, endOf, SAY_TIMEOUT, type Transport, type TransportClose } from './transport.js';
import { Turns } from './turn.js';

/** How a {@link Connection} ended. */
export interface CloseInfo {
  /** Who ended it. For a fault that this side found in what came, that is this side. */
  readonly by: 'local' | 'remote';
  /** The WebSocket close code, if there was one. */
  readonly code?: number | undefined;
  /** What the other side or a bridge said about it, or an empty string. */
  readonly reason: string;
  /** What went wrong; undefined for an orderly end. */
  readonly error?: BrontosigError | undefined;
}

/** Guards the constructor of a Connection. */
export const established: unique symbol = Symbol('established');

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
  readonly closeTimeoutMs: number;
}

/** Options of {@link Connection.send}. */
export interface SendOptions {
  /** Aborting it ends the wait with ABORTED. A message that is encrypted already is sent all the same. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * An encrypted and authenticated connection (BOLT-8) that carries messages of up
 * to 65,535 bytes.
 *
 * `readable` and iteration are one consumer of the messages: a second one throws
 * LOCKED. Read, or nothing that arrives is looked at; only the end of the
 * transport is noticed without. What had arrived before the other side ended the
 * connection, in whatever way, can still be read. Read it to the end, or call
 * `close()`, which drops it: until then the keys stay in memory.
 */
export class Connection {
  /** The static public key of the other side, 33 bytes. It has proved that it holds the secret one. */
  readonly remoteKey: Uint8Array;
  /** The own static public key, 33 bytes. */
  readonly localKey: Uint8Array;
  /** The messages that arrive. Reading slowly slows the other side where `backpressure` is true. */
  readonly readable: ReadableStream<Uint8Array>;
  /** Takes messages to send, one at a time. Closing it closes the connection. */
  readonly writable: WritableStream<Uint8Array>;
  /** Whether the other side is slowed when nobody reads. It is not over a WebSocket. */
  readonly backpressure: boolean;
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
  readonly #closeTimeoutMs: number;
  readonly #writing = new Set<(error: BrontosigError) => void>();
  readonly #turns = new Turns();
  #messages!: ReadableStreamDefaultController<Uint8Array>;
  #packets!: WritableStreamDefaultController;
  #settleClosed!: (info: CloseInfo) => void;
  #closing: Promise<void> | undefined;
  /** Set when nothing more is sent. */
  #ended: CloseInfo | undefined;
  /** Set when nothing more is read. */
  #finished = false;
  #pulling = false;
  /** How the transport ended. */
  #transportEnd: TransportClose | undefined;
  /** What is read to see whether anything is left after the transport's end. */
  #ahead: Promise<ReadableStreamReadResult<Uint8Array>> | undefined;
  #lastWait: ReturnType<typeof setTimeout> | undefined;

  /**
   * Connections are made by `connect` and `accept`.
   *
   * @internal
   */
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
    this.#closeTimeoutMs = parts.closeTimeoutMs;
    this.localKey = parts.localKey;
    this.remoteKey = parts.remoteKey;
    this.backpressure = parts.transport.backpressure !== false;
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
          await this.#pull();
          this.#pulling = false;
          this.#lookAhead();
        },
        cancel: async () => this.close(),
      },
      // Nothing is read ahead: the transport is to feel a slow reader.
      new CountQueuingStrategy({ highWaterMark: 0 }),
    );
    this.writable = new WritableStream<Uint8Array>({
      start: (controller) => {
        this.#packets = controller;
      },
      write: async (message) => this.send(message),
      close: async () => this.close(),
      abort: async () => this.close(),
    });
    this.#signal?.addEventListener('abort', this.#onAbort);
    if (this.#signal?.aborted === true) {
      // Between the last act and here.
      this.#onAbort();
    }
    void closedOf(this.#transport)?.then((close) => {
      this.#transportClosed(close ?? { reason: '' });
    });
  }

  /**
   * Sends a message.
   *
   * @param message - 0 to 65,535 bytes.
   * @returns a promise that settles when the transport has taken it and has room
   * for more.
   * @throws TypeError or RangeError that names a wrong argument.
   * @throws BrontosigError CONNECTION_CLOSED, or what ended the connection;
   * ABORTED.
   */
  async send(message: Uint8Array, options: SendOptions = {}): Promise<void> {
    bytes('message', message, [0, MAX_BRONTIDE_MESSAGE_SIZE]);
    const signal = checkSignal(optionsOf('options', options, ['signal']).signal);
    if (signal?.aborted === true) {
      throw abortError(signal);
    }
    if (this.#ended !== undefined || this.#closing !== undefined || this.#transportEnd !== undefined) {
      throw this.#closedError();
    }
    // From here to the write nothing waits, so packets go out in the order in
    // which they were encrypted.
    const written = this.#write(this.#machine.encrypt(message));
    await (signal === undefined ? written : untilAborted(signal, written));
  }

  /** Writes to the transport. The end of the connection ends the wait, whatever the transport does. */
  async #write(packet: Uint8Array): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#writing.add(reject);
      this.#writer.write(packet).then(
        () => {
          this.#writing.delete(reject);
          void this.#turns.wrote(packet.length).then(resolve);
        },
        (cause: unknown) => {
          void this.#notWritten(cause);
        },
      );
    });
  }

  /** Ends the sending since the transport has failed. What had arrived can still be read. */
  async #notWritten(cause: unknown): Promise<void> {
    if (this.#ended === undefined) {
      const close = await endOf(this.#transport);
      const error = close?.error ?? asError('CONNECTION_CLOSED', 'the connection broke', cause);
      this.#transportClosed({ reason: '', ...close, error });
    }
  }

  #closedError(): BrontosigError {
    const error = this.#ended?.error ?? this.#transportEnd?.error;
    return error ?? new BrontosigError('CONNECTION_CLOSED', 'the connection is closed');
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
   * `closeTimeoutMs`. Messages that arrived and were not read are dropped.
   * Calling it again returns the same promise. It never rejects.
   */
  async close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#ended === undefined) {
      try {
        await within({ timeoutMs: this.#closeTimeoutMs }, 'closing', this.#closeTimeoutMs, async () => this.#writer.close());
      } catch {
        // What could not be sent is lost either way: this side gives up.
      }
      this.#end({ by: 'local' });
    }
    this.#finish();
    await this.closed;
  }

  /** Delivers one message, or the end. */
  async #pull(): Promise<void> {
    while (this.#queue.length === 0) {
      let chunk: ReadableStreamReadResult<Uint8Array>;
      try {
        // A machine that has failed says here what it had left to say.
        chunk = this.#hasFailed() ? { done: false, value: new Uint8Array() } : await this.#nextChunk();
      } catch (cause) {
        await this.#broken(cause);
        return;
      }
      if (this.#finished) {
        return;
      }
      if (chunk.done) {
        await this.#endOfStream();
        return;
      }
      try {
        for (const message of this.#machine.receive(chunk.value).messages) {
          this.#queue.push(message);
        }
      } catch (cause) {
        this.#fail('local', cause);
        return;
      }
    }
    const message = this.#queue.shift();
    if (message !== undefined) {
      this.#messages.enqueue(message);
    }
  }

  /** Whether there is only an error left for the reader. */
  #hasFailed(): boolean {
    try {
      return this.#machine.state === 'failed';
    } catch {
      return true; // The wasm instance has ended.
    }
  }

  /** Reads from the transport. */
  async #nextChunk(): Promise<ReadableStreamReadResult<Uint8Array>> {
    const chunk = this.#ahead ?? this.#reader.read();
    this.#ahead = undefined;
    return chunk;
  }

  /** Ends the connection since the transport's streams have failed. It says best how it ended. */
  async #broken(cause: unknown): Promise<void> {
    const close = this.#transportEnd ?? (await endOf(this.#transport));
    this.#fail(close?.by, close?.error ?? cause, close);
  }

  #fail(by: CloseInfo['by'] | undefined, cause: unknown, close?: TransportClose): void {
    const found = asError('CONNECTION_CLOSED', 'the connection broke', cause);
    const error =
      found.code === 'TRUNCATED'
        ? new BrontosigError('CONNECTION_CLOSED', 'the other side hung up in the middle of a message', { cause })
        : found;
    this.#end({ ...close, by, error });
    this.#finish(error);
  }

  /** Takes the end of what the other side sends. */
  async #endOfStream(): Promise<void> {
    const close = this.#transportEnd ?? (await endOf(this.#transport)) ?? { reason: '' };
    try {
      if (!this.#finished) {
        this.#machine.end();
      }
    } catch (cause) {
      this.#fail('remote', close.error ?? cause, close);
      return;
    }
    this.#end(close);
    this.#finish(close.error);
  }

  readonly #onAbort = (): void => {
    if (this.#signal !== undefined) {
      const error = abortError(this.#signal);
      this.#end({ by: 'local', error });
      this.#finish(error);
    }
  };

  /** Notices the end of the transport, after which there may be messages left to read. */
  #transportClosed(close: TransportClose): void {
    if (this.#finished || this.#transportEnd !== undefined) {
      return;
    }
    this.#transportEnd = close;
    if (close.error !== undefined) {
      this.#end(close);
    }
    // A stream that does not end with its transport.
    this.#lastWait = setTimeout(() => {
      this.#end(close);
      this.#finish(close.error);
    }, SAY_TIMEOUT);
    this.#lookAhead();
  }

  /** After the end of the transport, sees whether anything is left that nobody has asked for yet. */
  #lookAhead(): void {
    const close = this.#transportEnd;
    if (close === undefined || this.#finished || this.#pulling || this.#ahead !== undefined) {
      return;
    }
    const left = (): void => {
      clearTimeout(this.#lastWait);
      this.#end(close);
    };
    if (this.#queue.length > 0 || this.#hasFailed()) {
      left();
      return;
    }
    const ahead = this.#reader.read();
    this.#ahead = ahead;
    ahead.then(
      ({ done }) => {
        if (this.#ahead !== ahead) {
          return; // Somebody reads now.
        }
        if (done) {
          void this.#endOfStream();
        } else {
          left();
        }
      },
      (cause: unknown) => {
        if (this.#ahead === ahead) {
          void this.#broken(cause);
        }
      },
    );
  }

  /** Ends the sending. */
  #end({ by = 'remote', code, reason = '', error: fault }: Partial<TransportClose>): void {
    if (this.#ended !== undefined) {
      return;
    }
    const info = { by, code, reason, error: fault };
    this.#ended = info;
    const error = this.#closedError();
    for (const reject of this.#writing) {
      reject(error);
    }
    this.#writing.clear();
    this.#packets.error(error);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    // What has failed or been closed already fails here again.
    this.#writer.abort().catch(() => undefined);
    this.#settleClosed(info);
  }

  /** Ends the reading. */
  #finish(error?: BrontosigError): void {
    if (this.#finished) {
      return;
    }
    this.#finished = true;
    clearTimeout(this.#lastWait);
    this.#queue.length = 0;
    this.#machine.dispose();
    if (error !== undefined) {
      this.#messages.error(error);
    } else {
      try {
        this.#messages.close();
      } catch {
        // The reader has cancelled the stream, which closes it.
      }
    }
    this.#reader.cancel().catch(() => undefined);
    closeQuietly(this.#transport);
  }
}
