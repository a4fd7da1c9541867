import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { accept, connect, Machine, publicKey, webSocketTransport, type Connection, type Transport, type TransportClose } from 'brontosig/brontide';
import { Context, Nonce } from 'brontosig/musig2';
import { tcpServer, transportPair, withServer } from './connections.js';
import { startDemoBridge } from './demo-bridge.js';
import { bob, tcpEcho } from './echo.js';

const limit = { timeoutMs: 10_000 };
const bobKey = (): Uint8Array => publicKey(bob);

before(() => init());

/** A connection over a transport of the test's own, and the node at its other end. */
async function over(change: (near: Transport) => Partial<Transport>): Promise<[Connection, Connection]> {
  const [near, far] = transportPair();
  return Promise.all([
    connect({ ...near, ...change(near) }, { nodeId: bobKey(), closeTimeoutMs: 100, ...limit }),
    accept(far, { secretKey: bob, closeTimeoutMs: 100, ...limit }),
  ]);
}

test('a transport whose close throws', async () => {
  const close = (): never => {
    throw new Error('no');
  };
  const [near, far] = await over(() => ({ close }));
  await near.close();
  assert.equal((await near.closed).by, 'local');
  await far.close();
  // And in the handshake.
  const [, silent] = transportPair();
  await assert.rejects(connect({ ...silent, close }, { nodeId: bobKey(), timeoutMs: 50 }), { code: 'TIMEOUT' });
});

test('a transport whose closed rejects', async () => {
  let reject: (cause: Error) => void = () => undefined;
  const closed = new Promise<TransportClose>((_, no) => {
    reject = no;
  });
  const [near, far] = await over(() => ({ closed }));
  await far.send(Uint8Array.of(1));
  const cause = new Error('broke');
  reject(cause);
  const info = await near.closed;
  assert.equal(info.by, 'remote');
  assert.equal(info.error?.code, 'CONNECTION_CLOSED');
  assert.equal(info.error.cause, cause);
  // What had come can be read.
  const iterator = near[Symbol.asyncIterator]();
  assert.deepEqual((await iterator.next()).value, Uint8Array.of(1));
  await near.close();
  await far.close();
});

test('a transport whose closed never settles, or says nothing of use', { timeout: 20_000 }, async () => {
  const never = new Promise<TransportClose>(() => undefined);
  for (const closed of [never, undefined]) {
    const [near, far] = await over(() => ({ closed }));
    const reading = near[Symbol.asyncIterator]().next();
    await far.close();
    assert.equal((await reading).done, true);
    const info = await near.closed;
    assert.equal(info.by, 'remote');
    assert.equal(info.reason, '');
  }
  const [near, far] = await over(() => ({ closed: Promise.resolve(undefined as unknown as TransportClose) }));
  assert.equal((await near.closed).reason, '');
  await near.close();
  await far.close();
});

test('streams that go on when the transport has ended are left', { timeout: 20_000 }, async () => {
  let settle: (close: TransportClose) => void = () => undefined;
  const closed = new Promise<TransportClose>((resolve) => {
    settle = resolve;
  });
  const [near, far] = await over(() => ({ closed }));
  const reading = near[Symbol.asyncIterator]().next();
  settle({ code: 4502, reason: 'gone' });
  assert.equal((await reading).done, true);
  const info = await near.closed;
  assert.deepEqual([info.by, info.code, info.reason, info.error], ['remote', 4502, 'gone', undefined]);
  await far.close();
});

test('what is no transport is named', async () => {
  const [near] = transportPair();
  near.readable.getReader();
  await assert.rejects(connect(near, { nodeId: bobKey() }), { name: 'TypeError', message: /^transport\.readable: / });
  const [other] = transportPair();
  other.writable.getWriter();
  await assert.rejects(connect(other, { nodeId: bobKey() }), { name: 'TypeError', message: /^transport\.writable: / });
  const wrong = (address: unknown, message: RegExp): Promise<void> =>
    assert.rejects(connect(address as string, { nodeId: bobKey() }), { name: 'TypeError', message });
  await wrong({}, /^transport\.readable: /);
  await wrong(null, /^transport: /);
  await wrong(Symbol('x'), /^address: /);
  await wrong(5, /^address: /);
  await wrong('ws://', /^address: /);
  await wrong('ws://host/#part', /^address: /);
  await wrong('tcp://host:0', /^address: /);
  await assert.rejects(accept({} as Transport, { secretKey: bob }), { name: 'TypeError', message: /^transport\.readable: / });
  await assert.rejects(webSocketTransport('ws://127.0.0.1:1', { WebSocket: 5 as never }), { name: 'TypeError', message: /^WebSocket: / });
});

test('a transport that delivers something else than bytes', async () => {
  const readable = new ReadableStream<Uint8Array>({
    pull(controller) {
      controller.enqueue('text' as unknown as Uint8Array);
    },
  });
  await assert.rejects(connect({ readable, writable: new WritableStream(), close: () => undefined }, { nodeId: bobKey() }), {
    code: 'CONNECTION_CLOSED',
  });
});

test('options are read through prototypes and accessors, and misspelt ones refused', async () => {
  await withServer(tcpServer(tcpEcho), async (port) => {
    const secretKey = new Uint8Array(32).fill(1);
    class Options {
      get nodeId(): Uint8Array {
        return bobKey();
      }
    }
    const inherited = Object.assign(Object.create(new Options()) as Options, { secretKey });
    const connection = await connect(`tcp://127.0.0.1:${port}`, inherited);
    assert.deepEqual(connection.localKey, publicKey(secretKey));
    await connection.close();
  });
  const misspelt = (call: Promise<unknown>): Promise<void> =>
    assert.rejects(call, { name: 'TypeError', message: /^options: there is no option timeoutMS/ });
  const options = { nodeId: bobKey(), secretKey: bob, timeoutMS: 5 };
  await misspelt(connect('tcp://127.0.0.1:1', options));
  await misspelt(accept(transportPair()[0], { secretKey: bob, timeoutMS: 5 } as never));
  await misspelt(webSocketTransport('ws://127.0.0.1:1', { timeoutMS: 5 } as never));
  const [near, far] = await over(() => ({}));
  await misspelt(near.send(new Uint8Array(), { timeoutMS: 5 } as never));
  for (const wrong of ['connectTimeoutMs', 'handshakeTimeoutMs', 'closeTimeoutMs'] as const) {
    await assert.rejects(connect('tcp://127.0.0.1:1', { nodeId: bobKey(), [wrong]: 0 }), { name: 'RangeError', message: new RegExp(`^${wrong}`) });
  }
  await near.close();
  await far.close();
});

test('a platform without random bytes is RANDOM_FAILED, and the instance lives on', async () => {
  const real = crypto.getRandomValues.bind(crypto);
  const secretKey = new Uint8Array(32).fill(1);
  const context = new Context({ publicKeys: [publicKey(secretKey)], sort: false, secretKey });
  const [responder, initiator] = [
    new Machine({ role: 'responder', secretKey: bob }),
    new Machine({ role: 'initiator', secretKey, remoteKey: bobKey() }),
  ];
  const actOne = initiator.start();
  crypto.getRandomValues = () => {
    throw new Error('no entropy');
  };
  const failed = { code: 'RANDOM_FAILED' };
  try {
    await assert.rejects(connect(transportPair()[0], { nodeId: bobKey() }), failed);
    const machine = new Machine({ role: 'initiator', secretKey, remoteKey: bobKey() });
    assert.throws(() => machine.start(), failed);
    assert.throws(() => responder.receive(actOne), failed);
    assert.throws(() => context.newSession({ message: new Uint8Array() }), failed);
    assert.throws(() => new Nonce({ publicKey: publicKey(secretKey) }), failed);
  } finally {
    crypto.getRandomValues = real;
  }
  // Nothing was lost.
  assert.equal(responder.receive(actOne).send?.length, 50);
  assert.equal(context.newSession({ message: new Uint8Array() }).publicNonce.length, 66);
});

test('the bridge is killed in the middle of a message', { timeout: 20_000 }, async () => {
  // The node sends half a message when a message comes, and keeps the connection.
  const node = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    const machine = new Machine({ role: 'responder', secretKey: bob });
    socket.on('data', (data) => {
      const { send, messages } = machine.receive(data);
      if (send !== undefined) {
        socket.write(send);
      }
      for (const message of messages) {
        socket.write(machine.encrypt(message));
        socket.write(machine.encrypt(new Uint8Array(1000)).subarray(0, 500));
      }
    });
  });
  node.listen(0, '127.0.0.1');
  await once(node, 'listening');
  const target = `127.0.0.1:${(node.address() as { port: number }).port}`;
  const bridge = await startDemoBridge(['--allow', target]);
  try {
    const connection = await connect(`${bridge.bridge}/${target}`, { nodeId: bobKey(), ...limit });
    const iterator = connection[Symbol.asyncIterator]();
    await connection.send(Uint8Array.of(1));
    assert.deepEqual((await iterator.next()).value, Uint8Array.of(1));
    const reading = iterator.next();
    bridge.child.kill('SIGKILL');
    await assert.rejects(reading, { code: 'CONNECTION_CLOSED' });
    const info = await connection.closed;
    assert.deepEqual([info.by, info.code, info.error?.code], ['remote', 1006, 'CONNECTION_CLOSED']);
    await assert.rejects(connection.send(Uint8Array.of(1)), { code: 'CONNECTION_CLOSED' });
  } finally {
    await bridge.stop();
    node.close();
    await once(node, 'close');
  }
});
