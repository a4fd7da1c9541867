import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { Machine, publicKey } from 'brontosig/brontide';

const bob = new Uint8Array(32).fill(2);

before(() => init());

/** Two machines that have done the handshake. */
function ready(): [sender: Machine, receiver: Machine] {
  const sender = new Machine({ role: 'initiator', secretKey: new Uint8Array(32).fill(1), remoteKey: publicKey(bob) });
  const receiver = new Machine({ role: 'responder', secretKey: bob });
  const actTwo = receiver.receive(sender.start()).send;
  assert.ok(actTwo);
  const actThree = sender.receive(actTwo).send;
  assert.ok(actThree);
  receiver.receive(actThree);
  return [sender, receiver];
}

/** One good message, then one that is damaged far beyond the first 64 KiB. */
function goodThenBad(sender: Machine): Uint8Array {
  const good = sender.encrypt(new Uint8Array(60_000).fill(7));
  const bad = sender.encrypt(new Uint8Array(65_000));
  bad.set([(bad.at(-1) ?? 0) ^ 1], bad.length - 1);
  return Buffer.concat([good, bad]);
}

void test('messages before an error are delivered however long the input is', () => {
  const [sender, receiver] = ready();
  const { messages } = receiver.receive(goodThenBad(sender));
  assert.deepEqual(messages, [new Uint8Array(60_000).fill(7)]);
  assert.equal(receiver.state, 'failed');
  assert.throws(() => receiver.receive(new Uint8Array()), { code: 'MAC_FAILED' });
  assert.throws(() => receiver.receive(new Uint8Array()), { code: 'POISONED' });
});

void test('a machine that is disposed before its last error is told says so', () => {
  const [sender, receiver] = ready();
  receiver.receive(goodThenBad(sender));
  receiver.dispose();
  assert.throws(() => receiver.receive(new Uint8Array()), { code: 'DISPOSED' });
});

void test('one input may hold more than the module takes at a time', () => {
  const [sender, receiver] = ready();
  const packets = Array.from({ length: 100 }, (_, i) => sender.encrypt(new Uint8Array(65_535).fill(i)));
  const { messages } = receiver.receive(Buffer.concat(packets));
  assert.equal(messages.length, 100);
  for (const [i, message] of messages.entries()) {
    assert.equal(message.length, 65_535);
    assert.ok(message.every((byte) => byte === i), `message ${i}`);
  }
});
