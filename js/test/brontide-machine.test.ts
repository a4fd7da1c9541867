import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { Machine, publicKey } from 'brontosig/brontide';
import { Random } from './random.js';

interface Figures {
  readonly initiator: { readonly staticSecret: string; readonly staticPublic: string };
  readonly responder: { readonly staticSecret: string; readonly staticPublic: string };
  readonly acts: readonly string[];
  readonly refused: readonly { readonly by: string; readonly act: number; readonly input: string; readonly error: string }[];
}

const figures = JSON.parse(
  readFileSync(new URL('../../testdata/bolt8.json', import.meta.url), 'utf8'),
) as Figures;

const hex = (digits: string): Uint8Array => Uint8Array.from(Buffer.from(digits, 'hex'));
const secrets = { initiator: hex(figures.initiator.staticSecret), responder: hex(figures.responder.staticSecret) };

function pair(): [Machine, Machine] {
  return [
    new Machine({ role: 'initiator', secretKey: secrets.initiator, remoteKey: figures.responder.staticPublic }),
    new Machine({ role: 'responder', secretKey: secrets.responder }),
  ];
}

/** Runs the handshake, each act in pieces of a size. */
function shake(initiator: Machine, responder: Machine, size = 1000): void {
  let bytes: Uint8Array | undefined = initiator.start();
  for (let to = responder; bytes !== undefined; to = to === responder ? initiator : responder) {
    let answer: Uint8Array | undefined;
    for (let at = 0; at < bytes.length; at += size) {
      assert.equal(answer, undefined, 'an answer before the whole act');
      answer = to.receive(bytes.subarray(at, at + size)).send;
    }
    bytes = answer;
  }
}

before(() => init());

void test('a handshake in pieces of every size', () => {
  for (let size = 1; size <= 67; size++) {
    const [initiator, responder] = pair();
    assert.equal(responder.start().length, 0);
    assert.equal(responder.remoteKey, undefined);
    shake(initiator, responder, size);
    assert.equal(initiator.state, 'ready');
    assert.equal(responder.state, 'ready');
    assert.deepEqual(responder.remoteKey, publicKey(secrets.initiator));
    assert.deepEqual(initiator.remoteKey, publicKey(secrets.responder));
    initiator.dispose();
    responder.dispose();
  }
});

void test('the published acts one, and what a responder refuses of them', () => {
  // The ephemeral keys of the figures cannot be set here. What does not depend
  // on the own one can be run: act one, in whatever way it is wrong.
  const [, responder] = pair();
  const { send } = responder.receive(hex(figures.acts[0] ?? ''));
  assert.equal(send?.length, 50);
  const codes: Readonly<Record<string, string>> = {
    version: 'UNSUPPORTED_VERSION',
    'public key': 'INVALID_PUBLIC_KEY',
    mac: 'MAC_FAILED',
    truncated: 'TRUNCATED',
  };
  const refused = figures.refused.filter(({ by, act }) => by === 'responder' && act === 1);
  assert.equal(refused.length, 4);
  for (const { input, error } of refused) {
    for (const step of [1, 50]) {
      const [, machine] = pair();
      const take = (): void => {
        for (let at = 0; at < hex(input).length; at += step) {
          assert.deepEqual(machine.receive(hex(input).subarray(at, at + step)), { messages: [] });
        }
        machine.end();
      };
      const code = codes[error];
      assert.ok(code !== undefined, error);
      assert.throws(take, { code });
      machine.dispose();
    }
  }
});

void test('two rotations in both directions, interleaved, in random pieces', (t) => {
  const random = new Random();
  t.diagnostic(`seed ${random.seed}`);
  const [initiator, responder] = pair();
  shake(initiator, responder);
  const directions = [
    { from: initiator, to: responder, wire: [] as Uint8Array[], sent: [] as Uint8Array[] },
    { from: responder, to: initiator, wire: [] as Uint8Array[], sent: [] as Uint8Array[] },
  ];
  for (let i = 0; i < 1300; i++) {
    for (const direction of directions) {
      const length = i % 100 === 0 ? 65_535 : (i * 7) % 300;
      const message = new Uint8Array(length).fill(i & 0xff);
      direction.sent.push(message);
      direction.wire.push(direction.from.encrypt(message));
      if (random.oneIn(3)) {
        continue;
      }
      const joined = Uint8Array.from(direction.wire.splice(0).flatMap((packet) => [...packet]));
      const cut = random.below(joined.length);
      for (const piece of [joined.subarray(0, cut), joined.subarray(cut)]) {
        for (const received of direction.to.receive(piece).messages) {
          assert.deepEqual(received, direction.sent.shift());
        }
      }
      assert.equal(direction.sent.length, 0);
    }
  }
});

void test('a failed message poisons the machine, after the good ones before it', () => {
  for (const damaged of [0, 17, 18, 30]) {
    const [initiator, responder] = pair();
    shake(initiator, responder);
    const good = initiator.encrypt(Uint8Array.of(1, 2, 3));
    const bad = initiator.encrypt(Uint8Array.of(4, 5, 6));
    bad[damaged] = (bad[damaged] ?? 0) ^ 1;
    const { messages } = responder.receive(Buffer.concat([good, bad]));
    assert.deepEqual(messages, [Uint8Array.of(1, 2, 3)]);
    assert.equal(responder.state, 'failed');
    assert.throws(() => responder.receive(new Uint8Array()), { code: 'MAC_FAILED' });
    assert.throws(() => responder.receive(good), { code: 'POISONED' });
    assert.throws(() => responder.encrypt(new Uint8Array()), { code: 'POISONED' });
    assert.throws(() => { responder.end(); }, { code: 'POISONED' });
  }
});

void test('what is out of turn changes nothing', () => {
  const [initiator, responder] = pair();
  assert.throws(() => initiator.receive(new Uint8Array(50)), { code: 'WRONG_ACT' });
  assert.throws(() => initiator.encrypt(new Uint8Array()), { code: 'HANDSHAKE_INCOMPLETE' });
  assert.throws(() => responder.encrypt(new Uint8Array()), { code: 'HANDSHAKE_INCOMPLETE' });
  const actOne = initiator.start();
  assert.throws(() => initiator.start(), { code: 'WRONG_ACT' });
  assert.throws(() => { initiator.end(); }, { code: 'NOT_ANSWERED' });
  const actTwo = responder.receive(actOne).send;
  assert.ok(actTwo);
  initiator.receive(actTwo.subarray(0, 1));
  assert.throws(() => { initiator.end(); }, { code: 'TRUNCATED' });
  const actThree = initiator.receive(actTwo.subarray(1)).send;
  assert.ok(actThree);
  responder.receive(actThree);
  assert.throws(() => initiator.encrypt(new Uint8Array(65_536)), RangeError);
  const packet = initiator.encrypt(new Uint8Array(65_535));
  assert.equal(packet.length, 65_535 + 34);
  responder.receive(packet.subarray(0, 100));
  assert.throws(() => { responder.end(); }, { code: 'TRUNCATED' });
  assert.equal(responder.receive(packet.subarray(100)).messages[0]?.length, 65_535);
  responder.end();
});

void test('bad arguments are named', () => {
  const remoteKey = figures.responder.staticPublic;
  const secretKey = secrets.initiator;
  type Options = ConstructorParameters<typeof Machine>[0];
  const make = (options: unknown) => () => new Machine(options as Options);
  assert.throws(make(undefined), { name: 'TypeError', message: /^options/ });
  assert.throws(make({ role: 'other', secretKey }), { name: 'TypeError', message: /^role/ });
  assert.throws(make({ role: 'responder' }), { name: 'TypeError', message: /^secretKey/ });
  assert.throws(make({ role: 'responder', secretKey: new Uint8Array(31) }), { name: 'RangeError', message: /^secretKey/ });
  assert.throws(make({ role: 'responder', secretKey: new Uint8Array(32) }), { code: 'INVALID_SECRET_KEY' });
  assert.throws(make({ role: 'initiator', secretKey }), { name: 'TypeError', message: /^remoteKey/ });
  assert.throws(make({ role: 'initiator', secretKey, remoteKey: 'zz' }), { name: 'RangeError', message: /^remoteKey/ });
  assert.throws(make({ role: 'initiator', secretKey, remoteKey: new Uint8Array(33) }), { code: 'INVALID_PUBLIC_KEY' });
  const machine = new Machine({ role: 'initiator', secretKey, remoteKey });
  assert.throws(() => machine.receive('x' as unknown as Uint8Array), { name: 'TypeError', message: /^data/ });
  assert.throws(() => machine.encrypt([] as unknown as Uint8Array), { name: 'TypeError', message: /^message/ });
  machine.dispose();
  assert.throws(() => machine.start(), { code: 'DISPOSED' });
  assert.throws(() => machine.state, { code: 'DISPOSED' });
});
