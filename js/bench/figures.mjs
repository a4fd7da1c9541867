// Prints the figures of a build: the size of the module, the time to a first
// signature, and the cost of a call into the module. `make figures` runs it.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { init } from 'brontosig';
import { Handle, handleOf } from '../../dist/handle.js';
import { call, output } from '../../dist/runtime.js';

const root = new URL('../../', import.meta.url);
const kilobytes = (n) => `${(n / 1000).toFixed(0)} kB`;
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];
const row = (name, ...values) => console.log(`| ${[name, ...values].join(' | ')} |`);

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0].model}\n`);

const wasm = readFileSync(new URL('dist/brontosig.wasm', root));
row('module', 'raw', 'gzip -9', 'brotli -11');
row('---', '---', '---', '---');
const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } };
row(
  'size',
  kilobytes(wasm.length),
  kilobytes(gzipSync(wasm, { level: 9 }).length),
  kilobytes(brotliCompressSync(wasm, brotli).length),
);

const script = fileURLToPath(new URL('first-signature.mjs', import.meta.url));
const runs = Array.from({ length: 7 }, () => JSON.parse(execFileSync(process.execPath, [script])));
console.log();
row('in a fresh process, median of 7', 'ms');
row('---', '---');
row('import and init', median(runs.map(({ loadMs }) => loadMs)).toFixed(0));
row('first signature of two signers after that', median(runs.map(({ signMs }) => signMs)).toFixed(1));
row('import to first signature', median(runs.map((r) => r.loadMs + r.signMs)).toFixed(0));

// The same work on both sides: copy bytes in, put a few bytes before them, copy
// them out. Ours does it through the whole boundary: the checks, a handle, the
// wiping of both buffers, and the rules of BOLT-1 for the message. With much
// data the copies are what counts, and ours makes one more.
await init();
class Peer extends Handle {
  constructor() {
    super(call('lnpeer_new', [], 0, 0, 0, 0));
  }
}
const peer = new Peer();
output(call('lnpeer_start', [], handleOf(peer)));
output(call('lnpeer_receive', [Uint8Array.of(0, 16, 0, 0, 0, 0)], handleOf(peer)));

// The toolchain's own file, which defines Go on globalThis.
const goroot = execFileSync('go', ['env', 'GOROOT'], { encoding: 'utf8' }).trim();
await import(pathToFileURL(`${goroot}/lib/wasm/wasm_exec.js`).href);
const go = new globalThis.Go();
const module = await WebAssembly.compile(readFileSync(new URL('build/funcof.wasm', root)));
void go.run(await WebAssembly.instantiate(module, go.importObject));
const { funcofMessage } = globalThis;

const variants = {
  'go:wasmexport, this package': (bytes) => output(call('lnpeer_receive', [bytes], handleOf(peer))),
  'js.FuncOf': (bytes) => funcofMessage(32_769, bytes),
};

/** Nanoseconds of a call, the median of rounds that take turns. */
function measure(size, calls) {
  const bytes = new Uint8Array(size).fill(0x81); // a message of an odd type
  const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  for (let round = 0; round < 15; round++) {
    for (const [name, run] of Object.entries(variants)) {
      const started = performance.now();
      for (let i = 0; i < calls; i++) {
        if (run(bytes).length < size) {
          throw new Error('a wrong result');
        }
      }
      times[name].push(((performance.now() - started) * 1e6) / calls);
    }
  }
  return Object.values(times).map(median);
}

console.log();
row('a call there and back', ...Object.keys(variants), 'ratio');
row('---', '---', '---', '---');
// Enough calls for V8 to settle on a size of its heap for so many large arrays.
for (const [size, calls] of [
  [32, 20_000],
  [65_535, 3_000],
]) {
  const [ours, theirs] = measure(size, calls);
  const micros = (ns) => `${(ns / 1000).toFixed(2)} µs`;
  row(`${size} bytes`, micros(ours), micros(theirs), (theirs / ours).toFixed(1));
}
process.exit(0);
