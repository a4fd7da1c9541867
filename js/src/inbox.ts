import type { BrontosigError } from './errors.js';

/**
 * Bytes that a waiting chunk counts beyond its own, about what its objects take.
 * Without them, chunks of a byte or of none could wait in any number.
 */
const CHUNK_OVERHEAD = 256;

/** What an {@link Inbox} tells its transport. */
interface InboxEvents {
  /** The reader has taken a chunk. */
  readonly onTaken?: () => void;
  /** The reader wants no more. */
  readonly onCancel: () => void;
}

/**
 * What has arrived on a transport and waits for the reader. However the
 * transport ends, what came before the end is still read.
 */
export class Inbox {
  /** The reader's side. */
  readonly readable: ReadableStream<Uint8Array>;

  readonly #chunks: Uint8Array[] = [];
  #size = 0;
  #end: { readonly error: BrontosigError | undefined } | undefined;
  #wake: (() => void) | undefined;

  /** Makes an empty one. */
  constructor({ onTaken, onCancel }: InboxEvents) {
    this.readable = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const chunk = await this.#next();
          if (chunk !== undefined) {
            controller.enqueue(chunk);
            onTaken?.();
          } else if (this.#end?.error !== undefined) {
            controller.error(this.#end.error);
          } else {
            controller.close();
          }
        },
        cancel: () => {
          this.#drop();
          onCancel();
        },
      },
      // The chunks wait here, where an end does not drop them.
      { highWaterMark: 0 },
    );
  }

  /** What the waiting chunks count. */
  get size(): number {
    return this.#size;
  }

  /** What a chunk of this length would count. */
  static cost(length: number): number {
    return CHUNK_OVERHEAD + length;
  }

  /** Takes a chunk. After the end it is dropped. */
  push(chunk: Uint8Array): void {
    if (this.#end === undefined) {
      this.#chunks.push(chunk);
      this.#size += Inbox.cost(chunk.length);
      this.#wake?.();
    }
  }

  /** Ends the stream after what waits, with an error or without. Only the first call counts. */
  end(error?: BrontosigError): void {
    this.#end ??= { error };
    this.#wake?.();
  }

  /** The next chunk, or undefined at the end. */
  async #next(): Promise<Uint8Array | undefined> {
    if (this.#chunks.length === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      this.#wake = undefined;
    }
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) {
      this.#size -= Inbox.cost(chunk.length);
    }
    return chunk;
  }

  #drop(): void {
    this.end();
    this.#chunks.length = 0;
    this.#size = 0;
  }
}
