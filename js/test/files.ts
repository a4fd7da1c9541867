import { readFileSync } from 'node:fs';

/** The built module. */
export const wasmURL: URL = new URL('../../dist/brontosig.wasm', import.meta.url);

/** Reads the built module, in an ArrayBuffer of its own. */
export function wasmBytes(): Uint8Array<ArrayBuffer> {
  return new Uint8Array(readFileSync(wasmURL));
}
