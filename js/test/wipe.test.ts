import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { init } from 'brontosig';
import { Machine } from 'brontosig/brontide';
import { Context, Nonce, publicKey } from 'brontosig/musig2';

import { captureInstance } from './raw.js';

let memory: WebAssembly.Memory;
before(async () => {
  const { exports } = await captureInstance(init);
  memory = exports['mem'] as WebAssembly.Memory;
});

const secretKey = crypto.getRandomValues(new Uint8Array(32));
const otherKey = new Uint8Array(32).fill(9);

/**
 * Counts the places of the module's memory that hold the secret key: its bytes
 * as they came, or its words as Go keeps them. Half of a key counts too.
 */
function copies(): number {
  const whole = Buffer.from(memory.buffer);
  let found = 0;
  for (const form of [Buffer.from(secretKey), Buffer.from(secretKey).reverse()]) {
    for (const half of [form.subarray(0, 16), form.subarray(16)]) {
      for (let at = whole.indexOf(half); at >= 0; at = whole.indexOf(half, at + 1)) {
        found++;
      }
    }
  }
  return found;
}

test('the search finds a key that is in use', () => {
  assert.equal(copies(), 0);
  const context = new Context({ publicKeys: [publicKey(secretKey)], sort: true, secretKey });
  assert.notEqual(copies(), 0);
  context.dispose();
  assert.equal(copies(), 0);
});

test('no copy of a secret key outlives its use', () => {
  const own = publicKey(secretKey);
  assert.equal(copies(), 0, 'publicKey');
  const context = new Context({ publicKeys: [own], sort: true, secretKey });
  const message = new Uint8Array(32);
  const session = context.newSession({ message });
  session.sign();
  session.finish();
  context.deterministicSign({ aggregateOtherNonce: session.publicNonce, message });
  session.dispose();
  context.dispose();
  assert.equal(copies(), 0, 'Context and Session');

  const nonce = new Nonce({ publicKey: own, secretKey });
  assert.equal(copies(), 0, 'Nonce');
  nonce.dispose();

  const machine = new Machine({ role: 'initiator', secretKey, remoteKey: publicKey(otherKey) });
  machine.start();
  machine.dispose();
  assert.equal(copies(), 0, 'Machine');
});

test('no copy of a secret key is left by an error', () => {
  const publicKeys = [publicKey(otherKey)];
  assert.throws(() => new Context({ publicKeys, sort: true, secretKey }), {
    code: 'KEY_NOT_IN_SET',
  });
  assert.equal(copies(), 0, 'Context');
  assert.throws(() => new Nonce({ publicKey: publicKeys[0]!, secretKey }), {
    code: 'NONCE_MISMATCH',
  });
  assert.equal(copies(), 0, 'Nonce');
  const remoteKey = new Uint8Array(33);
  assert.throws(() => new Machine({ role: 'initiator', secretKey, remoteKey }), {
    code: 'INVALID_PUBLIC_KEY',
  });
  assert.equal(copies(), 0, 'Machine');
});
