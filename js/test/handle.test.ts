import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { before, test } from 'node:test';

import { init } from 'brontosig';
import { Machine } from 'brontosig/brontide';
import { Context, Nonce, publicKey } from 'brontosig/musig2';

import { captureInstance, Raw } from './raw.js';

const NONE = new Uint8Array(0);
const secretKey = new Uint8Array(32).fill(3);
let raw: Raw;
before(async () => {
  raw = new Raw(await captureInstance(init));
});

function makeContext(): Context {
  return new Context({ publicKeys: [publicKey(secretKey)], sort: false, secretKey });
}

/** Makes one object of every class that lives in the module. */
function makeAll(): { dispose(): void; toJSON(): never }[] {
  const context = makeContext();
  return [
    context,
    context.newSession(),
    context.newCoordinator({ message: new Uint8Array(1) }),
    new Nonce({ publicKey: publicKey(secretKey) }),
    new Machine({ role: 'responder', secretKey }),
  ];
}

test('a disposed object throws DISPOSED, and disposing again does nothing', () => {
  const disposed = { name: 'BrontosigError', code: 'DISPOSED' };
  const context = makeContext();
  const session = context.newSession();
  context.dispose();
  context.dispose();
  assert.throws(() => context.newSession(), disposed);
  // The new object takes the place of the old one, which must not notice.
  const other = makeContext();
  context.dispose();
  assert.throws(() => context.newSession(), disposed);
  other.newSession().dispose();
  // A session owns what it needs.
  session.addNonce(0, session.publicNonce);
  session.sign(new Uint8Array(1));
  session.dispose();
  assert.throws(() => session.finish(), disposed);
  other.dispose();
});

test('using disposes where the platform knows Symbol.dispose', () => {
  assert.equal(typeof Symbol.dispose, 'symbol');
  const context = makeContext();
  context[Symbol.dispose]();
  assert.throws(() => context.newSession(), { code: 'DISPOSED' });
});

test('no object can be cloned, sent or serialised', () => {
  const { port1 } = new MessageChannel();
  for (const object of makeAll()) {
    const { name } = object.constructor;
    assert.throws(() => structuredClone(object), { name: 'DataCloneError' }, name);
    assert.throws(() => structuredClone({ deep: [object] }), { name: 'DataCloneError' }, name);
    assert.throws(() => {
      port1.postMessage(object);
    }, { name: 'DataCloneError' });
    assert.throws(() => JSON.stringify({ object }), {
      name: 'TypeError',
      message: `${name} cannot be serialised`,
    });
    object.dispose();
    assert.throws(() => structuredClone(object), { name: 'DataCloneError' }, `disposed ${name}`);
    assert.throws(() => JSON.stringify(object), TypeError);
  }
  port1.close();
});

test('methods refuse what is not their object', () => {
  const context = makeContext();
  const fake = Object.create(Context.prototype) as Context;
  assert.throws(() => fake.newSession(), TypeError);
  // eslint-disable-next-line @typescript-eslint/unbound-method -- that is the point
  const { newSession } = context;
  assert.throws(() => newSession.call(new Nonce({ publicKey: publicKey(secretKey) }) as never), {
    code: 'INVALID_HANDLE',
  });
  context.dispose();
});

test('what nobody holds any more is collected', async () => {
  const { gc } = globalThis;
  assert.ok(gc !== undefined, 'run with --expose-gc');
  // The place that was freed last is used next, in its next generation.
  const probe = raw.call('musig2_nonce_new', publicKey(secretKey), 0, 0, 0, 0);
  raw.call('handle_dispose', NONE, probe);
  makeContext();
  const lives = (): boolean => raw.call('musig2_context_info', NONE, probe + (1 << 16)) >= 0;
  assert.ok(lives());
  // Finalisers run in a task of their own, some time after the collection.
  for (let i = 0; lives(); i++) {
    assert.ok(i < 100, 'the context was not collected');
    gc();
    await setImmediate();
  }
});
