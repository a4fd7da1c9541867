import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { before, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { init } from 'brontosig';
import { accept, bridgeUrl, publicKey, type Connection } from 'brontosig/brontide';
import { connectPeer, type Notice, type PeerOptions } from 'brontosig/lightning';
import { tcpServer, transportPair, unusedPort, webSocketServer } from './connections.js';
import { FakeTiming } from './fake-timing.js';
import { bob, limit, meet, next, numbers, plainInit, pongTo, welcome } from './meet.js';

let bobKey: Uint8Array;
let bobHex: string;

before(async () => {
  await init();
  bobKey = publicKey(bob);
  bobHex = Buffer.from(bobKey).toString('hex');
});

void test('init goes both ways', async () => {
  const { peer, ourInit } = await meet({ features: [1, 13], networks: [new Uint8Array(32).fill(7)] });
  // Type, no global features, two bytes of features, the record of networks.
  assert.deepEqual(numbers(ourInit), [0, 16, 0, 0, 0, 2, 0x20, 0x02, 1, 32, ...Array<number>(32).fill(7)]);
  assert.deepEqual(peer.remoteInit, { features: Uint8Array.of(1), networks: [], remoteAddress: new Uint8Array() });
  assert.deepEqual(peer.remoteKey, bobKey);
  assert.equal(peer.state, 'open');
  await peer.close();
  assert.equal(peer.state, 'closed');
  assert.equal((await peer.closed).by, 'local');
});

void test('by default data_loss_protect is offered', async () => {
  const { peer, ourInit } = await meet();
  assert.deepEqual(numbers(ourInit), [0, 16, 0, 0, 0, 1, 2]);
  await peer.close();
});

void test('what a node may not say in init', async () => {
  const refuse = async (theirInit: number[], code: string, options: PeerOptions = {}): Promise<void> => {
    await assert.rejects(meet(options, Uint8Array.from(theirInit)), { code }, code);
  };
  await refuse([0, 16, 0, 0, 0, 126, 1, ...Array<number>(125).fill(0)], 'UNKNOWN_FEATURE'); // bit 1000
  await refuse([0, 16, 0, 0], 'MALFORMED_MESSAGE');
  await refuse([0, 16, 0, 0, 0, 0, 1, 31], 'MALFORMED_TLV');
  await refuse([0, 18, 0, 0, 0, 0], 'NO_INIT');
  await refuse([], 'MALFORMED_MESSAGE');
  const network = [1, 32, ...Array<number>(32).fill(8)];
  await refuse([0, 16, 0, 0, 0, 0, ...network], 'NO_COMMON_NETWORK', { networks: [new Uint8Array(32)] });
  const known = await meet({ knownFeatures: [1000] }, Uint8Array.of(0, 16, 0, 0, 0, 126, 1, ...Array<number>(125).fill(0)));
  assert.equal(known.peer.remoteInit.features.length, 126);
  await known.peer.close();
});

void test('pings in both directions', async () => {
  const timing = new FakeTiming();
  const { peer, node } = await meet({ keepalive: false }, plainInit, timing);
  await node.send(Uint8Array.of(0, 18, 0, 3, 0, 0));
  assert.deepEqual(numbers(await next(node)), [0, 19, 0, 3, 0, 0, 0]);
  await node.send(Uint8Array.of(0, 18, 0xff, 0xfc, 0, 0)); // asks for no pong
  await node.send(Uint8Array.of(0, 18, 0xff, 0xfb, 0, 0));
  assert.equal((await next(node)).length, 65_535);

  // Two at once: the second waits for its second.
  const first = peer.ping({ pongBytes: 2, padding: 1, ...limit });
  const second = peer.ping(limit);
  assert.deepEqual(numbers(await next(node)), [0, 18, 0, 2, 0, 1, 0]);
  await node.send(Uint8Array.of(0, 19, 0, 2, 0, 0));
  assert.ok((await first).rttMs >= 0);
  await timing.timerSet();
  assert.equal(timing.due, 1000);
  await timing.pass(1000);
  await node.send(pongTo(await next(node)));
  assert.ok((await second).rttMs >= 0);
  assert.equal(timing.timers, 0);

  // One that is never answered holds no other up, whatever their lengths.
  const ping = async (options: { timeoutMs?: number; signal?: AbortSignal; pongBytes?: number }): Promise<Promise<unknown>[]> => {
    await timing.pass(1000);
    return [peer.ping(options)];
  };
  for (const pongBytes of [undefined, 5]) {
    const sizes = pongBytes === undefined ? {} : { pongBytes };
    const [lost] = await ping({ timeoutMs: 30, ...sizes });
    const lostPing = await next(node);
    await assert.rejects(lost!, { code: 'TIMEOUT' });
    const controller = new AbortController();
    const [aborted] = await ping({ signal: controller.signal, ...sizes });
    await next(node);
    controller.abort();
    await assert.rejects(aborted!, { code: 'ABORTED' });
    const [third] = await ping({ ...limit, ...sizes });
    const thirdPing = await next(node);
    if (pongBytes === undefined) {
      await node.send(pongTo(lostPing)); // comes late, and is nobody's
    }
    await node.send(pongTo(thirdPing));
    await third;
  }

  await assert.rejects(peer.ping({ pongBytes: 65_532 }), { name: 'RangeError', message: /^pongBytes/ });
  await assert.rejects(peer.ping({ padding: 65_530 }), { name: 'RangeError', message: /^padding/ });
  // A full line, one of which has given up its place.
  const controller = new AbortController();
  setMaxListeners(32, controller.signal);
  const line = Array.from({ length: 32 }, async () => peer.ping({ signal: controller.signal, timeoutMs: 60_000 }));
  await assert.rejects(peer.ping(limit), { code: 'TOO_MANY_PINGS' });
  controller.abort();
  for (const each of line) {
    await assert.rejects(each, { code: 'ABORTED' });
  }
  assert.equal(timing.timers, 0);
  const [last] = await ping(limit);
  const waiting = peer.ping(limit);
  const ends = Promise.all([
    assert.rejects(last!, { code: 'CONNECTION_CLOSED' }),
    assert.rejects(waiting, { code: 'CONNECTION_CLOSED' }),
  ]);
  await next(node);
  await node.close();
  await ends;
  await assert.rejects(peer.ping(limit), { code: 'CONNECTION_CLOSED' });
  assert.equal(timing.timers, 0);
});

void test('messages, warnings and errors', async () => {
  const { peer, node } = await meet();
  const notices: [string, Notice][] = [];
  const stop = peer.on('warning', (notice) => notices.push(['warning', notice]));
  peer.on('error', (notice) => notices.push(['error', notice]));
  const states: string[] = [];
  peer.on('state', (state) => states.push(state));
  await node.send(Uint8Array.of(0, 1, ...Array<number>(32).fill(0), 0, 2, 104, 105));
  await node.send(Uint8Array.of(0, 17, ...Array<number>(32).fill(3), 0, 1, 33));
  await node.send(Uint8Array.of(0x80, 0x01, 9, 9));
  const messages = peer.messages();
  assert.deepEqual((await messages.next()).value, { type: 32_769, payload: Uint8Array.of(9, 9) });
  assert.throws(() => peer.messages(), { code: 'LOCKED' });
  assert.deepEqual(notices, [
    ['warning', { channelId: new Uint8Array(32), text: 'hi' }],
    ['error', { channelId: new Uint8Array(32).fill(3), text: '!' }],
  ]);
  stop();
  await node.send(Uint8Array.of(0, 1, ...Array<number>(32).fill(0), 0, 2, 104, 105));
  await peer.send(40_001, Uint8Array.of(1, 2));
  assert.deepEqual(numbers(await next(node)), [0x9c, 0x41, 1, 2]);
  for (const reserved of [16, 18, 19, 0x4c4d, 0x4c4f]) {
    await assert.rejects(peer.send(reserved, new Uint8Array()), { code: 'RESERVED_TYPE' });
  }
  await assert.rejects(peer.send(70_000, new Uint8Array()), { name: 'RangeError', message: /^type/ });
  await assert.rejects(peer.send(1, new Uint8Array(65_534)), { name: 'RangeError', message: /^payload/ });
  // An unknown even type ends it, with a warning to the other side.
  const ended = messages.next();
  await node.send(Uint8Array.of(0x7f, 0xfe));
  assert.equal((await next(node))[1], 1);
  await assert.rejects(ended, { code: 'UNKNOWN_MESSAGE_TYPE' });
  const info = await peer.closed;
  assert.equal(info.error?.code, 'UNKNOWN_MESSAGE_TYPE');
  assert.deepEqual(states, ['closed']);
  assert.equal(notices.length, 2);
  await assert.rejects(peer.send(40_001, new Uint8Array()), { code: 'UNKNOWN_MESSAGE_TYPE' });
});

void test('the reader of messages', async () => {
  const { peer, node } = await meet();
  const first = peer.messages();
  const waiting = [first.next(), first.next()];
  assert.throws(() => peer.messages(), { code: 'LOCKED' });
  await node.send(Uint8Array.of(0x80, 0x01, 1));
  assert.deepEqual((await waiting[0]!).value, { type: 32_769, payload: Uint8Array.of(1) });
  // Leaving ends what waits at once, and leaves the rest to the next reader.
  await first.return?.();
  assert.equal((await waiting[1]!).done, true);
  assert.equal((await first.next()).done, true);
  await node.send(Uint8Array.of(0x80, 0x01, 2));
  const second = peer.messages();
  assert.deepEqual((await second.next()).value, { type: 32_769, payload: Uint8Array.of(2) });
  const end = second.next();
  await node.close();
  assert.equal((await end).done, true);
  assert.equal((await peer.closed).by, 'remote');
});

/** Lets the event loop come round so many times. */
async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await setImmediate();
  }
}

void test('messages that nobody reads are bounded', async () => {
  const timing = new FakeTiming();
  const { peer, node } = await meet({ maxQueuedBytes: 1 << 18, keepalive: false }, plainInit, timing);
  const message = new Uint8Array(60_000);
  message.set([0x80, 0x01]);
  let sent = 0;
  const flood = (async (): Promise<never> => {
    for (;;) {
      await node.send(message);
      sent++;
    }
  })();
  await Promise.all([
    assert.rejects(flood, { code: 'CONNECTION_CLOSED' }),
    (async () => {
      await timing.timerSet(); // full: nothing is read any more
      assert.equal(timing.due, 20_000);
      // A reader makes room, and the node goes on.
      const messages = peer.messages();
      await messages.next();
      await timing.timerSet();
      await messages.return?.();
      // It may send until the transport between the two is full.
      let before;
      do {
        before = sent;
        await turns(10);
      } while (sent > before);
      await timing.pass(19_999);
      assert.equal(peer.state, 'open');
      assert.ok(sent - before <= 1, 'the node was not slowed');
      await timing.pass(1);
      assert.equal((await peer.closed).error?.code, 'QUEUE_FULL');
    })(),
  ]);
  let kept = 0;
  await assert.rejects(
    (async () => {
      for await (const each of peer.messages()) {
        kept += each.payload.length;
      }
    })(),
    { code: 'QUEUE_FULL' },
  );
  assert.ok(kept > 1 << 16 && kept < (1 << 17) + 60_000, `${kept} bytes waited`);
  assert.equal(timing.timers, 0);

  // Messages without a payload count too.
  const empty = await meet({ maxQueuedBytes: 1 << 18, keepalive: false }, plainInit, timing);
  for (let i = 0; timing.idle(); i++) {
    assert.ok(i < 600, 'empty messages cost nothing');
    await empty.node.send(Uint8Array.of(0x80, 0x01));
  }
  // The connection's end is noticed while nothing is read.
  await empty.peer.close();
  assert.equal((await empty.peer.closed).by, 'local');
  assert.equal(timing.timers, 0);
});

void test('a node URI, directly and through a bridge', async () => {
  const serve = async (connected: Promise<Connection>): Promise<void> => {
    await welcome(connected);
  };
  const { openTransport } = await import('./node-transports.js');
  const tcp = await tcpServer((socket) => void serve(accept(openTransport(socket), { secretKey: bob })));
  let path = '';
  const ws = await webSocketServer((socket) => void serve(accept(openTransport(socket), { secretKey: bob })));
  try {
    const direct = await connectPeer(`${bobHex}@127.0.0.1:${tcp.port}`, limit);
    await direct.close();
    const bridge = `ws://127.0.0.1:${ws.port}/base/`;
    class Recording extends (await import('ws')).WebSocket {
      constructor(url: string) {
        super(url);
        path = new URL(url).pathname;
      }
    }
    const through = await connectPeer(`${bobHex}@[::1]`, { bridge, WebSocket: Recording as never, ...limit });
    assert.equal(path, '/base/[::1]:9735');
    await through.close();
  } finally {
    await Promise.all([tcp.stop(), ws.stop()]);
  }
});

void test('bridgeUrl', () => {
  assert.equal(bridgeUrl('ws://b:1', 'node.example:99'), 'ws://b:1/node.example:99');
  assert.equal(bridgeUrl('wss://b/x/', 'node.example'), 'wss://b/x/node.example:9735');
  assert.equal(bridgeUrl('ws://b', '[2001:db8::1]:5'), 'ws://b/[2001:db8::1]:5');
  assert.equal(bridgeUrl('ws://b', bobHex.toUpperCase()), `ws://b/node/${bobHex}`);
  for (const bad of ['', 'a b', '::1', 'h:0', 'h:65536', 'h:x', 'a/b', 'u@h']) {
    assert.throws(() => bridgeUrl('ws://b', bad), { name: 'TypeError', message: /^target/ }, bad);
  }
  assert.throws(() => bridgeUrl('http://b', 'h'), { name: 'TypeError', message: /^bridge/ });
  assert.throws(() => bridgeUrl('nonsense', 'h'), { name: 'TypeError', message: /^bridge/ });
});

void test('bad arguments are named, and what is not there is told', async () => {
  const call = async (target: unknown, options?: unknown): Promise<unknown> =>
    connectPeer(target as string, options as PeerOptions);
  await assert.rejects(call('ws://b'), { name: 'TypeError', message: /^nodeId/ });
  for (const target of ['', '02ab@h', `04${'1'.repeat(64)}@h`, ` ${bobHex}@h`, bobHex, `lightning:${bobHex}@h`]) {
    await assert.rejects(call(target), { name: 'TypeError', message: /^target: pubkey@host:port/ });
  }
  await assert.rejects(call(42, { nodeId: bobKey }), { name: 'TypeError', message: /^transport|^address/ });
  await assert.rejects(call(`${bobHex}@host`, { nodeId: '03'.padEnd(66, '1') }), { name: 'TypeError', message: /^nodeId/ });
  await assert.rejects(call(`${bobHex}@a b`), { name: 'TypeError', message: /^target/ });
  await assert.rejects(call(`${bobHex}@h`, { features: [70_000] }), { name: 'RangeError', message: /^features\[0\]/ });
  await assert.rejects(call(`${bobHex}@h`, { networks: [new Uint8Array(3)] }), { name: 'RangeError', message: /^networks\[0\]/ });
  await assert.rejects(call(`${bobHex}@h`, { keepalive: { intervalMs: 999 } }), { name: 'RangeError', message: /^keepalive\.intervalMs/ });
  await assert.rejects(call(`${bobHex}@h`, { keepalive: { timeoutMs: '1' } }), { name: 'TypeError', message: /^keepalive\.timeoutMs/ });
  await assert.rejects(call(`${bobHex}@h`, { keepalive: 5 }), { name: 'TypeError', message: /^keepalive/ });
  await assert.rejects(call(`${bobHex}@h`, { reconnect: 'yes' }), { name: 'TypeError', message: /^reconnect/ });
  await assert.rejects(call(`${bobHex}@h`, { reconnect: { minDelayMs: 0 } }), { name: 'RangeError', message: /^reconnect\.minDelayMs/ });
  await assert.rejects(call(`${bobHex}@h`, { reconnect: { minDelayMs: 9, maxDelayMs: 8 } }), { name: 'RangeError', message: /^reconnect\.maxDelayMs/ });
  await assert.rejects(call(`${bobHex}@h`, { maxQueuedBytes: 1000 }), { name: 'RangeError', message: /^maxQueuedBytes/ });
  await assert.rejects(call(`${bobHex}@h`, { initTimeoutMs: 0 }), { name: 'RangeError', message: /^initTimeoutMs/ });
  await assert.rejects(call(transportPair()[0], { nodeId: bobKey, reconnect: true }), { name: 'TypeError', message: /^reconnect/ });
  await assert.rejects(call(`${bobHex}@h`, { bridge: 'http://b' }), { name: 'TypeError', message: /^bridge/ });
  const port = await unusedPort();
  await assert.rejects(connectPeer(`${bobHex}@127.0.0.1:${port}`, limit), { code: 'CONNECTION_FAILED' });
  await assert.rejects(connectPeer(`${bobHex}@h`, { bridge: `ws://127.0.0.1:${port}`, ...limit }), { code: 'CONNECTION_FAILED' });
  await assert.rejects(meet({ features: [0, 1] }), { code: 'INVALID_ARGUMENT' });
});

void test('a node that does not send init, and one that hangs up before it', async () => {
  const { openTransport } = await import('./node-transports.js');
  const silent = await tcpServer((socket) => void accept(openTransport(socket), { secretKey: bob }).catch(() => undefined));
  try {
    const uri = `${bobHex}@127.0.0.1:${silent.port}`;
    await assert.rejects(connectPeer(uri, { timeoutMs: 300 }), { code: 'TIMEOUT', message: /^connecting/ });
    await assert.rejects(connectPeer(uri, { initTimeoutMs: 100 }), { code: 'TIMEOUT', message: /init/ });
  } finally {
    await silent.stop();
  }
  const rude = await tcpServer((socket) => void accept(openTransport(socket), { secretKey: bob }).then(async (node) => node.close()));
  try {
    await assert.rejects(connectPeer(`${bobHex}@127.0.0.1:${rude.port}`, limit), { code: 'CONNECTION_CLOSED' });
  } finally {
    await rude.stop();
  }
});
