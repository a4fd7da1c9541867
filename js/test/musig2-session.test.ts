import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { schnorr } from '@noble/curves/secp256k1.js';
import { BrontosigError, init, InvalidContributionError } from 'brontosig';
import { aggregateNonces, Nonce, publicKey, Session, verify } from 'brontosig/musig2';

import { Random } from './random.js';
import { Signers } from './signers.js';

const random = new Random();
before(() => init());

const MESSAGE = random.bytes(32);

/** Changes the last byte, so that a partial signature stays below the order but is wrong. */
function wrong(bytes: Uint8Array): Uint8Array {
  const changed = bytes.slice();
  changed[changed.length - 1]! ^= 1;
  return changed;
}

/** Checks that a call blames someone for something. */
function assertBlames(
  f: () => unknown,
  signerIndex: number | null,
  contribution: InvalidContributionError['contribution'],
): void {
  assert.throws(f, (error) => {
    assert.ok(error instanceof InvalidContributionError && error instanceof BrontosigError);
    assert.equal(error.name, 'InvalidContributionError');
    assert.equal(error.code, 'INVALID_CONTRIBUTION');
    assert.equal(error.signerIndex, signerIndex);
    assert.equal(error.contribution, contribution);
    return true;
  });
}

test('a session passes through its states', (t) => {
  t.diagnostic(`seed ${random.seed}: set BRONTOSIG_SEED to it to draw the same numbers in this file`);
  const signers = Signers.random(random, 3);
  const [session, second, third] = signers.contexts.map((context) => context.newSession()) as [
    Session,
    Session,
    Session,
  ];
  assert.equal(session.state, 'nonces');
  assert.deepEqual(session.missingNonces, [1, 2]);
  session.addNonce(2, third.publicNonce);
  assert.equal(session.state, 'nonces');
  assert.deepEqual(session.missingNonces, [1]);
  session.addNonce(1, second.publicNonce);
  assert.equal(session.state, 'ready');
  assert.deepEqual(session.missingNonces, []);
  assert.deepEqual(session.missingPartialSignatures, [0, 1, 2]);
  for (const other of [second, third]) {
    other.setAggregateNonce(session.aggregateNonce);
    assert.equal(other.state, 'ready');
  }

  // The others' partial signatures may come before the own.
  session.addPartialSignature(2, third.sign(MESSAGE));
  assert.deepEqual(session.missingPartialSignatures, [0, 1]);
  assert.equal(session.state, 'ready');
  const own = session.sign(MESSAGE);
  assert.equal(session.state, 'signed');
  assert.deepEqual(session.missingPartialSignatures, [1]);
  assert.throws(() => session.finish(), { code: 'MISSING_CONTRIBUTIONS', message: /1/ });
  session.addPartialSignature(0, own);
  session.addPartialSignature(1, second.sign(MESSAGE));
  const signature = session.finish();
  assert.equal(session.state, 'complete');
  assert.deepEqual(session.finish(), signature);
  assert.ok(schnorr.verify(signature, MESSAGE, signers.context.outputKey));
});

test('errors of usage keep the nonce', () => {
  const signers = Signers.random(random, 2);
  const [first, second] = signers.contexts;
  assert.ok(first !== undefined && second !== undefined);
  const session = first.newSession();
  const other = second.newSession();
  assert.throws(() => session.sign(MESSAGE), { code: 'MISSING_CONTRIBUTIONS', message: /1/ });
  assert.throws(() => session.aggregateNonce, { code: 'MISSING_CONTRIBUTIONS' });
  session.addNonce(1, other.publicNonce);
  assert.throws(() => session.sign(), { code: 'NO_MESSAGE' });
  assert.throws(() => session.sign('text' as never), TypeError);
  assert.throws(
    () => {
      session.addPartialSignature(0, random.bytes(32).fill(0, 0, 1));
    },
    { code: 'INVALID_ARGUMENT' },
  );
  assert.equal(session.state, 'ready');
  const partial = session.sign(MESSAGE);
  assert.throws(() => session.sign(MESSAGE), { code: 'NONCE_USED' });
  assert.throws(() => session.sign(random.bytes(32)), { code: 'NONCE_USED' });
  assert.equal(session.state, 'signed');

  const known = second.newSession({ message: MESSAGE });
  known.addNonce(0, session.publicNonce);
  // The session's own nonce is bound to the message that it was made with.
  assert.throws(() => known.sign(random.bytes(32)), { code: 'MESSAGE_CONFLICT' });
  assert.equal(known.state, 'ready');
  assert.equal(known.sign(MESSAGE).length, 32);
  assert.equal(partial.length, 32);
});

test('a message in place of another is a conflict', () => {
  const signers = Signers.random(random, 2);
  const [session, other] = signers.ready();
  other.sign(MESSAGE);
  const nonce = new Nonce({ publicKey: signers.publicKeys[0]! });
  const bound = signers.context.newSession({ nonce, message: MESSAGE });
  bound.addNonce(1, other.publicNonce);
  assert.throws(() => bound.sign(random.bytes(32)), { code: 'MESSAGE_CONFLICT' });
  assert.equal(bound.sign().length, 32);
  assert.equal(session.state, 'ready');
});

test('an empty message is a message', () => {
  const [session] = Signers.random(random, 2).ready(new Uint8Array(0));
  assert.equal(session.sign().length, 32);
});

test('a bad nonce is blamed and leaves the session usable', () => {
  const signers = Signers.random(random, 3);
  const sessions = signers.contexts.map((context) => context.newSession());
  const [session, second, third] = sessions as [Session, Session, Session];
  const bad = [new Uint8Array(66), second.publicNonce.fill(0, 33), second.publicNonce.fill(4, 0, 1)];
  for (const nonce of bad) {
    assertBlames(() => {
      session.addNonce(1, nonce);
    }, 1, 'pubnonce');
    assert.deepEqual(session.missingNonces, [1, 2]);
  }
  session.addNonce(1, second.publicNonce);
  session.addNonce(1, second.publicNonce);
  assert.throws(
    () => {
      session.addNonce(1, third.publicNonce);
    },
    { code: 'CONTRIBUTION_CONFLICT' },
  );
  assert.throws(
    () => {
      session.addNonce(0, third.publicNonce);
    },
    { code: 'CONTRIBUTION_CONFLICT' },
  );
  assert.throws(
    () => {
      session.addNonce(3, third.publicNonce);
    },
    { code: 'SIGNER_INDEX' },
  );
  session.addNonce(2, third.publicNonce);
  assert.equal(session.sign(MESSAGE).length, 32);
});

test('a bad aggregate nonce is blamed on no signer, and one is frozen once signed under', () => {
  const signers = Signers.random(random, 3);
  const sessions = signers.contexts.map((context) => context.newSession({ message: MESSAGE }));
  const [session, second, third] = sessions as [Session, Session, Session];
  const set = (nonce: Uint8Array) => (): void => {
    session.setAggregateNonce(nonce);
  };
  assertBlames(set(new Uint8Array(66).fill(4)), null, 'aggnonce');
  const sum = aggregateNonces(sessions.map(({ publicNonce }) => publicNonce));
  const other = aggregateNonces([session.publicNonce, second.publicNonce, second.publicNonce]);
  set(other)();
  assert.equal(session.state, 'ready');
  set(sum)();
  assert.deepEqual(session.aggregateNonce, sum);
  session.sign();
  set(sum)();
  assert.throws(set(other), { code: 'CONTRIBUTION_CONFLICT' });

  second.addNonce(0, session.publicNonce);
  second.addNonce(2, third.publicNonce);
  assertBlames(
    () => {
      second.setAggregateNonce(other);
    },
    null,
    'aggnonce',
  );
  third.setAggregateNonce(other);
  third.addNonce(0, session.publicNonce);
  assertBlames(
    () => {
      third.addNonce(1, second.publicNonce);
    },
    null,
    'aggnonce',
  );
});

test('halves of an aggregate nonce may be infinity', () => {
  const signers = Signers.random(random, 2);
  const session = signers.context.newSession({ message: MESSAGE });
  session.setAggregateNonce(new Uint8Array(66));
  assert.equal(session.state, 'ready');
  assert.equal(session.sign().length, 32);
});

test('a bad partial signature is blamed at once when the nonces are known', () => {
  const [session, other] = Signers.random(random, 2).ready(MESSAGE);
  const right = other.sign();
  session.sign();
  for (const partial of [wrong(right), new Uint8Array(32).fill(0xff)]) {
    assertBlames(() => {
      session.addPartialSignature(1, partial);
    }, 1, 'psig');
    assert.deepEqual(session.missingPartialSignatures, [1]);
  }
  assert.throws(
    () => {
      session.addPartialSignature(2, right);
    },
    { code: 'SIGNER_INDEX' },
  );
  session.addPartialSignature(1, right);
  session.addPartialSignature(1, right);
  assert.throws(
    () => {
      session.addPartialSignature(1, wrong(right));
    },
    { code: 'CONTRIBUTION_CONFLICT' },
  );
  assert.equal(session.finish().length, 64);
});

test('a bad partial signature is blamed when its nonce comes after it', () => {
  const signers = Signers.random(random, 3);
  const [session, second, third] = signers.contexts.map((context) =>
    context.newSession({ message: MESSAGE }),
  ) as [Session, Session, Session];
  const all = [session, second, third];
  const sum = aggregateNonces(all.map(({ publicNonce }) => publicNonce));
  const partials = all.map((each) => {
    each.setAggregateNonce(sum);
    return each.sign();
  });
  session.addPartialSignature(1, wrong(partials[1]!));
  session.addPartialSignature(2, partials[2]!);
  // Without the others' nonces nobody can tell whose it is.
  assert.throws(() => session.finish(), { code: 'INVALID_SIGNATURE' });
  session.addNonce(2, third.publicNonce);
  assertBlames(() => {
    session.addNonce(1, second.publicNonce);
  }, 1, 'psig');
  session.addPartialSignature(1, partials[1]!);
  assert.ok(verify(session.finish(), MESSAGE, signers.context.outputKey));
});

test('a coordinator gathers without a key', () => {
  const signers = Signers.random(random, 3, [{ kind: 'bip86' }]);
  const coordinator = signers.context.newCoordinator({ message: MESSAGE });
  const sessions = signers.contexts.map((context) => context.newSession({ message: MESSAGE }));
  assert.deepEqual(coordinator.missingNonces, [0, 1, 2]);
  assert.throws(() => coordinator.aggregateNonce, { code: 'MISSING_CONTRIBUTIONS', message: /0.*1.*2/ });
  assertBlames(() => {
    coordinator.addNonce(0, new Uint8Array(66));
  }, 0, 'pubnonce');
  assert.throws(
    () => {
      coordinator.addPartialSignature(0, random.bytes(32).fill(0, 0, 1));
    },
    { code: 'MISSING_CONTRIBUTIONS' },
  );
  for (const [index, { publicNonce }] of sessions.entries()) {
    coordinator.addNonce(index, publicNonce);
  }
  for (const [index, session] of sessions.entries()) {
    session.setAggregateNonce(coordinator.aggregateNonce);
    const partial = session.sign();
    assertBlames(() => {
      coordinator.addPartialSignature(index, wrong(partial));
    }, index, 'psig');
    assert.throws(() => coordinator.finish(), { code: 'MISSING_CONTRIBUTIONS' });
    coordinator.addPartialSignature(index, partial);
  }
  assert.deepEqual(coordinator.missingPartialSignatures, []);
  const signature = coordinator.finish();
  assert.ok(schnorr.verify(signature, MESSAGE, signers.context.outputKey));
  coordinator.dispose();
  assert.throws(() => coordinator.finish(), { code: 'DISPOSED' });
});

test('sessions and coordinators outlive their context', () => {
  const signers = Signers.random(random, 2);
  const { outputKey } = signers.context;
  const coordinator = signers.context.newCoordinator({ message: MESSAGE });
  const sessions = signers.ready(MESSAGE);
  signers.dispose();
  assert.throws(() => signers.context.newSession(), { code: 'DISPOSED' });
  assert.throws(() => signers.context.outputKey, { code: 'DISPOSED' });
  for (const [index, session] of sessions.entries()) {
    coordinator.addNonce(index, session.publicNonce);
  }
  for (const [index, session] of sessions.entries()) {
    coordinator.addPartialSignature(index, session.sign());
  }
  assert.ok(schnorr.verify(coordinator.finish(), MESSAGE, outputKey));
});

test('only a context makes sessions', () => {
  const handle = (): number => assert.fail('the handle was asked for');
  assert.throws(() => new Session(Symbol('no guard') as never, handle), TypeError);
  const { context } = Signers.random(random, 1);
  const foreign = { publicKey: publicKey(random.bytes(32)) };
  assert.throws(() => context.newSession({ nonce: foreign as never }), {
    name: 'TypeError',
    message: 'nonce: a Nonce expected',
  });
});
