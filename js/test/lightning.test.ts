import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { accept, bridgeUrl, publicKey, type Connection } from 'brontosig/brontide';
import { connectPeer, type Message, type Notice, type Peer, type PeerOptions } from 'brontosig/lightning';
import { tcpServer, transportPair, unusedPort, webSocketServer } from './connections.js';

const bob = new Uint8Array(32).fill(2);
const limit = { timeoutMs: 10_000 };
let bobKey: Uint8Array;
let bobHex: string;

/** What lnd, Core Lightning and others send at least: no features, and one even one that is known. */
const plainInit = Uint8Array.of(0, 16, 0, 0, 0, 1, 0b01);

before(async () => {
  await init();
  bobKey = publicKey(bob);
  bobHex = Buffer.from(bobKey).toString('hex');
});

/** Connects to a node whose side the test plays message by message. */
async function meet(options: PeerOptions = {}, theirInit = plainInit): Promise<{ peer: Peer; node: Connection; ourInit: Uint8Array }> {
  const [near, far] = transportPair();
  const accepted = accept(far, { secretKey: bob, ...limit }).then(async (node) => {
    const reader = node.readable.getReader();
    const { value } = await reader.read();
    reader.releaseLock();
    await node.send(theirInit);
    return { node, ourInit: value ?? new Uint8Array() };
  });
  // If the peer refuses, that error is the one that counts.
  accepted.catch(() => undefined);
  const peer = await connectPeer(near, { nodeId: bobKey, ...limit, ...options });
  return { peer, ...(await accepted) };
}

async function next(node: Connection): Promise<Uint8Array> {
  const reader = node.readable.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  assert.ok(value, 'the connection has ended');
  return value;
}

const numbers = (message: Uint8Array): number[] => [...message];

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
  const { peer, node } = await meet();
  await node.send(Uint8Array.of(0, 18, 0, 3, 0, 0));
  assert.deepEqual(numbers(await next(node)), [0, 19, 0, 3, 0, 0, 0]);
  const first = peer.ping({ pongBytes: 2, padding: 1, ...limit });
  const second = peer.ping(limit);
  assert.deepEqual(numbers(await next(node)), [0, 18, 0, 2, 0, 1, 0]);
  assert.deepEqual(numbers(await next(node)), [0, 18, 0, 0, 0, 0]);
  await node.send(Uint8Array.of(0, 19, 0, 2, 0, 0));
  await node.send(Uint8Array.of(0, 19, 0, 0));
  assert.ok((await first).rttMs >= 0);
  assert.ok((await second).rttMs >= 0);
  await assert.rejects(peer.ping({ timeoutMs: 30 }), { code: 'TIMEOUT' });
  await next(node);
  const controller = new AbortController();
  const aborted = peer.ping({ signal: controller.signal });
  controller.abort();
  await assert.rejects(aborted, { code: 'ABORTED' });
  await next(node);
  // Those two keep their places: a late answer to the first is not the third's.
  const third = peer.ping({ pongBytes: 5, ...limit });
  await next(node);
  await node.send(Uint8Array.of(0, 19, 0, 0));
  await node.send(Uint8Array.of(0, 19, 0, 0));
  await node.send(Uint8Array.of(0, 19, 0, 5, 0, 0, 0, 0, 0));
  await third;
  await assert.rejects(peer.ping({ pongBytes: 65_532 }), { name: 'RangeError', message: /^pongBytes/ });
  await assert.rejects(peer.ping({ padding: 65_530 }), { name: 'RangeError', message: /^padding/ });
  const last = peer.ping(limit);
  await next(node);
  await node.close();
  await assert.rejects(last, { code: 'CONNECTION_CLOSED' });
  await assert.rejects(peer.ping(limit), { code: 'CONNECTION_CLOSED' });
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
  await assert.rejects(peer.send(18, new Uint8Array()), { code: 'RESERVED_TYPE' });
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

void test('messages that nobody reads are bounded', async () => {
  const { peer, node } = await meet({ maxQueuedBytes: 131_072 });
  const message = new Uint8Array(65_535);
  message.set([0x80, 0x01]);
  await node.send(message);
  // The second is too much. What the node still sends may meet the end.
  await node.send(message).catch(() => undefined);
  assert.equal((await peer.closed).error?.code, 'QUEUE_FULL');
  const kept: Message[] = [];
  await assert.rejects(
    (async () => {
      for await (const each of peer.messages()) {
        kept.push(each);
      }
    })(),
    { code: 'QUEUE_FULL' },
  );
  assert.equal(kept.length, 1);

  // Messages without a payload count too.
  const empty = await meet({ maxQueuedBytes: 131_072 });
  for (let i = 0; i < 600; i++) {
    await empty.node.send(Uint8Array.of(0x80, 0x01)).catch(() => undefined);
  }
  assert.equal((await empty.peer.closed).error?.code, 'QUEUE_FULL');
});

void test('a node URI, directly and through a bridge', async () => {
  const serve = async (connected: Promise<Connection>): Promise<void> => {
    const node = await connected;
    await next(node);
    await node.send(plainInit);
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
    await assert.rejects(connectPeer(`${bobHex}@127.0.0.1:${silent.port}`, { timeoutMs: 300 }), { code: 'TIMEOUT' });
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
