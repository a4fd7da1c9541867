/// <reference lib="esnext.disposable" preserve="true" />
import { BrontosigError } from './errors.js';
import { call, currentEpoch } from './runtime.js';

/** What it takes to drop an object whose JavaScript side is gone. */
interface Orphan {
  readonly handle: number;
  readonly epoch: number;
}

const orphans = new FinalizationRegistry<Orphan>(({ handle, epoch }) => {
  if (epoch === currentEpoch()) {
    call('handle_dispose', [], handle);
  }
});

/**
 * Returns the handle of an object, for a call.
 *
 * @throws BrontosigError DISPOSED, or INSTANCE_LOST if the object belongs to an
 * instance that has ended.
 */
export let handleOf: (object: Handle) => number;

/**
 * An object whose state lives in the wasm module.
 *
 * It cannot be cloned, serialised or stored, since a copy of a secret nonce
 * that is used twice reveals the secret key. A virtual machine that is restored
 * from a snapshot, or a forked process, makes such a copy all the same.
 */
export abstract class Handle {
  static {
    handleOf = (object) => object.#open();
    // Where the platform has no Symbol.dispose, `using` does not exist either.
    if (typeof (Symbol.dispose as symbol | undefined) === 'symbol') {
      Object.defineProperty(Handle.prototype, Symbol.dispose, {
        value: function (this: Handle): void {
          this.dispose();
        },
      });
    }
  }

  /** Disposes the object at the end of a `using` block. Absent where `Symbol.dispose` is. */
  declare readonly [Symbol.dispose]: () => void;

  readonly #handle: number;
  readonly #epoch: number = currentEpoch();
  #disposed = false;

  /** Takes over a handle that an export has just returned. */
  protected constructor(handle: number) {
    this.#handle = handle;
    orphans.register(this, { handle, epoch: this.#epoch }, this);
    // structuredClone copies own enumerable properties and ignores private
    // ones, so that it would make an empty shell. A function it refuses.
    Object.defineProperty(this, 'dispose', { value: this.dispose.bind(this), enumerable: true });
  }

  /**
   * Wipes the object's secrets and frees its memory. Every later use of the
   * object throws DISPOSED; disposing it again does nothing.
   */
  dispose(): void {
    if (this.#disposed) {
      return;
    }
    this.#disposed = true;
    orphans.unregister(this);
    if (this.#epoch === currentEpoch()) {
      call('handle_dispose', [], this.#handle);
    }
  }

  /** Refuses to be serialised. */
  toJSON(): never {
    throw new TypeError(`${this.constructor.name} cannot be serialised`);
  }

  #open(): number {
    if (this.#disposed) {
      throw new BrontosigError('DISPOSED', `${this.constructor.name} has been disposed`);
    }
    if (this.#epoch !== currentEpoch()) {
      throw new BrontosigError(
        'INSTANCE_LOST',
        `${this.constructor.name} belongs to a wasm instance that has ended`,
      );
    }
    return this.#handle;
  }
}
