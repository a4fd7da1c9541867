import { object } from './check.js';
import { BrontosigError } from './errors.js';
import { Instance, type CallArguments, type CallName } from './instance.js';
import { checkSource, compile, sameSource, type WasmSource } from './load.js';

/** Options of {@link init}. */
export interface InitOptions {
  /**
   * Where the wasm module comes from. By default it is the file
   * `brontosig.wasm` beside the code of this package.
   */
  readonly wasm?: WasmSource | undefined;
}

/** The loading that is under way or has succeeded. */
let loading: { readonly source: WasmSource | undefined; readonly done: Promise<void> } | undefined;

/** The latest instance. */
let live: Instance | undefined;

/**
 * Counts the instances. An object remembers the count at its birth: a handle
 * means nothing to another instance.
 */
let epoch = 0;

/**
 * Loads and starts the wasm module. Everything else in this package needs it.
 *
 * Calling it again is cheap: all calls share one instance. After a failure, or
 * when the instance has been lost, the next call loads anew.
 *
 * @example
 * ```js
 * import { init } from 'brontosig';
 *
 * await init();
 * ```
 *
 * @throws BrontosigError LOAD_FAILED if the module cannot be fetched, compiled
 * or started, with the cause; ALREADY_INITIALIZED if an earlier call named
 * another source.
 * @throws TypeError if `options` is no object, or `wasm` none of the types that
 * it may have.
 */
export async function init(options: InitOptions = {}): Promise<void> {
  const source: unknown = object('options', options).wasm;
  checkSource(source);
  alive();
  if (loading === undefined) {
    // The function runs up to its first await before `loading` is set; nothing
    // in it looks at `loading` that early.
    loading = { source, done: load(source) };
  } else if (source !== undefined && !sameSource(source, loading.source)) {
    throw new BrontosigError(
      'ALREADY_INITIALIZED',
      'init() was called before with another source for the wasm module',
    );
  }
  return loading.done;
}

async function load(source: WasmSource | undefined): Promise<void> {
  try {
    const module = await compile(source);
    const instance = await Instance.start(module);
    epoch++;
    live = instance;
  } catch (error) {
    loading = undefined;
    throw error;
  }
}

/** Returns the instance if it lives. A dead one is let go, and its memory. */
function alive(): Instance | undefined {
  if (live?.lost === true) {
    live = undefined;
    loading = undefined;
  }
  return live;
}

/** The instance that calls go to. */
function current(): Instance {
  const instance = alive();
  if (instance !== undefined) {
    return instance;
  }
  if (epoch > 0) {
    throw new BrontosigError('INSTANCE_LOST', 'the wasm instance has ended: call init() again');
  }
  throw new BrontosigError('NOT_INITIALIZED', 'call and await init() first');
}

/**
 * Calls an export of the module.
 *
 * @param inputs - the byte arguments, in order.
 * @param args - the export's parameters after `n`.
 * @returns what the export returned: 0 or more.
 * @throws BrontosigError as the export says; NOT_INITIALIZED; INSTANCE_LOST.
 */
export function call<K extends CallName>(
  name: K,
  inputs: readonly Uint8Array[],
  ...args: CallArguments<K>
): number {
  return current().call(name, inputs, args);
}

/**
 * Copies out the bytes that the last {@link call} has put into the output
 * buffer, and wipes them there.
 *
 * @param length - their number, as that call returned it.
 */
export function output(length: number): Uint8Array<ArrayBuffer> {
  return current().output(length);
}

/**
 * Does the same as {@link output} with bytes that are parts, each after its
 * length in 4 bytes, little-endian.
 */
export function outputs(length: number): Uint8Array<ArrayBuffer>[] {
  return current().outputs(length);
}

/** The number of the present instance, counted from 1, or 0 if there is none. */
export function currentEpoch(): number {
  return alive() === undefined ? 0 : epoch;
}
