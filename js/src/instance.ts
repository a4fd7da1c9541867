import { BrontosigError, InvalidContributionError } from './errors.js';
import {
  CONTRIBUTIONS,
  CORE_ERROR_CODES,
  FINGERPRINT,
  MAX_INPUT_SIZE,
  type Exports,
} from './generated.js';
import { newGo } from './go-runtime.js';
import { fillRandom } from './random.js';

/** The exports that serve the boundary itself. */
type BufferExport =
  | 'abi_fingerprint'
  | 'in_reserve'
  | 'in_pointer'
  | 'out_pointer'
  | 'detail_pointer';

/** The exports that do something for a caller. */
export type CallName = Exclude<keyof Exports, BufferExport>;

/** The parameters of such an export after the first, the length of the input. */
export type CallArguments<K extends CallName> =
  Parameters<Exports[K]> extends [n: number, ...rest: infer R extends number[]] ? R : never;

/** The input buffer is at least this long, in bytes, so that it seldom grows. */
const LEAST_INPUT = 1 << 17;

const decoder = new TextDecoder();

/**
 * A running wasm instance.
 *
 * If an exception leaves the module, or its program ends, what the module
 * returns is meaningless. The instance is then dead for good, and every call,
 * the present one included, throws INSTANCE_LOST.
 */
export class Instance {
  readonly #exports: Exports;
  readonly #memory: WebAssembly.Memory;
  #lost: { readonly cause: unknown } | undefined;
  #inputSize = 0;
  #inputPointer = 0;
  #inside = false;

  private constructor(instance: WebAssembly.Instance) {
    this.#exports = instance.exports as unknown as Exports;
    this.#memory = instance.exports['mem'] as WebAssembly.Memory;
  }

  /** Whether the instance is dead. */
  get lost(): boolean {
    return this.#inside || this.#lost !== undefined;
  }

  /**
   * Starts a module.
   *
   * @throws BrontosigError LOAD_FAILED if it does not start or belongs to
   * another version of this package.
   */
  static async start(module: WebAssembly.Module): Promise<Instance> {
    let instance: Instance | undefined;
    let ended: { readonly cause: unknown } | undefined;
    const go = newGo((cause) => {
      ended ??= { cause };
      if (instance !== undefined) {
        instance.#end(cause);
      }
    }, fillRandom);
    let fingerprint: number | undefined;
    try {
      const raw = await WebAssembly.instantiate(module, go.importObject);
      const exports = raw.exports as Partial<Exports>;
      if (typeof exports.abi_fingerprint === 'function') {
        // Rejects at once if the program fails to start; else it is pending.
        await Promise.race([go.run(raw), Promise.resolve()]);
        if (ended === undefined) {
          instance = new Instance(raw);
          fingerprint = exports.abi_fingerprint();
        }
      }
    } catch (cause) {
      throw new BrontosigError('LOAD_FAILED', 'the wasm module does not start', { cause });
    }
    if (ended !== undefined) {
      throw new BrontosigError('LOAD_FAILED', 'the wasm module ended at once', ended);
    }
    if (instance === undefined || fingerprint !== FINGERPRINT) {
      throw new BrontosigError(
        'LOAD_FAILED',
        'the wasm module belongs to another program or version: serve the brontosig.wasm of this package',
      );
    }
    return instance;
  }

  /**
   * Calls an export.
   *
   * @param inputs - the byte arguments, in order. They are copied.
   * @param args - the other arguments.
   * @returns what the export returned: 0 or more.
   * @throws BrontosigError as the export says; LIMIT_EXCEEDED; INSTANCE_LOST.
   */
  call(name: CallName, inputs: readonly Uint8Array[], args: readonly number[]): number {
    let size = 0;
    for (const input of inputs) {
      size += input.length;
    }
    this.#reserve(size);
    if (size > 0) {
      this.#write(inputs, size);
    }
    const status = this.#enter(name, size, ...args);
    if (status < 0) {
      throw this.#error(status);
    }
    return status;
  }

  /** Copies the result of the last call out of the module and wipes it there. */
  output(length: number): Uint8Array<ArrayBuffer> {
    const output = this.#output(length);
    try {
      return output.slice();
    } finally {
      output.fill(0);
    }
  }

  /** Does the same with a result of parts, each of which has its length before it. */
  outputs(length: number): Uint8Array<ArrayBuffer>[] {
    const output = this.#output(length);
    try {
      const parts: Uint8Array<ArrayBuffer>[] = [];
      const byte = (at: number): number => output[at] ?? 0;
      for (let at = 0; at < length; ) {
        const start = at + 4;
        at = start + (byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16) | (byte(at + 3) << 24));
        parts.push(output.slice(start, at));
      }
      return parts;
    } finally {
      output.fill(0);
    }
  }

  /** The result of the last call, which the caller has to wipe. */
  #output(length: number): Uint8Array<ArrayBuffer> {
    const pointer = this.#enter('out_pointer') >>> 0;
    return new Uint8Array(this.#memory.buffer, pointer, length);
  }

  /** Makes the input buffer long enough. */
  #reserve(size: number): void {
    if (size > MAX_INPUT_SIZE) {
      throw new BrontosigError(
        'LIMIT_EXCEEDED',
        `the arguments have ${size} bytes, ${MAX_INPUT_SIZE} are allowed`,
      );
    }
    if (size <= this.#inputSize) {
      return;
    }
    const wanted = Math.max(size, LEAST_INPUT);
    const status = this.#enter('in_reserve', wanted);
    if (status < 0) {
      throw this.#error(status);
    }
    this.#inputSize = wanted;
    this.#inputPointer = this.#enter('in_pointer') >>> 0;
  }

  #write(inputs: readonly Uint8Array[], size: number): void {
    // The view is made for each call: it is dead as soon as memory has grown.
    const view = new Uint8Array(this.#memory.buffer, this.#inputPointer, size);
    let offset = 0;
    try {
      for (const input of inputs) {
        view.set(input, offset);
        offset += input.length;
      }
    } catch (error) {
      view.fill(0);
      throw error;
    }
  }

  /** Enters the module. Only here is an export called. */
  #enter(name: keyof Exports, ...args: number[]): number {
    if (this.#inside) {
      this.#end(new Error('an earlier call did not return'));
    }
    if (this.#lost === undefined) {
      const entry: (...args: number[]) => number = this.#exports[name];
      // Set until the export has returned. Where the stack is full, the
      // statements of the catch block may fail too, and nothing else would
      // tell the next call that this one left the module in the middle.
      this.#inside = true;
      try {
        const status = entry(...args);
        this.#inside = false;
        if (!this.#hasEnded()) {
          return status;
        }
      } catch (cause) {
        this.#end(cause);
      }
    }
    throw new BrontosigError('INSTANCE_LOST', 'the wasm instance has ended', this.#lost);
  }

  /** Tells whether the program ended during a call, which no compiler sees. */
  #hasEnded(): boolean {
    return this.#lost !== undefined;
  }

  #end(cause: unknown): void {
    this.#lost ??= { cause };
    this.#inside = false;
  }

  /** Makes the error of a call that returned a negative status. */
  #error(status: number): BrontosigError {
    const pointer = this.#enter('detail_pointer') >>> 0;
    const detail = new DataView(this.#memory.buffer, pointer);
    const signer = detail.getInt32(0, true);
    const contribution = CONTRIBUTIONS[detail.getInt32(4, true)];
    const length = detail.getUint32(8, true);
    const message = decoder.decode(new Uint8Array(this.#memory.buffer, pointer + 12, length));
    const code = CORE_ERROR_CODES[-status - 1] ?? 'INTERNAL';
    if (code === 'INVALID_CONTRIBUTION' && contribution !== undefined) {
      return new InvalidContributionError(message, signer < 0 ? null : signer, contribution);
    }
    return new BrontosigError(code, message);
  }
}
