import { BrontosigError } from './errors.js';
import type { Message } from './protocol.js';

/**
 * Bytes that a waiting message counts beyond its payload, about what its objects
 * take. Without them, empty messages could wait in any number.
 */
const MESSAGE_OVERHEAD = 256;

/** One that waits for a message. */
interface Waiting {
  readonly resolve: (result: IteratorResult<Message, undefined>) => void;
  readonly reject: (error: Error) => void;
}

/** The messages that wait for the application, for one reader at a time. */
export class MessageQueue {
  readonly #limit: number;
  readonly #messages: Message[] = [];
  #size = 0;
  #waiting: Waiting[] = [];
  #hasReader = false;
  #ended: { readonly error: Error | undefined } | undefined;
  #room: (() => void)[] = [];

  /**
   * @param limit - bytes from which on the queue is full.
   */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a message. */
  push(message: Message): void {
    const waiting = this.#waiting.shift();
    if (waiting !== undefined) {
      waiting.resolve({ done: false, value: message });
      return;
    }
    this.#messages.push(message);
    this.#size += MESSAGE_OVERHEAD + message.payload.length;
  }

  /** Whether no more should be added for now. */
  get full(): boolean {
    return this.#size > this.#limit;
  }

  /** Settles when the queue is not full any more, or has ended. */
  async room(): Promise<void> {
    while (this.full && this.#ended === undefined) {
      await new Promise<void>((resolve) => {
        this.#room.push(resolve);
      });
    }
  }

  /** Ends the iteration after what waits, with an error or without. */
  end(error: Error | undefined): void {
    this.#ended ??= { error };
    for (const waiting of this.#waiting.splice(0)) {
      this.#finish(waiting);
    }
    this.#wake();
  }

  /**
   * Iterates over the messages. Leaving the iteration leaves the rest to the next one.
   *
   * @throws BrontosigError LOCKED if another iteration is under way.
   */
  iterate(): AsyncIterableIterator<Message> {
    if (this.#hasReader) {
      throw new BrontosigError('LOCKED', 'the messages have a reader already');
    }
    this.#hasReader = true;
    let left = false;
    const leave = (): void => {
      if (!left) {
        left = true;
        this.#hasReader = false;
        for (const waiting of this.#waiting.splice(0)) {
          waiting.resolve({ done: true, value: undefined });
        }
      }
    };
    const iterator: AsyncIterableIterator<Message, undefined> = {
      next: async () => (left ? { done: true, value: undefined } : this.#next()),
      return: async () => {
        leave();
        return Promise.resolve({ done: true, value: undefined });
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  async #next(): Promise<IteratorResult<Message, undefined>> {
    const value = this.#messages.shift();
    if (value !== undefined) {
      this.#size -= MESSAGE_OVERHEAD + value.payload.length;
      this.#wake();
      return { done: false, value };
    }
    return new Promise((resolve, reject) => {
      const waiting = { resolve, reject };
      if (this.#ended === undefined) {
        this.#waiting.push(waiting);
      } else {
        this.#finish(waiting);
      }
    });
  }

  #finish({ resolve, reject }: Waiting): void {
    if (this.#ended?.error === undefined) {
      resolve({ done: true, value: undefined });
    } else {
      reject(this.#ended.error);
    }
  }

  #wake(): void {
    for (const resolve of this.#room.splice(0)) {
      resolve();
    }
  }
}
