import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { accept, connect, publicKey, type Connection } from 'brontosig/brontide';
import { connectPeer } from 'brontosig/lightning';
import LnMessage from 'lnmessage';
import type { WebSocket } from 'ws';
import { webSocketServer } from './connections.js';
import { withDemoBridge } from './demo-bridge.js';
import { bob, limit, next, numbers, welcome } from './meet.js';
import { openTransport } from './node-transports.js';

// npm lnmessage is the client that web apps use today. This package does what it
// does, and here stands side by side what it does wrong.

let bobHex: string;

before(async () => {
  await init();
  bobHex = Buffer.from(publicKey(bob)).toString('hex');
});

/** Says whether a promise settles while the event loop turns a good many times. */
async function settles(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const done = (): void => {
    settled = true;
  };
  promise.then(done, done);
  for (let i = 0; i < 200; i++) {
    await new Promise(setImmediate);
  }
  return settled;
}

/** Waits for what lnmessage says of its connection. */
async function status(client: LnMessage, wanted: string): Promise<void> {
  await new Promise<void>((resolve) => {
    client.connectionStatus$.subscribe((is) => {
      if (is === wanted) {
        resolve();
      }
    });
  });
}

/** Runs something with a node that the test plays, on a WebSocket. */
async function withNode(body: (node: {
  readonly url: string;
  /** Another lnmessage that is to connect to it. */
  client(): LnMessage;
  /** The next connection, before init. */
  arrived(): Promise<{ socket: WebSocket; connection: Promise<Connection> }>;
  /** The first bytes of each socket: act one. */
  readonly acts: Buffer[];
}) => Promise<void>): Promise<void> {
  const waiting: ((arrival: { socket: WebSocket; connection: Promise<Connection> }) => void)[] = [];
  const acts: Buffer[] = [];
  const server = await webSocketServer((socket) => {
    socket.once('message', (act: Buffer) => acts.push(Buffer.from(act)));
    const connection = accept(openTransport(socket), { secretKey: bob, ...limit });
    connection.catch(() => undefined);
    waiting.shift()?.({ socket, connection });
  });
  const url = `ws://127.0.0.1:${server.port}`;
  try {
    await body({
      url,
      acts,
      client: () => new LnMessage({ remoteNodePublicKey: bobHex, wsProxy: url, ip: '127.0.0.1', port: 9735 }),
      arrived: async () => new Promise((resolve) => waiting.push(resolve)),
    });
  } finally {
    await server.stop();
  }
}

/** lnmessage waits for the node's init before it sends its own. */
async function welcomeLnMessage(connection: Promise<Connection>): Promise<Connection> {
  const node = await connection;
  await node.send(Uint8Array.of(0, 16, 0, 0, 0, 0));
  await next(node);
  return node;
}

void test('both reach the embedded peer through the bridge, and get the same answers', async () => {
  await withDemoBridge(async ({ bridge, nodeId, address, rune }) => {
    const [ip = '', port] = address.split(':');
    const theirs = new LnMessage({ remoteNodePublicKey: nodeId, wsProxy: bridge, ip, port: Number(port) });
    const ours = await connectPeer(`${nodeId}@${address}`, { bridge, ...limit });
    try {
      assert.equal(await theirs.connect(false), true);
      const call = { ...limit, rune };
      const info = (await ours.commando('getinfo', {}, call)) as { id: string };
      assert.equal(info.id, nodeId);
      assert.deepEqual(await theirs.commando({ method: 'getinfo', params: {}, rune }), info);
      const params = { text: 'é\u{1f984}', list: [1, null] };
      const echo = await ours.commando('echo', params, call);
      assert.deepEqual(echo, { params });
      assert.deepEqual(await theirs.commando({ method: 'echo', params, rune }), echo);
      // Both get a reply of many parts, which come between those of others.
      const bytes = 1_000_000;
      const pattern = ours.commando('pattern', { bytes }, call);
      const many = Array.from({ length: 50 }, async (_, i) => ours.commando('echo', [i], call));
      assert.deepEqual(await Promise.all(many), many.map((_, i) => ({ params: [i] })));
      assert.deepEqual(await theirs.commando({ method: 'pattern', params: { bytes }, rune }), await pattern);
      // And the same errors, as values or as an error of its own type.
      const failure = { code: 205, message: 'this always fails', data: { attempts: 1 } };
      await assert.rejects(theirs.commando({ method: 'fail', params: {}, rune }), failure);
      await assert.rejects(ours.commando('fail', {}, call), { code: 'COMMANDO_ERROR', rpcCode: 205, data: failure.data });
      await assert.rejects(ours.commando('getinfo', {}, { ...call, rune: 'x' }), { rpcCode: 0x4c51 });
    } finally {
      theirs.disconnect();
      await ours.close();
    }
  });
});

void test('lnmessage leaves the MAC in messages and stops at an empty one; here neither', async () => {
  const sent = [[0x80, 0x01, 1, 2, 3], [], [0x80, 0x03]];
  await withNode(async (node) => {
    const client = node.client();
    const got: number[][] = [];
    client.decryptedMsgs$.subscribe((message) => got.push([...message]));
    const arrived = node.arrived();
    const connected = client.connect(false);
    const theirNode = await welcomeLnMessage((await arrived).connection);
    assert.equal(await connected, true);
    for (const message of sent) {
      await theirNode.send(Uint8Array.from(message));
    }
    await theirNode.close();
    await status(client, 'disconnected');
    // init, the first message with 16 bytes behind it, and nothing more.
    assert.deepEqual(got.map(({ length }) => length), [6 + 16, 5 + 16]);

    const again = node.arrived();
    const ours = await connect(node.url, { nodeId: bobHex, ...limit });
    const ourNode = await (await again).connection;
    for (const message of sent) {
      await ourNode.send(Uint8Array.from(message));
    }
    await ourNode.close();
    const received: number[][] = [];
    for await (const message of ours) {
      received.push(numbers(message));
    }
    assert.deepEqual(received, sent);
  });
});

void test('lnmessage goes on after bytes that are not authentic; here the connection ends', async () => {
  await withNode(async (node) => {
    const client = node.client();
    const arrived = node.arrived();
    const connected = client.connect(false);
    const { socket, connection } = await arrived;
    await welcomeLnMessage(connection);
    assert.equal(await connected, true);
    socket.send(Buffer.alloc(500, 7));
    const told = status(client, 'disconnected');
    assert.equal(await settles(told), false);
    assert.equal(client.connectionStatus$.value, 'connected');
    client.disconnect();
    await told;

    const again = node.arrived();
    const [peer] = await Promise.all([
      connectPeer(node.url, { nodeId: bobHex, ...limit }),
      again.then(async (arrival) => welcome(arrival.connection)),
    ]);
    const messages = peer.messages().next();
    (await again).socket.send(Buffer.alloc(500, 7));
    await assert.rejects(messages, { code: 'MAC_FAILED' });
    assert.equal((await peer.closed).error?.code, 'MAC_FAILED');
  });
});

void test('lnmessage has one ephemeral key for all its connections; here each has its own', async () => {
  await withNode(async (node) => {
    const client = node.client();
    for (let i = 0; i < 2; i++) {
      const arrived = node.arrived();
      const connected = client.connect(false);
      await welcomeLnMessage((await arrived).connection);
      assert.equal(await connected, true);
      const ended = status(client, 'disconnected');
      client.disconnect();
      await ended;
    }
    for (let i = 0; i < 2; i++) {
      const arrived = node.arrived();
      const [peer] = await Promise.all([
        connectPeer(node.url, { nodeId: bobHex, secretKey: new Uint8Array(32).fill(9), ...limit }),
        arrived.then(async ({ connection }) => welcome(connection)),
      ]);
      await peer.close();
    }
    const keys = node.acts.map((act) => act.toString('hex', 1, 34));
    assert.equal(keys.length, 4);
    assert.equal(keys[0], keys[1]);
    assert.equal(new Set(keys).size, 3);
  });
});

void test('lnmessage leaves calls hanging when the connection ends; here they reject', async () => {
  await withNode(async (node) => {
    const client = node.client();
    const arrived = node.arrived();
    const connected = client.connect(false);
    const theirNode = await welcomeLnMessage((await arrived).connection);
    assert.equal(await connected, true);
    const hanging = client.commando({ method: 'pay', params: {}, rune: 'r' });
    await next(theirNode);
    await theirNode.close();
    await status(client, 'disconnected');
    assert.equal(await settles(hanging), false);

    const again = node.arrived();
    const [peer, ourNode] = await Promise.all([
      connectPeer(node.url, { nodeId: bobHex, ...limit }),
      again.then(async ({ connection }) => welcome(connection)),
    ]);
    const call = peer.commando('pay', {}, { rune: 'r' });
    const rejected = assert.rejects(call, { code: 'CONNECTION_CLOSED' });
    await next(ourNode);
    await ourNode.close();
    await rejected;
  });
});
