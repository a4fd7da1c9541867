import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { FakeTiming } from './fake-timing.js';
import { limit, meet, next, numbers, plainInit, pongTo, take } from './meet.js';

before(async () => init());

const odd = Uint8Array.of(0x80, 0x01);

void test('an idle connection is pinged, and a busy one is not', async () => {
  const timing = new FakeTiming();
  const { peer, node } = await meet({}, plainInit, timing);
  assert.equal(timing.due, 25_000);
  await timing.pass(25_000);
  const ping = await next(node);
  assert.deepEqual(numbers(ping.subarray(0, 2)), [0, 18]);
  await node.send(pongTo(ping));
  await timing.pass(24_999);

  // Traffic in both directions, now and then.
  for (let i = 0; i < 10; i++) {
    await node.send(Uint8Array.of(0, 18, 0, 1, 0, 0));
    assert.deepEqual(numbers(await next(node)), [0, 19, 0, 1, 0]);
    await timing.pass(20_000);
  }
  // In one direction only.
  await node.send(odd);
  await timing.pass(5_000);
  assert.equal((await next(node))[1], 18);
  await peer.close();
  assert.equal(timing.timers, 0);
});

void test('a node that does not answer is given up in time, and everything that waits with it', async () => {
  const timing = new FakeTiming();
  const { peer, node } = await meet({ keepalive: { intervalMs: 10_000, timeoutMs: 5_000 } }, plainInit, timing);
  const reader = peer.messages();
  const waits = Promise.all([
    assert.rejects(reader.next(), { code: 'TIMEOUT', message: /keepalive/ }),
    assert.rejects(peer.ping({ timeoutMs: 60_000 }), { code: 'TIMEOUT', message: /keepalive/ }),
    assert.rejects(peer.commando('getinfo', {}, { rune: 'r' }), { code: 'TIMEOUT', message: /keepalive/ }),
  ]);
  const types = [await next(node), await next(node)].map((message) => message.subarray(0, 2).join());
  assert.deepEqual(types.sort(), ['0,18', '76,79']);
  await timing.pass(10_000);
  assert.equal((await next(node))[1], 18);
  await timing.pass(4_999);
  assert.equal(peer.state, 'open');
  await timing.pass(1);
  await waits;
  const info = await peer.closed;
  assert.equal(info.error?.code, 'TIMEOUT');
  assert.equal(timing.timers, 0);
  await assert.rejects(peer.ping(limit), { code: 'TIMEOUT' });
});

void test('after a sleep there is one fresh ping', async () => {
  const timing = new FakeTiming();
  const { peer, node } = await meet({}, plainInit, timing);
  await timing.pass(25_000);
  await next(node);
  // The pong came while nobody looked, or never: the next ping will tell.
  await timing.sleep(3_600_000);
  assert.equal(peer.state, 'open');
  await node.send(pongTo(await next(node)));
  await timing.sleep(7_200_000);
  const [, type] = await next(node);
  assert.equal(type, 18);
  assert.equal(peer.state, 'open');
  await timing.pass(30_000);
  assert.equal((await peer.closed).error?.code, 'TIMEOUT');
  assert.equal(timing.timers, 0);
});

void test('time goes on when its lower 32 bits start over, which they do every 49 days', async () => {
  const timing = new FakeTiming(2 ** 32 - 40_000);
  const { peer, node } = await meet({}, plainInit, timing);
  const messages = peer.messages();
  for (let i = 0; i < 4; i++) {
    assert.equal(timing.due, 25_000);
    await timing.pass(25_000);
    await node.send(pongTo(await next(node)));
    // The pong comes before this message.
    await node.send(odd);
    await take(messages);
  }
  await peer.close();
});

void test('no keepalive, no timer', async () => {
  const timing = new FakeTiming();
  const { peer } = await meet({ keepalive: false }, plainInit, timing);
  assert.equal(timing.timers, 0);
  await peer.close();
});

void test('a keepalive waits while a slow reader keeps pongs from being read', async () => {
  const timing = new FakeTiming();
  const options = { maxQueuedBytes: 1 << 18, keepalive: { intervalMs: 2_000, timeoutMs: 1_000 } };
  const { peer, node } = await meet(options, plainInit, timing);
  const big = new Uint8Array(60_000);
  big.set(odd);
  const flood = Promise.all(Array.from({ length: 4 }, async () => node.send(big)));
  while (timing.timers < 2) {
    await new Promise(setImmediate);
  }
  // Much longer than the keepalive would allow.
  await timing.pass(15_000);
  assert.equal(peer.state, 'open');
  const reader = peer.messages();
  for (let i = 0; i < 4; i++) {
    assert.equal((await take(reader)).payload.length, 59_998);
  }
  await flood;
  await timing.timerSet();
  await node.send(pongTo(await next(node)));
  await peer.close();
  assert.equal(timing.timers, 0);
});
