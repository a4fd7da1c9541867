import assert from 'node:assert/strict';

import { isolated } from './isolated.js';

/** Loads all of the package and uses it. Its import is watched too. */
async function load(): Promise<void> {
  const { init } = await import('brontosig');
  const { Context, publicKey } = await import('brontosig/musig2');
  await import('brontosig/brontide');
  await import('brontosig/lightning');
  await init();
  const secretKey = new Uint8Array(32).fill(1);
  const publicKeys = [publicKey(secretKey)];
  new Context({ publicKeys, sort: true, secretKey }).newSession().dispose();
}

/** The names of the global properties with the values of those that Go would set. */
function snapshot(): unknown {
  const { Go, fs, path, process } = globalThis as unknown as Record<string, unknown>;
  return { names: Reflect.ownKeys(globalThis), Go, fs, path, process };
}

isolated(import.meta.url, {
  'loading leaves the global properties as they were': async () => {
    const before = snapshot();
    await load();
    assert.deepStrictEqual(snapshot(), before);
    assert.ok(!('Go' in globalThis));
  },
  "a page's own Go, fs, path and process stay untouched and unused": async () => {
    const { process } = globalThis;
    const own = { Go: 'Go', fs: { writeSync: 'no function' }, path: 1 };
    Object.assign(globalThis, own);
    const before = snapshot();
    await load();
    assert.deepStrictEqual(snapshot(), before);
    assert.equal(globalThis.process, process);
  },
});
