import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

import { init, type WasmSource } from 'brontosig';
import { verify } from 'brontosig/musig2';

import { wasmBytes, wasmURL } from './files.js';
import { isolated } from './isolated.js';
import { serving } from './serving.js';

/** Uses the module: a call that needs no more than that it runs. */
function use(): boolean {
  return verify(new Uint8Array(64), new Uint8Array(0), new Uint8Array(32));
}

/** Loads the module from the source and uses it. */
async function loads(wasm: WasmSource): Promise<void> {
  await init({ wasm });
  assert.equal(use(), false);
}

async function fails(wasm: unknown, message: RegExp): Promise<Error> {
  let caught: unknown;
  await assert.rejects(init({ wasm: wasm as WasmSource }), (error: Error & { code?: unknown }) => {
    assert.equal(error.name, 'BrontosigError');
    assert.equal(error.code, 'LOAD_FAILED');
    assert.match(error.message, message);
    caught = error;
    return true;
  });
  return caught as Error;
}

/** Counts the instances that are made from now on. */
function countInstances(): () => number {
  const instantiate = WebAssembly.instantiate as (...args: unknown[]) => unknown;
  let count = 0;
  (WebAssembly as { instantiate: unknown }).instantiate = (...args: unknown[]) => {
    count++;
    return instantiate(...args);
  };
  return () => count;
}

function serveModule(type: string): (path: string, response: ServerResponse) => void {
  return (_, response) => {
    if (type !== '') {
      response.setHeader('content-type', type);
    }
    response.end(wasmBytes());
  };
}

isolated(import.meta.url, {
  'init() with nothing else': async () => {
    await init();
    assert.equal(use(), false);
  },
  'before init() every call throws NOT_INITIALIZED': async () => {
    assert.throws(use, { name: 'BrontosigError', code: 'NOT_INITIALIZED' });
    const loading = init();
    assert.throws(use, { code: 'NOT_INITIALIZED' });
    await loading;
    assert.equal(use(), false);
  },
  'from a file URL': () => loads(wasmURL),
  'from a file URL as a string': () => loads(wasmURL.href),
  'from a file path': () => loads(fileURLToPath(wasmURL)),
  'from a relative file path': () => loads(relative(process.cwd(), fileURLToPath(wasmURL))),
  'from an ArrayBuffer': () => loads(wasmBytes().buffer),
  'from a Uint8Array': () => loads(wasmBytes()),
  'from a view into a larger buffer': () => {
    const bytes = wasmBytes();
    const larger = new Uint8Array(bytes.length + 100);
    larger.set(bytes, 50);
    return loads(new DataView(larger.buffer, 50, bytes.length));
  },
  'from bytes that change afterwards': async () => {
    const bytes = wasmBytes();
    const loading = init({ wasm: bytes });
    bytes.fill(0);
    await loading;
    assert.equal(use(), false);
  },
  'from a compiled module': async () => loads(await WebAssembly.compile(wasmBytes())),
  'from a Response': () =>
    loads(new Response(wasmBytes(), { headers: { 'content-type': 'application/wasm' } })),
  'from a Response without a type': () => loads(new Response(wasmBytes())),
  'over HTTP': () =>
    serving(serveModule('application/wasm'), (base) => loads(new URL('/a.wasm', base))),
  'over HTTP, served with the wrong type': () =>
    serving(serveModule('text/plain'), (base) => loads(`${base}/a.wasm`)),
  'over HTTP, served without a type': () =>
    serving(serveModule(''), (base) => loads(`${base}/a.wasm`)),

  'twice, at once and again, is one instance': async () => {
    const count = countInstances();
    await Promise.all([init(), init(), init({})]);
    await init();
    assert.equal(count(), 1);
  },
  'twice with the same source is one instance': async () => {
    const count = countInstances();
    const bytes = wasmBytes();
    await Promise.all([init({ wasm: bytes }), init({ wasm: bytes })]);
    await init({ wasm: bytes });
    await init();
    assert.equal(count(), 1);
  },
  'a URL and its text are the same source': async () => {
    await init({ wasm: wasmURL });
    await init({ wasm: wasmURL.href });
  },
  'a second source throws and changes nothing': async () => {
    const loading = init();
    await assert.rejects(init({ wasm: wasmURL }), { code: 'ALREADY_INITIALIZED' });
    await loading;
    await assert.rejects(init({ wasm: wasmBytes() }), { code: 'ALREADY_INITIALIZED' });
    assert.equal(use(), false);
  },

  'again after a failure': async () => {
    await fails(new Uint8Array(8), /the given bytes: this is no WebAssembly module/);
    assert.throws(use, { code: 'NOT_INITIALIZED' });
    await init();
    assert.equal(use(), false);
  },
  'a failure reaches every caller that waits': async () => {
    const wasm = new Uint8Array(8);
    const both = await Promise.allSettled([init({ wasm }), init()]);
    assert.deepEqual(
      both.map((result) => result.status),
      ['rejected', 'rejected'],
    );
    await init();
  },
  'a file that does not exist': async () => {
    const error = await fails('/no/such/file.wasm', /file\.wasm could not be read.*init\(\{ wasm \}\)/);
    assert.equal((error.cause as { code?: unknown }).code, 'ENOENT');
    await init();
  },
  'a module that is cut off': async () => {
    await fails(wasmBytes().subarray(0, 1000), /the given bytes could not be compiled/);
    await init();
  },
  'a server that is not there': async () => {
    let free = '';
    await serving(
      () => undefined,
      (base) => {
        free = base;
        return Promise.resolve();
      },
    );
    await fails(`${free}/a.wasm`, /could not be read/);
    await init();
  },
  'a status of 404': () =>
    serving(
      (_, response) => {
        response.writeHead(404, { 'content-type': 'text/html' }).end('not here');
      },
      async (base) => {
        await fails(`${base}/a.wasm`, /a\.wasm \(text\/html\).*status 404.*init\(\{ wasm \}\)/);
        await init();
      },
    ),
  'a page in place of the module': async () => {
    const page = (type: string): Response => new Response('<!doctype html>', { headers: { 'content-type': type } });
    await fails(page('text/html'), /the given response \(text\/html\): this is no WebAssembly module.*bundlers\.md/);
    await fails(page('application/wasm'), /the given response \(application\/wasm\) could not be compiled/);
    await init();
  },
  'a Response that was read before': async () => {
    for (const type of ['text/html', 'application/wasm']) {
      const response = new Response(wasmBytes(), { headers: { 'content-type': type } });
      await response.arrayBuffer();
      await fails(response, /could not be/);
    }
    await init();
  },
  'another wasm module': async () => {
    const empty = new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
    await fails(empty, /belongs to another program or version/);
    await init();
  },
  'a wasm module that wants other imports': async () => {
    // (module (import "a" "b" (func)))
    const wants = new Uint8Array([
      0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 2, 7, 1, 1, 0x61, 1, 0x62, 0, 0,
    ]);
    const error = await fails(wants, /does not start/);
    assert.ok(error.cause instanceof TypeError);
    await init();
  },
  'a module of another version': async () => {
    // A module that exports what ours does, with another fingerprint:
    // (module (memory (export "mem") 1) (func (export "run") (param i32 i32))
    //   (func (export "abi_fingerprint") (result i32) i32.const 1))
    const other = Uint8Array.from([
      0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 10, 2, 0x60, 2, 0x7f, 0x7f, 0, 0x60, 0, 1, 0x7f, 3, 3, 2,
      0, 1, 5, 3, 1, 0, 1, 7, 31, 3, 3, 0x6d, 0x65, 0x6d, 2, 0, 3, 0x72, 0x75, 0x6e, 0, 0, 15,
      ...new TextEncoder().encode('abi_fingerprint'), 0, 1, 10, 9, 2, 2, 0, 0x0b, 4, 0, 0x41, 1, 0x0b,
    ]);
    await fails(other, /belongs to another program or version/);
    await init();
  },
  'options that are no object': async () => {
    await assert.rejects(init(null as never), {
      name: 'TypeError',
      message: 'options: an object expected, got null',
    });
    await init();
  },
  'a source of the wrong type': async () => {
    for (const wasm of [null, 1, {}, [], true, () => undefined]) {
      await assert.rejects(init({ wasm: wasm as unknown as WasmSource }), {
        name: 'TypeError',
        message: /^wasm: /,
      });
    }
    await init();
  },
});
