import { CORE_ERROR_CODES, type Exports } from '../../dist/generated.js';

/** Captures the wasm instance that `init` makes, so that a test can go behind the wrapper. */
export async function captureInstance(init: () => Promise<void>): Promise<WebAssembly.Instance> {
  const real = WebAssembly.instantiate;
  let captured: WebAssembly.Instance | undefined;
  const spy = async (
    module: WebAssembly.Module,
    imports: WebAssembly.Imports,
  ): Promise<WebAssembly.Instance> => {
    captured = await real(module, imports);
    return captured;
  };
  WebAssembly.instantiate = spy as unknown as typeof real;
  try {
    await init();
  } finally {
    WebAssembly.instantiate = real;
  }
  if (captured === undefined) {
    throw new Error('init() made no instance');
  }
  return captured;
}

/** The name of one of our exports. */
export type ExportName = keyof Exports;

/** What a raw call led to: the kind of error, or OK. */
export type Outcome = 'OK' | (typeof CORE_ERROR_CODES)[number];

/** Joins byte strings. */
export function join(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const joined = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    joined.set(part, offset);
    offset += part.length;
  }
  return joined;
}

/** Calls exports without the wrapper and keeps count of what they return. */
export class Raw {
  /** The calls so far, without those that only move bytes. */
  calls = 0;
  /** The outcomes that each export has had. */
  readonly outcomes = new Map<ExportName, Map<Outcome, number>>();
  readonly #functions: Record<ExportName, (...args: number[]) => number>;
  readonly #memory: WebAssembly.Memory;

  constructor(instance: WebAssembly.Instance) {
    this.#functions = instance.exports as Record<ExportName, (...args: number[]) => number>;
    this.#memory = instance.exports['mem'] as WebAssembly.Memory;
  }

  /** The number of parameters of an export. */
  arity(name: ExportName): number {
    return this.#functions[name].length;
  }

  /** Calls an export with any numbers at all. */
  enter(name: ExportName, args: readonly number[]): number {
    this.calls++;
    return this.#enter(name, args);
  }

  #enter(name: ExportName, args: readonly number[]): number {
    const status = this.#functions[name](...args);
    const outcome = status < 0 && !name.endsWith('_pointer') ? CORE_ERROR_CODES[-status - 1] : 'OK';
    if (outcome === undefined) {
      throw new Error(`${name}(${args.join(', ')}) returned ${status}, which is no code`);
    }
    if (outcome === 'INTERNAL') {
      throw new Error(`${name}(${args.join(', ')}) failed inside: ${this.#detail()}`);
    }
    const counts = this.outcomes.get(name) ?? new Map<Outcome, number>();
    this.outcomes.set(name, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
    return status;
  }

  /** Writes bytes to the input buffer and calls an export with them. */
  call(name: ExportName, input: Uint8Array, ...args: number[]): number {
    this.#enter('in_reserve', [input.length]);
    const pointer = this.#enter('in_pointer', []) >>> 0;
    new Uint8Array(this.#memory.buffer).set(input, pointer);
    return this.enter(name, [input.length, ...args]);
  }

  /** Writes bytes to the start of the input buffer. */
  scribble(bytes: Uint8Array): void {
    new Uint8Array(this.#memory.buffer).set(bytes, this.#functions.in_pointer() >>> 0);
  }

  /** Reads the output of the last call. */
  output(length: number): Uint8Array<ArrayBuffer> {
    const pointer = this.#enter('out_pointer', []) >>> 0;
    return new Uint8Array(this.#memory.buffer).slice(pointer, pointer + length);
  }

  /** Calls an export and returns its output, or undefined if it failed. */
  bytes(name: ExportName, input: Uint8Array, ...args: number[]): Uint8Array<ArrayBuffer> | undefined {
    const status = this.call(name, input, ...args);
    return status < 0 ? undefined : this.output(status);
  }

  #detail(): string {
    const pointer = this.#functions.detail_pointer() >>> 0;
    const view = new DataView(this.#memory.buffer, pointer);
    return new TextDecoder().decode(
      new Uint8Array(this.#memory.buffer, pointer + 12, view.getUint32(8, true)),
    );
  }
}
