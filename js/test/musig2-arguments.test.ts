import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { init } from 'brontosig';
import {
  aggregateNonces,
  Context,
  Nonce,
  publicKey,
  sortKeys,
  verify,
  type Coordinator,
  type Session,
  type Tweak,
} from 'brontosig/musig2';

import { Signers } from './signers.js';

const secretKey = new Uint8Array(32).fill(5);
const MESSAGE = new Uint8Array(1);
let key: Uint8Array;
let context: Context;
let session: Session;
let coordinator: Coordinator;
before(async () => {
  await init();
  const signers = new Signers([secretKey, new Uint8Array(32).fill(6)]);
  key = signers.publicKeys[0]!;
  context = signers.context;
  session = context.newSession();
  coordinator = context.newCoordinator({ message: MESSAGE });
});

/** An argument of bytes: how to pass it, its name in errors, and a number of bytes that it has not. */
type ByteArgument = readonly [
  name: string,
  wrongLength: number | undefined,
  pass: (value: Uint8Array) => unknown,
];

const aggregate = (options: object): Context => new Context({ publicKeys: [key], sort: false, ...options });
const tweaked = (tweak: Tweak): Context => aggregate({ tweaks: [{ kind: 'bip86' }, tweak] });
const partial = (options: object): boolean =>
  context.verifyPartialSignature({
    partialSignature: new Uint8Array(32),
    publicNonces: [session.publicNonce, session.publicNonce],
    signerIndex: 0,
    message: MESSAGE,
    ...options,
  });
const deterministic = (options: object): unknown =>
  context.deterministicSign({ aggregateOtherNonce: session.publicNonce, message: MESSAGE, ...options });

const BYTES: readonly ByteArgument[] = [
  ['secretKey', 31, publicKey],
  ['publicKeys[1]', 34, (value) => sortKeys([key, value])],
  ['publicNonces[0]', 65, (value) => aggregateNonces([value])],
  ['signature', 63, (value) => verify(value, MESSAGE, new Uint8Array(32))],
  ['message', undefined, (value) => verify(new Uint8Array(64), value, new Uint8Array(32))],
  ['xOnlyKey', 33, (value) => verify(new Uint8Array(64), MESSAGE, value)],

  ['publicKeys[1]', 65, (value) => aggregate({ publicKeys: [key, value] })],
  ['tweaks[1].tweak', 33, (tweak) => tweaked({ kind: 'plain', tweak })],
  ['tweaks[1].tweak', 0, (tweak) => tweaked({ kind: 'xonly', tweak })],
  ['tweaks[1].merkleRoot', 31, (merkleRoot) => tweaked({ kind: 'taproot', merkleRoot })],
  ['secretKey', 33, (value) => aggregate({ secretKey: value })],
  ['encoded', undefined, (value) => Context.fromBytes(value)],
  ['secretKey', 0, (value) => Context.fromBytes(context.toBytes(), { secretKey: value })],

  ['message', undefined, (message) => context.newSession({ message })],
  ['extraInput', undefined, (extraInput) => context.newSession({ extraInput })],
  ['message', undefined, (message) => context.newCoordinator({ message })],
  ['partialSignature', 31, (partialSignature) => partial({ partialSignature })],
  ['publicNonces[1]', 67, (value) => partial({ publicNonces: [session.publicNonce, value] })],
  ['message', undefined, (message) => partial({ message })],
  ['aggregateOtherNonce', 33, (aggregateOtherNonce) => deterministic({ aggregateOtherNonce })],
  ['rand', 16, (rand) => deterministic({ rand })],
  ['message', undefined, (message) => deterministic({ message })],

  ['publicKey', 65, (value) => new Nonce({ publicKey: value })],
  ['secretKey', 31, (value) => new Nonce({ publicKey: key, secretKey: value })],
  ['aggregateKey', 31, (aggregateKey) => new Nonce({ publicKey: key, aggregateKey })],
  ['message', undefined, (message) => new Nonce({ publicKey: key, message })],
  ['extraInput', undefined, (extraInput) => new Nonce({ publicKey: key, extraInput })],

  ['message', undefined, (value) => session.sign(value)],
  ['aggregateNonce', 65, (value) => { session.setAggregateNonce(value); }],
  ['publicNonce', 67, (value) => { session.addNonce(1, value); }],
  ['publicNonce', 33, (value) => { coordinator.addNonce(1, value); }],
  ['partialSignature', 33, (value) => { session.addPartialSignature(1, value); }],
  ['partialSignature', 64, (value) => { coordinator.addPartialSignature(1, value); }],
];

test('bytes of a wrong type or length are refused by name', () => {
  for (const [name, wrongLength, pass] of BYTES) {
    const call = `${name} of ${String(pass)}`;
    for (const value of ['00', 7, null, [1, 2], {}, new ArrayBuffer(32), new Uint16Array(16)]) {
      assert.throws(
        () => pass(value as never),
        (error: unknown) => error instanceof TypeError && error.message.startsWith(`${name}: `),
        call,
      );
    }
    if (wrongLength !== undefined) {
      assert.throws(
        () => pass(new Uint8Array(wrongLength)),
        (error: unknown) => error instanceof RangeError && error.message.startsWith(`${name}: `),
        call,
      );
    }
  }
});

test('an error never shows the bytes', () => {
  const secret = new Uint8Array(31).fill(0xab);
  for (const value of [secret, 'ab'.repeat(32)]) {
    assert.throws(() => publicKey(value as Uint8Array), (error: Error) => !/171|abab/.test(error.message));
  }
});

test('an x-only key in place of a compressed one is called by its name', () => {
  const xOnly = key.slice(1);
  for (const f of [
    () => sortKeys([xOnly]),
    () => new Context({ publicKeys: [xOnly], sort: false }),
    () => new Nonce({ publicKey: xOnly }),
  ]) {
    assert.throws(f, { name: 'RangeError', message: /^publicKeys?(\[0\])?: .* x-only key of 32$/ });
  }
});

test('options, lists, flags and indices of a wrong type are refused by name', () => {
  const cases: readonly (readonly [name: string, type: typeof TypeError, f: () => unknown])[] = [
    ['options', TypeError, () => new Context(undefined as never)],
    ['options', TypeError, () => new Nonce(7 as never)],
    ['options', TypeError, () => context.newSession(null as never)],
    ['options', TypeError, () => context.newCoordinator('x' as never)],
    ['options', TypeError, () => context.verifyPartialSignature(undefined as never)],
    ['options', TypeError, () => context.deterministicSign(undefined as never)],
    ['options', TypeError, () => Context.fromBytes(context.toBytes(), null as never)],
    ['publicKeys', TypeError, () => sortKeys(key as never)],
    ['publicKeys', TypeError, () => aggregate({ publicKeys: 'x' })],
    ['publicKeys', RangeError, () => sortKeys(new Array<Uint8Array>(100_000).fill(key))],
    ['publicNonces', TypeError, () => aggregateNonces({} as never)],
    ['publicNonces', TypeError, () => partial({ publicNonces: undefined })],
    ['sort', TypeError, () => aggregate({ sort: 1 })],
    ['tweaks', TypeError, () => aggregate({ tweaks: 'bip86' })],
    ['tweaks[0]', TypeError, () => aggregate({ tweaks: ['bip86'] })],
    ['tweaks[0].kind', TypeError, () => aggregate({ tweaks: [{ kind: 'BIP86' }] })],
    ['signerIndex', TypeError, () => aggregate({ secretKey, signerIndex: '0' })],
    ['signerIndex', RangeError, () => aggregate({ secretKey, signerIndex: -1 })],
    ['signerIndex', RangeError, () => partial({ signerIndex: 0.5 })],
    ['signerIndex', TypeError, () => { session.addNonce('1' as never, session.publicNonce); }],
    ['signerIndex', RangeError, () => { session.addNonce(NaN, session.publicNonce); }],
    ['signerIndex', RangeError, () => { coordinator.addPartialSignature(2 ** 32, secretKey); }],
  ];
  for (const [name, type, f] of cases) {
    assert.throws(
      f,
      (error: unknown) => error instanceof type && error.message.startsWith(`${name}: `),
      `${name} of ${String(f)}`,
    );
  }
});

test('after all of that the objects are as they were', () => {
  assert.equal(session.state, 'nonces');
  assert.deepEqual(session.missingNonces, [1]);
  assert.deepEqual(coordinator.missingNonces, [0, 1]);
  context.newSession().dispose();
});
