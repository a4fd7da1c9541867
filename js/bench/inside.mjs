// The module of js/bench/inside: work that is done inside Go wasm, with nothing
// crossing the boundary, and the same call by js.FuncOf.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const goroot = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();

// The toolchain's own file defines Go on globalThis.
await import(pathToFileURL(`${goroot}/lib/wasm/wasm_exec.js`).href);
const go = new globalThis.Go();
const module = await WebAssembly.compile(
  readFileSync(new URL('../../build/inside.wasm', import.meta.url)),
);
void go.run(await WebAssembly.instantiate(module, go.importObject));
const { funcofMessage, insideRun } = globalThis;

/** Returns bytes behind a message type, through js.FuncOf. */
export { funcofMessage };

/**
 * Does a work of size n (signers, or bytes) `calls` times, and returns the
 * milliseconds that each of its phases took.
 */
export function inside(work, n, calls) {
  const phases = insideRun(work, n, calls);
  if (typeof phases === 'string') {
    throw new Error(phases);
  }
  return phases;
}
