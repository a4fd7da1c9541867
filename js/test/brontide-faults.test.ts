import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { accept, connect, Machine, publicKey, webSocketTransport, type Connection, type Transport, type TransportClose, type WebSocketConstructor } from 'brontosig/brontide';
import { connectPeer } from 'brontosig/lightning';
import { WebSocket } from 'ws';
import { tcpServer, transportPair, webSocketServer, withServer } from './connections.js';
import { bob } from './echo.js';

const limit = { timeoutMs: 10_000 };

/** The key of `bob`. Making it needs the module. */
const bobKey = (): Uint8Array => publicKey(bob);

before(() => init());

/** The WebSocket of npm `ws` with what browsers add: few close codes are allowed. */
class Strict extends WebSocket {
  override close(code?: number, reason?: string): void {
    if (code !== undefined && code !== 1000 && !(code >= 3000 && code <= 4999)) {
      throw new DOMException('the code must be 1000 or from 3000 to 4999', 'InvalidAccessError');
    }
    super.close(code, reason);
  }
}

/** Answers the handshake on a socket, then runs something. */
function respond(socket: Socket, ready: (machine: Machine, messages: readonly Uint8Array[]) => void): void {
  const machine = new Machine({ role: 'responder', secretKey: bob });
  socket.on('data', (data: Buffer) => {
    const { send, messages } = machine.receive(data);
    if (send !== undefined) {
      socket.write(send);
    }
    if (machine.state === 'ready') {
      ready(machine, messages);
    }
  });
}

void test('a platform that allows few close codes still closes, with the right error', { timeout: 20_000 }, async () => {
  const cases = [
    { send: 'text', options: {}, code: 'PROTOCOL_ERROR' },
    { send: new Uint8Array(140_000), options: { maxQueuedBytes: 131_072 }, code: 'QUEUE_FULL' },
  ];
  for (const { send, options, code } of cases) {
    let gone: Promise<unknown> | undefined;
    await withServer(
      webSocketServer((socket) => {
        gone = once(socket, 'close');
        socket.send(send);
      }),
      async (port) => {
        const transport = await webSocketTransport(`ws://127.0.0.1:${port}`, {
          WebSocket: Strict as unknown as WebSocketConstructor,
          ...options,
          ...limit,
        });
        assert.equal((await transport.closed)?.error?.code, code);
        await gone;
      },
    );
  }
  // A code of the caller's that the platform refuses.
  let gone: Promise<unknown> | undefined;
  await withServer(
    webSocketServer((socket) => {
      gone = once(socket, 'close');
    }),
    async (port) => {
      const transport = await webSocketTransport(`ws://127.0.0.1:${port}`, {
        WebSocket: Strict as unknown as WebSocketConstructor,
        ...limit,
      });
      transport.close(1008);
      assert.equal((await transport.closed)?.error, undefined);
      await gone;
    },
  );
});

void test('a WebSocket that is dropped after act one is AUTHENTICATION_FAILED', async () => {
  await withServer(
    webSocketServer((socket) => socket.once('message', () => { socket.terminate(); })),
    async (port) => {
      await assert.rejects(connect(`ws://127.0.0.1:${port}`, { nodeId: bobKey(), ...limit }), {
        code: 'AUTHENTICATION_FAILED',
      });
    },
  );
  // Act two has begun: that is another fault.
  await withServer(
    webSocketServer((socket) =>
      socket.once('message', () => {
        socket.send(new Uint8Array(10), () => { socket.terminate(); });
      }),
    ),
    async (port) => {
      await assert.rejects(connect(`ws://127.0.0.1:${port}`, { nodeId: bobKey(), ...limit }), { code: 'CONNECTION_CLOSED' });
    },
  );
  // So is a server that says that it failed.
  await withServer(
    webSocketServer((socket) => socket.once('message', () => { socket.close(1011); })),
    async (port) => {
      await assert.rejects(connect(`ws://127.0.0.1:${port}`, { nodeId: bobKey(), ...limit }), { code: 'CONNECTION_CLOSED' });
    },
  );
});

void test('closed settles though the reader does not ask for more', { timeout: 20_000 }, async () => {
  let count = 0;
  await withServer(
    tcpServer((socket) => {
      respond(socket, (machine) => {
        if (count++ === 0) {
          socket.write(machine.encrypt(Uint8Array.of(1)));
        } else {
          socket.end(machine.encrypt(Uint8Array.of(2)));
        }
      });
    }),
    async (port) => {
      const connection = await connect(`tcp://127.0.0.1:${port}`, { nodeId: bobKey(), ...limit });
      const reading = connection[Symbol.asyncIterator]();
      assert.deepEqual((await reading.next()).value, Uint8Array.of(1));
      await connection.send(Uint8Array.of(0));
      const info = await connection.closed;
      assert.equal(info.by, 'remote');
      assert.equal(info.error, undefined);
      // What had come before the end is still there.
      assert.deepEqual((await reading.next()).value, Uint8Array.of(2));
      assert.equal((await reading.next()).done, true);
    },
  );
});

void test('a peer that half-closes and reads nothing is given up', { timeout: 30_000 }, async () => {
  const sockets: Socket[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.push(socket);
    socket.on('error', () => socket.destroy());
    respond(socket, () => {
      socket.pause();
      socket.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const connection = await connect(`tcp://127.0.0.1:${port}`, { nodeId: bobKey(), ...limit });
    // More than the buffers of both systems hold.
    const sends = Array.from({ length: 400 }, async () => connection.send(new Uint8Array(65_535)));
    const results = await Promise.allSettled(sends);
    const last = results.at(-1);
    assert.ok(last?.status === 'rejected');
    assert.equal((last.reason as { code: string }).code, 'CONNECTION_CLOSED');
    assert.equal((await connection.closed).by, 'remote');
  } finally {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
    await once(server, 'close');
  }
});

void test('a bad maxQueuedBytes is found before anything is opened', async () => {
  const [near] = transportPair();
  for (const maxQueuedBytes of [-1, 0, 1.5]) {
    await assert.rejects(connectPeer(near, { nodeId: bobKey(), maxQueuedBytes, ...limit }), {
      name: 'RangeError',
      message: /^maxQueuedBytes/,
    });
  }
  assert.equal(near.readable.locked, false);
});

void test('an abort at any moment around the last act is not lost', async () => {
  for (let turns = 0; turns < 40; turns++) {
    const [near, far] = transportPair();
    const controller = new AbortController();
    let writes = 0;
    // Aborts some turns of the microtask queue after act three was written.
    const gate = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, out) {
        out.enqueue(chunk);
        if (++writes === 2) {
          void (async () => {
            for (let i = 0; i < turns; i++) {
              await Promise.resolve();
            }
            controller.abort();
          })();
        }
      },
    });
    const piped = gate.readable.pipeTo(near.writable).catch(() => undefined);
    const transport: Transport = { readable: near.readable, writable: gate.writable, close: () => { near.close(); } };
    const responder = accept(far, { secretKey: bob, ...limit }).catch(() => undefined);
    const code = await connect(transport, { nodeId: bobKey(), signal: controller.signal, ...limit }).then(
      async (connection) => (await connection.closed).error?.code,
      (error: unknown) => (error as { code?: string }).code,
    );
    assert.equal(code, 'ABORTED', `after ${turns} turns`);
    await (await responder)?.close();
    await piped;
  }
});

void test('bad targets and tokens are named', async () => {
  type Target = Parameters<typeof webSocketTransport>[0];
  type Options = Parameters<typeof webSocketTransport>[1];
  const open = async (target: unknown, options: unknown): Promise<unknown> =>
    webSocketTransport(target as Target, options as Options);
  await assert.rejects(open(null, limit), { name: 'TypeError', message: /^target/ });
  await assert.rejects(open({}, limit), { name: 'TypeError', message: /^target/ });
  await assert.rejects(open('ws://127.0.0.1', null), { name: 'TypeError', message: /^options/ });
  await assert.rejects(open('ws://127.0.0.1', { bridgeToken: 5 }), { name: 'TypeError', message: /^bridgeToken/ });
});

/** A pair of connections over transports, of which the near one can be changed. */
async function connected(change: (near: Transport) => Transport): Promise<[Connection, Connection]> {
  const [near, far] = transportPair();
  return Promise.all([
    connect(change(near), { nodeId: bobKey(), ...limit }),
    accept(far, { secretKey: bob, ...limit }),
  ]);
}

void test('a write that never settles does not keep the connection from closing', { timeout: 30_000 }, async () => {
  let stuck = false;
  const [near] = await connected((transport) => {
    const writer = transport.writable.getWriter();
    const writable = new WritableStream<Uint8Array>({
      write: async (chunk) => (stuck ? new Promise(() => undefined) : writer.write(chunk)),
    });
    return { ...transport, writable };
  });
  stuck = true;
  const sending = near.send(new Uint8Array(1));
  sending.catch(() => undefined);
  await near.close();
  await assert.rejects(sending, { code: 'CONNECTION_CLOSED' });
  assert.equal((await near.closed).by, 'local');
});

void test('an orderly end that comes while a message is delivered settles closed', { timeout: 30_000 }, async () => {
  const ends = { armed: false, settle: (): void => undefined };
  const [near, far] = await connected((transport) => {
    const reader = transport.readable.getReader();
    const readable = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { value } = await reader.read();
        controller.enqueue(value ?? new Uint8Array());
        if (ends.armed) {
          controller.close();
          ends.settle();
        }
      },
    });
    const closed = new Promise<TransportClose>((resolve) => {
      ends.settle = () => {
        resolve({ reason: 'enough' });
      };
    });
    return { ...transport, readable, closed };
  });
  const reading = near[Symbol.asyncIterator]().next();
  ends.armed = true;
  await far.send(Uint8Array.of(5));
  assert.deepEqual((await reading).value, Uint8Array.of(5));
  const info = await near.closed;
  assert.equal(info.reason, 'enough');
  assert.equal(info.error, undefined);
});

void test('a transport in use is refused', async () => {
  const [near] = transportPair();
  near.writable.getWriter();
  await assert.rejects(connect(near, { nodeId: bobKey(), ...limit }), TypeError);
});

void test('a signal that aborts before the attempt has begun to wait', { timeout: 20_000 }, async () => {
  const controller = new AbortController();
  class Aborting extends WebSocket {
    constructor(url: string) {
      super(url);
      controller.abort();
    }
  }
  await withServer(webSocketServer(() => undefined), async (port) => {
    const opening = webSocketTransport(`ws://127.0.0.1:${port}`, {
      WebSocket: Aborting as unknown as WebSocketConstructor,
      signal: controller.signal,
      ...limit,
    });
    await assert.rejects(opening, { code: 'ABORTED' });
  });
});
