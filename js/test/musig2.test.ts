import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import { p2tr, p2tr_pk } from '@scure/btc-signer';
import { init } from 'brontosig';
import {
  aggregateNonces,
  Context,
  Nonce,
  publicKey,
  sortKeys,
  verify,
  type Tweak,
} from 'brontosig/musig2';

import { Random } from './random.js';
import { Signers } from './signers.js';

const random = new Random();
before(() => init());

const MESSAGE = random.bytes(32);

/** Makes one tweak of each kind. */
function everyTweak(): [Tweak, Tweak, Tweak, Tweak] {
  return [
    { kind: 'plain', tweak: random.bytes(32) },
    { kind: 'xonly', tweak: random.bytes(32) },
    { kind: 'taproot', merkleRoot: random.bytes(32) },
    { kind: 'bip86' },
  ];
}

/** Lets signers sign, and checks the signature here and with another implementation. */
function assertCosigns(signers: Signers, message: Uint8Array): void {
  const { outputKey } = signers.context;
  const [signature, ...others] = signers.cosign(message);
  assert.ok(signature !== undefined);
  for (const other of others) {
    assert.deepEqual(other, signature);
  }
  assert.ok(verify(signature, message, outputKey));
  assert.ok(schnorr.verify(signature, message, outputKey), 'another implementation refuses the signature');
  const wrong = signature.slice();
  wrong[63]! ^= 1;
  assert.ok(!verify(wrong, message, outputKey));
}

/** Returns a check that arrays are still what they are now. */
function unchanged(...arrays: Uint8Array[]): () => void {
  const copies = arrays.map((array) => array.slice());
  return () => {
    assert.deepEqual(arrays, copies);
  };
}

test('three of three sign under each kind of tweak, and under all of them in any order', (t) => {
  t.diagnostic(`seed ${random.seed}: set BRONTOSIG_SEED to it to draw the same numbers in this file`);
  const [plain, xonly, taproot, bip86] = everyTweak();
  for (const tweaks of [
    undefined,
    [],
    [plain],
    [xonly],
    [taproot],
    [bip86],
    [plain, xonly, taproot],
    [plain, plain, xonly, plain, bip86],
    [xonly, taproot, plain, bip86, xonly],
  ]) {
    const signers = Signers.random(random, 3, tweaks);
    assertCosigns(signers, MESSAGE);
    signers.dispose();
  }
});

test('messages of any length', () => {
  const signers = Signers.random(random, 2, [{ kind: 'bip86' }]);
  for (const length of [0, 1, 31, 32, 33, 1 << 20]) {
    assertCosigns(signers, new Uint8Array(length).fill(length));
  }
});

test('one signer, or sixteen', () => {
  for (const count of [1, 16]) {
    assertCosigns(Signers.random(random, count), MESSAGE);
  }
});

test('a taproot output key is the one that another wallet computes', () => {
  const publicKeys = Array.from({ length: 3 }, () => publicKey(random.bytes(32)));
  const { internalKey } = new Context({ publicKeys, sort: false });
  const leaves = [0, 1].map(() => ({ script: p2tr_pk(publicKey(random.bytes(32)).slice(1)).script }));
  const withScripts = p2tr(internalKey, leaves);
  const bare = new Context({ publicKeys, sort: false, tweaks: [{ kind: 'bip86' }] });
  const scripted = new Context({
    publicKeys,
    sort: false,
    tweaks: [{ kind: 'taproot', merkleRoot: withScripts.tapMerkleRoot }],
  });
  assert.deepEqual(bare.outputKey, p2tr(internalKey).tweakedPubkey);
  assert.deepEqual(scripted.outputKey, withScripts.tweakedPubkey);
  assert.deepEqual(scripted.internalKey, internalKey);
});

test('the keys of a context', () => {
  const publicKeys = Array.from({ length: 5 }, () => publicKey(random.bytes(32)));
  const plain = new Context({ publicKeys, sort: false });
  assert.deepEqual(plain.publicKeys, publicKeys);
  assert.equal(plain.aggregateKey.length, 33);
  assert.deepEqual(plain.outputKey, plain.aggregateKey.slice(1));
  assert.deepEqual(plain.internalKey, plain.outputKey);
  assert.equal(plain.signerIndex, undefined);

  const tweaked = new Context({ publicKeys, sort: false, tweaks: everyTweak() });
  assert.deepEqual(tweaked.internalKey, plain.internalKey);
  assert.notDeepEqual(tweaked.outputKey, plain.outputKey);

  const byHand = [...publicKeys].sort((a, b) => Buffer.compare(a, b));
  assert.deepEqual(sortKeys(publicKeys), byHand);
  const reverse = [...publicKeys].reverse();
  const sorted = new Context({ publicKeys, sort: true });
  const other = new Context({ publicKeys: reverse, sort: true });
  assert.deepEqual(sorted.publicKeys, byHand);
  assert.deepEqual(other.outputKey, sorted.outputKey);
  assert.deepEqual(new Context({ publicKeys: byHand, sort: false }).outputKey, sorted.outputKey);
  assert.notDeepEqual(new Context({ publicKeys: reverse, sort: false }).outputKey, plain.outputKey);
});

test('the own index is that of the effective order', () => {
  const secrets = Array.from({ length: 5 }, () => random.bytes(32));
  const publicKeys = secrets.map(publicKey);
  const sorted = sortKeys(publicKeys);
  for (const [i, secretKey] of secrets.entries()) {
    assert.equal(new Context({ publicKeys, sort: false, secretKey }).signerIndex, i);
    const { signerIndex } = new Context({ publicKeys, sort: true, secretKey });
    assert.deepEqual(sorted[signerIndex ?? -1], publicKeys[i]);
  }
  assert.throws(() => new Context({ publicKeys, sort: true, secretKey: random.bytes(32) }), {
    code: 'KEY_NOT_IN_SET',
  });
  assert.throws(() => new Context({ publicKeys, sort: false, secretKey: secrets[0], signerIndex: 1 }), {
    code: 'SIGNER_INDEX',
  });
  assert.throws(() => new Context({ publicKeys, sort: false, signerIndex: 1 }), {
    code: 'INVALID_ARGUMENT',
  });
  assert.throws(() => new Context({ publicKeys: [], sort: false }), { code: 'NO_KEYS' });
  assert.throws(() => new Context({ publicKeys, sort: false, secretKey: new Uint8Array(32) }), {
    code: 'INVALID_SECRET_KEY',
  });
});

test('a key that stands there twice signs twice, and says which copy it is', () => {
  const [twice, once] = [random.bytes(32), random.bytes(32)];
  const signers = new Signers([twice, once, twice]);
  assert.deepEqual(
    signers.contexts.map(({ signerIndex }) => signerIndex),
    [0, 1, 2],
  );
  assertCosigns(signers, MESSAGE);
  const { publicKeys } = signers;
  assert.throws(() => new Context({ publicKeys, sort: false, secretKey: twice }), { code: 'SIGNER_INDEX' });
  const encoded = signers.context.toBytes();
  assert.throws(() => Context.fromBytes(encoded, { secretKey: twice }), { code: 'SIGNER_INDEX' });
  assert.equal(Context.fromBytes(encoded, { secretKey: twice, signerIndex: 2 }).signerIndex, 2);
});

test('what is no key is blamed on its place in the list as given', () => {
  const publicKeys = [publicKey(random.bytes(32)), new Uint8Array(33).fill(2), new Uint8Array(33)];
  publicKeys[1]!.fill(0xff, 1);
  for (const f of [() => sortKeys(publicKeys), () => new Context({ publicKeys, sort: true })]) {
    assert.throws(f, {
      name: 'InvalidContributionError',
      code: 'INVALID_CONTRIBUTION',
      signerIndex: 1,
      contribution: 'pubkey',
    });
  }
});

test('a context goes through bytes, without its secret key', () => {
  const signers = Signers.random(random, 3, everyTweak());
  const encoded = signers.context.toBytes();
  for (const secretKey of signers.secretKeys) {
    assert.equal(Buffer.from(encoded).indexOf(secretKey), -1);
  }
  const bare = Context.fromBytes(encoded);
  for (const name of ['publicKeys', 'aggregateKey', 'outputKey', 'internalKey'] as const) {
    assert.deepEqual(bare[name], signers.context[name]);
  }
  assert.deepEqual(bare.toBytes(), encoded);
  assert.throws(() => bare.newSession(), { code: 'NO_SECRET_KEY' });

  const secretKey = signers.secretKeys[1]!;
  const restored = Context.fromBytes(encoded, { secretKey });
  assert.equal(restored.signerIndex, 1);
  const session = restored.newSession();
  session.dispose();
  assert.throws(() => Context.fromBytes(encoded, { secretKey: random.bytes(32) }), {
    code: 'KEY_NOT_IN_SET',
  });
  for (const damaged of [
    new Uint8Array(0),
    encoded.slice(0, -1),
    Uint8Array.from([...encoded, 0]),
    Uint8Array.from([0xff, ...encoded.slice(1)]),
  ]) {
    assert.throws(() => Context.fromBytes(damaged), { code: 'MALFORMED_CONTEXT' });
  }
});

test('nonces add up, and what is none is blamed on its place', () => {
  const nonces = Array.from(
    { length: 3 },
    () => new Nonce({ publicKey: publicKey(random.bytes(32)) }).publicNonce,
  );
  const half = (nonce: Uint8Array, i: number): InstanceType<typeof secp256k1.Point> =>
    secp256k1.Point.fromBytes(nonce.slice(33 * i, 33 * i + 33));
  const sum = [0, 1].map((i) =>
    nonces.map((nonce) => half(nonce, i)).reduce((a, b) => a.add(b)).toBytes(true),
  );
  assert.deepEqual(Buffer.from(aggregateNonces(nonces)), Buffer.concat(sum));
  nonces[2] = new Uint8Array(66);
  assert.throws(() => aggregateNonces(nonces), { signerIndex: 2, contribution: 'pubnonce' });
  assert.throws(() => aggregateNonces([]), { code: 'NO_KEYS' });
});

test('a nonce signs once, and only for what it is bound to', () => {
  const signers = Signers.random(random, 1);
  const { context } = signers;
  const [own] = signers.publicKeys;
  const [secretKey] = signers.secretKeys;
  assert.ok(own !== undefined);
  const nonce = new Nonce({
    publicKey: own,
    secretKey,
    aggregateKey: context.aggregateKey,
    message: MESSAGE,
    extraInput: random.bytes(7),
  });
  const mismatch = { code: 'NONCE_MISMATCH' };
  // A refusal leaves the nonce usable.
  assert.throws(() => Signers.random(random, 1).context.newSession({ nonce }), mismatch);
  const tweaked = new Context({ publicKeys: [own], sort: false, tweaks: [{ kind: 'bip86' }], secretKey });
  assert.throws(() => tweaked.newSession({ nonce }), mismatch);
  assert.throws(() => context.newSession({ nonce, message: random.bytes(32) }), mismatch);
  assert.throws(() => context.newSession({ nonce, extraInput: random.bytes(1) }), {
    code: 'INVALID_ARGUMENT',
  });

  const session = context.newSession({ nonce });
  assert.deepEqual(session.publicNonce, nonce.publicNonce);
  assert.throws(() => context.newSession({ nonce }), { code: 'NONCE_USED' });
  assert.throws(() => session.sign(random.bytes(32)), mismatch);
  nonce.dispose();
  session.sign(MESSAGE);
  assert.ok(verify(session.finish(), MESSAGE, context.outputKey));

  const disposed = new Nonce({ publicKey: own });
  disposed.dispose();
  assert.throws(() => context.newSession({ nonce: disposed }), { code: 'DISPOSED' });
  assert.throws(() => new Nonce({ publicKey: own, secretKey: random.bytes(32) }), mismatch);
  const xonly = new Nonce({ publicKey: own, aggregateKey: context.outputKey });
  context.newSession({ nonce: xonly }).dispose();
});

test('no two nonces are the same', () => {
  const key = publicKey(random.bytes(32));
  const seen = new Set<string>();
  for (let i = 0; i < 1000; i++) {
    const nonce = new Nonce({ publicKey: key });
    seen.add(Buffer.from(nonce.publicNonce).toString('hex'));
    nonce.dispose();
  }
  assert.equal(seen.size, 1000);
});

test('the last signer signs without a session', () => {
  const signers = Signers.random(random, 3, [{ kind: 'bip86' }]);
  const [first, second, last] = signers.contexts;
  assert.ok(first !== undefined && second !== undefined && last !== undefined);
  const sessions = [first.newSession({ message: MESSAGE }), second.newSession({ message: MESSAGE })];
  const aggregateOtherNonce = aggregateNonces(sessions.map(({ publicNonce }) => publicNonce));
  const options = { aggregateOtherNonce, message: MESSAGE, rand: random.bytes(32) };
  const result = last.deterministicSign(options);
  assert.deepEqual(last.deterministicSign(options), result);
  for (const changed of [
    { ...options, rand: undefined },
    { ...options, rand: random.bytes(32) },
    { ...options, message: random.bytes(32) },
  ]) {
    assert.notDeepEqual(last.deterministicSign(changed).publicNonce, result.publicNonce);
  }

  const publicNonces = [...sessions.map(({ publicNonce }) => publicNonce), result.publicNonce];
  const coordinator = first.newCoordinator({ message: MESSAGE });
  for (const [index, nonce] of publicNonces.entries()) {
    coordinator.addNonce(index, nonce);
  }
  for (const [index, session] of sessions.entries()) {
    session.setAggregateNonce(coordinator.aggregateNonce);
    coordinator.addPartialSignature(index, session.sign());
  }
  coordinator.addPartialSignature(2, result.partialSignature);
  assert.ok(schnorr.verify(coordinator.finish(), MESSAGE, first.outputKey));

  const check = { partialSignature: result.partialSignature, publicNonces, message: MESSAGE };
  assert.equal(last.verifyPartialSignature({ ...check, signerIndex: 2 }), true);
  assert.equal(last.verifyPartialSignature({ ...check, signerIndex: 1 }), false);
  assert.throws(() => last.verifyPartialSignature({ ...check, signerIndex: 3 }), { code: 'SIGNER_INDEX' });
  assert.throws(
    () => last.verifyPartialSignature({ ...check, signerIndex: 2, publicNonces: publicNonces.slice(1) }),
    { code: 'MISSING_CONTRIBUTIONS' },
  );
  const bare = Context.fromBytes(last.toBytes());
  assert.throws(() => bare.deterministicSign(options), { code: 'NO_SECRET_KEY' });
  assert.throws(
    () => last.deterministicSign({ ...options, aggregateOtherNonce: new Uint8Array(66).fill(9) }),
    { signerIndex: null, contribution: 'aggothernonce' },
  );
});

test('arrays that come in stay as they are', () => {
  const secretKey = random.bytes(32);
  const tweak = random.bytes(32);
  const keys = [publicKey(secretKey), publicKey(random.bytes(32)), publicKey(random.bytes(32))];
  keys.sort((a, b) => Buffer.compare(b, a));
  const order = [...keys];
  const inputsStay = unchanged(secretKey, tweak, MESSAGE, ...keys);
  sortKeys(keys);
  const context = new Context({ publicKeys: keys, sort: true, tweaks: [{ kind: 'xonly', tweak }], secretKey });
  const nonce = new Nonce({ publicKey: publicKey(secretKey), secretKey, message: MESSAGE });
  const { publicNonce } = nonce;
  const session = context.newSession({ nonce, message: MESSAGE });
  const aggregate = aggregateNonces([publicNonce, publicNonce, publicNonce]);
  const noncesStay = unchanged(publicNonce, aggregate);
  session.addNonce(context.signerIndex ?? -1, publicNonce);
  session.setAggregateNonce(aggregate);
  session.sign(MESSAGE);
  inputsStay();
  noncesStay();
  assert.ok(keys.every((key, i) => key === order[i]));
});

test('arrays that come out are copies', () => {
  const signers = Signers.random(random, 2);
  const { context } = signers;
  const [session] = signers.ready(MESSAGE);
  const getters: (() => Uint8Array)[] = [
    () => context.aggregateKey,
    () => context.outputKey,
    () => context.internalKey,
    () => context.publicKeys[0]!,
    () => context.toBytes(),
    () => session.publicNonce,
    () => session.aggregateNonce,
  ];
  for (const get of getters) {
    const value = get();
    const copy = value.slice();
    assert.ok(value.buffer instanceof ArrayBuffer && value.buffer.byteLength === value.length);
    value.fill(0);
    assert.deepEqual(get(), copy);
  }
});
