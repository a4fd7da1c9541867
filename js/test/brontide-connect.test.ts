import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { accept, connect, Machine, publicKey, webSocketTransport, type Connection } from 'brontosig/brontide';
import type { WebSocket } from 'ws';
import { tcpServer, transportPair, unusedPort, webSocketServer, withServer } from './connections.js';
import { bob, tcpEcho, webSocketEcho } from './echo.js';

const alice = new Uint8Array(32).fill(1);
const limit = { timeoutMs: 10_000 };
let bobKey: Uint8Array;

before(async () => {
  await init();
  bobKey = publicKey(bob);
});

async function exchange(connection: Connection): Promise<void> {
  const messages = [0, 1, 100, 16_384, 65_535].map((length) => new Uint8Array(length).fill(length & 0xff));
  const iterator = connection[Symbol.asyncIterator]();
  for (const message of messages) {
    await connection.send(message);
    const { value } = (await iterator.next()) as { value: Uint8Array };
    assert.deepEqual(new Uint8Array(value), message);
  }
  assert.throws(() => connection[Symbol.asyncIterator](), { code: 'LOCKED' });
}

void test('tcp:// and ws://: messages go there and back', async () => {
  for (const [server, scheme] of [
    [tcpServer(tcpEcho), 'tcp'],
    [webSocketServer(webSocketEcho), 'ws'],
  ] as const) {
    await withServer(server, async (port) => {
      const connection = await connect(`${scheme}://127.0.0.1:${port}`, { nodeId: bobKey, secretKey: alice, ...limit });
      assert.deepEqual(connection.localKey, publicKey(alice));
      assert.deepEqual(connection.remoteKey, bobKey);
      await exchange(connection);
      await connection.close();
      assert.equal((await connection.closed).by, 'local');
      await assert.rejects(connection.send(new Uint8Array()), { code: 'CONNECTION_CLOSED' });
      await connection.close();
    });
  }
});

void test('a transport of the own: connect meets accept', async () => {
  const [near, far] = transportPair();
  const [initiator, responder] = await Promise.all([
    connect(near, { nodeId: Buffer.from(bobKey).toString('hex'), ...limit }),
    accept(far, { secretKey: bob, ...limit }),
  ]);
  assert.deepEqual(responder.remoteKey, initiator.localKey);
  const writer = initiator.writable.getWriter();
  void writer.write(Uint8Array.of(1));
  void writer.write(Uint8Array.of(2));
  const received: number[] = [];
  for await (const message of responder) {
    received.push(message[0] ?? -1);
    if (received.length === 2) {
      break;
    }
  }
  assert.deepEqual(received, [1, 2]);
  assert.equal((await responder.closed).by, 'local');
});

void test('messages that came before the end can still be read', async () => {
  const [near, far] = transportPair();
  const [initiator, responder] = await Promise.all([
    connect(near, { nodeId: bobKey, ...limit }),
    accept(far, { secretKey: bob, ...limit }),
  ]);
  const sent = responder.send(Uint8Array.of(7)).then(async () => responder.close());
  const messages: Uint8Array[] = [];
  for await (const message of initiator) {
    messages.push(message);
  }
  await sent;
  assert.deepEqual(messages, [Uint8Array.of(7)]);
  const info = await initiator.closed;
  assert.equal(info.by, 'remote');
  assert.equal(info.error, undefined);
});

void test('a wrong node key is AUTHENTICATION_FAILED', async () => {
  const wrong = publicKey(new Uint8Array(32).fill(9));
  // A node that gets an act one for another key hangs up; some reset.
  const ends = [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()];
  for (const end of ends) {
    await withServer(
      tcpServer((socket) => socket.once('data', () => end(socket))),
      async (port) => {
        await assert.rejects(connect(`tcp://127.0.0.1:${port}`, { nodeId: wrong, ...limit }), {
          code: 'AUTHENTICATION_FAILED',
          message: /authentication failed/,
        });
      },
    );
  }
  await withServer(
    webSocketServer((socket) => socket.once('message', () => { socket.close(1000); })),
    async (port) => {
      await assert.rejects(connect(`ws://127.0.0.1:${port}`, { nodeId: wrong, ...limit }), { code: 'AUTHENTICATION_FAILED' });
    },
  );
  // The responder's side of it.
  const [near, far] = transportPair();
  const [initiator, responder] = await Promise.allSettled([
    connect(near, { nodeId: wrong, ...limit }),
    accept(far, { secretKey: bob, ...limit }),
  ]);
  for (const side of [initiator, responder]) {
    assert.equal(side.status === 'rejected' && (side.reason as { code: string }).code, 'AUTHENTICATION_FAILED');
  }
});

void test('acts that are wrong', async () => {
  const answer = async (act: (good: Uint8Array) => Uint8Array | undefined): Promise<unknown> => {
    let result: unknown;
    await withServer(
      tcpServer((socket) => {
        socket.once('data', (data) => {
          const machine = new Machine({ role: 'responder', secretKey: bob });
          const bytes = act(machine.receive(data).send ?? new Uint8Array());
          if (bytes === undefined) {
            socket.end();
          } else {
            socket.end(bytes);
          }
        });
      }),
      async (port) => {
        result = await connect(`tcp://127.0.0.1:${port}`, { nodeId: bobKey, ...limit }).then(
          () => 'connected',
          (error: unknown) => (error as { code?: string }).code,
        );
      },
    );
    return result;
  };
  const changed = (at: number, value: number) => (act: Uint8Array) => {
    act[at] = (act[at] ?? 0) ^ value;
    return act;
  };
  assert.equal(await answer((act) => act.subarray(0, 20)), 'CONNECTION_CLOSED');
  assert.equal(await answer((act) => act.subarray(0, 49)), 'CONNECTION_CLOSED');
  assert.equal(await answer(changed(0, 1)), 'PROTOCOL_ERROR');
  assert.equal(await answer(changed(1, 4)), 'PROTOCOL_ERROR');
  assert.equal(await answer(changed(49, 1)), 'AUTHENTICATION_FAILED');
  assert.equal(await answer(() => undefined), 'AUTHENTICATION_FAILED');
});

void test('nothing is there', async () => {
  const port = await unusedPort();
  for (const scheme of ['ws', 'tcp']) {
    await assert.rejects(connect(`${scheme}://127.0.0.1:${port}`, { nodeId: bobKey, ...limit }), {
      code: 'CONNECTION_FAILED',
    });
  }
});

void test('what a bridge says becomes a code', async () => {
  const { createServer } = await import('node:http');
  const codes: Readonly<Record<number, string>> = {
    400: 'PROTOCOL_ERROR', 403: 'BRIDGE_REFUSED', 421: 'CONNECTION_FAILED', 429: 'RATE_LIMITED',
    502: 'NODE_UNREACHABLE', 503: 'BRIDGE_BUSY', 504: 'NODE_TIMEOUT',
  };
  // What would move the cursor of a terminal, or begin another line of a log, does not come through.
  const said = 'because\u001B[2K\n\u202E';
  const heard = /because\uFFFD\[2K\uFFFD\uFFFD$/;
  for (const [status, code] of Object.entries(codes)) {
    const server = createServer((_, response) => {
      response.writeHead(Number(status)).end(JSON.stringify({ status, reason: said }));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    await assert.rejects(connect(`ws://127.0.0.1:${port}`, { nodeId: bobKey, ...limit }), { code, message: heard });
    server.close();
    await once(server, 'close');
    // The same as a close code, as browsers see it.
    await withServer(
      webSocketServer((socket) => { socket.close(4000 + Number(status), said); }),
      async (port) => {
        const expected = code === 'CONNECTION_FAILED' ? 'CONNECTION_CLOSED' : code;
        await assert.rejects(connect(`ws://127.0.0.1:${port}`, { nodeId: bobKey, ...limit }), {
          code: expected, message: heard,
        });
      },
    );
  }
});

void test('a text message, and a connection that breaks', async () => {
  let open: WebSocket | undefined;
  await withServer(
    webSocketServer((socket) => {
      open = socket;
      webSocketEcho(socket);
    }),
    async (port) => {
      let connection = await connect(`ws://127.0.0.1:${port}`, { nodeId: bobKey, ...limit });
      open?.send('text');
      assert.equal((await connection.closed).error?.code, 'PROTOCOL_ERROR');
      connection = await connect(`ws://127.0.0.1:${port}`, { nodeId: bobKey, ...limit });
      const reading = connection[Symbol.asyncIterator]().next();
      open?.terminate();
      await assert.rejects(reading, { code: 'CONNECTION_CLOSED' });
      const info = await connection.closed;
      assert.equal(info.by, 'remote');
      assert.equal(info.code, 1006);
      await assert.rejects(connection.send(new Uint8Array(1)), { code: 'CONNECTION_CLOSED' });
    },
  );
});

void test('a failed message ends the connection', async () => {
  await withServer(
    tcpServer((socket) => {
      const machine = new Machine({ role: 'responder', secretKey: bob });
      socket.on('data', (data) => {
        const { send } = machine.receive(data);
        if (send !== undefined) {
          socket.write(send);
        } else {
          socket.write(machine.encrypt(Uint8Array.of(1)));
          const bad = machine.encrypt(Uint8Array.of(2));
          bad[20] = (bad[20] ?? 0) ^ 1;
          socket.write(bad);
        }
      });
    }),
    async (port) => {
      const connection = await connect(`tcp://127.0.0.1:${port}`, { nodeId: bobKey, ...limit });
      const iterator = connection[Symbol.asyncIterator]();
      assert.deepEqual((await iterator.next()).value, Uint8Array.of(1));
      await assert.rejects(iterator.next(), { code: 'MAC_FAILED' });
      assert.equal((await connection.closed).error?.code, 'MAC_FAILED');
    },
  );
});

void test('time runs out in every phase', async () => {
  await withServer(
    tcpServer(() => undefined),
    async (port) => {
      for (const scheme of ['tcp', 'ws']) {
        await assert.rejects(connect(`${scheme}://127.0.0.1:${port}`, { nodeId: bobKey, timeoutMs: 50 }), { code: 'TIMEOUT' });
      }
      const transport = webSocketTransport(`ws://127.0.0.1:${port}`, { timeoutMs: 50 });
      await assert.rejects(transport, { code: 'TIMEOUT' });
    },
  );
  const [, far] = transportPair();
  await assert.rejects(accept(far, { secretKey: bob, timeoutMs: 50 }), { code: 'TIMEOUT' });
});

void test('a signal ends it before, during and after', async () => {
  const reason = new Error('enough');
  await withServer(tcpServer(() => undefined), async (port) => {
    const address = `tcp://127.0.0.1:${port}`;
    await assert.rejects(connect(address, { nodeId: bobKey, signal: AbortSignal.abort(reason) }), { code: 'ABORTED', cause: reason });
    for (const scheme of ['tcp', 'ws']) {
      const controller = new AbortController();
      const connecting = connect(`${scheme}://127.0.0.1:${port}`, { nodeId: bobKey, signal: controller.signal });
      controller.abort(reason);
      await assert.rejects(connecting, { code: 'ABORTED' });
    }
  });
  // In the handshake: the server has act one and does not answer.
  const controller = new AbortController();
  await withServer(
    tcpServer((socket) => socket.once('data', () => { controller.abort(reason); })),
    async (port) => {
      await assert.rejects(connect(`tcp://127.0.0.1:${port}`, { nodeId: bobKey, signal: controller.signal }), { code: 'ABORTED' });
    },
  );
  await withServer(tcpServer(tcpEcho), async (port) => {
    const later = new AbortController();
    const connection = await connect(`tcp://127.0.0.1:${port}`, { nodeId: bobKey, signal: later.signal });
    const reading = connection[Symbol.asyncIterator]().next();
    later.abort(reason);
    await assert.rejects(reading, { code: 'ABORTED' });
    const info = await connection.closed;
    assert.equal(info.by, 'local');
    assert.equal(info.error?.code, 'ABORTED');
  });
});

void test('a reader that takes too little ends a WebSocket', async () => {
  await withServer(
    webSocketServer((socket) => {
      socket.send(new Uint8Array(70_000));
      socket.send(new Uint8Array(70_000));
    }),
    async (port) => {
      const transport = await webSocketTransport(`ws://127.0.0.1:${port}`, { maxQueuedBytes: 131_072, ...limit });
      const close = await transport.closed;
      assert.equal(close?.error?.code, 'QUEUE_FULL');
    },
  );
});

void test('chunks without bytes cannot wait in any number', async () => {
  await withServer(
    webSocketServer((socket) => {
      for (let i = 0; i < 600; i++) {
        socket.send(new Uint8Array());
      }
    }),
    async (port) => {
      const transport = await webSocketTransport(`ws://127.0.0.1:${port}`, { maxQueuedBytes: 131_072, ...limit });
      const close = await transport.closed;
      assert.equal(close?.error?.code, 'QUEUE_FULL');
    },
  );
});

void test('bad arguments are named', async () => {
  type Options = Parameters<typeof connect>[1];
  const call = async (address: unknown, options: unknown): Promise<unknown> => connect(address as string, options as Options);
  await assert.rejects(call('ws://localhost', undefined), { name: 'TypeError', message: /^options/ });
  await assert.rejects(call('ws://localhost', {}), { name: 'TypeError', message: /^nodeId/ });
  await assert.rejects(call('ws://localhost', { nodeId: '02' }), { name: 'RangeError', message: /^nodeId/ });
  await assert.rejects(call('ws://localhost', { nodeId: new Uint8Array(33) }), { code: 'INVALID_PUBLIC_KEY' });
  await assert.rejects(call('ws://localhost', { nodeId: bobKey, secretKey: 'x' }), { name: 'TypeError', message: /^secretKey/ });
  await assert.rejects(call('http://localhost', { nodeId: bobKey }), { name: 'TypeError', message: /^address/ });
  await assert.rejects(call('tcp://', { nodeId: bobKey }), { name: 'TypeError', message: /^address/ });
  await assert.rejects(call(null, { nodeId: bobKey }), { name: 'TypeError', message: /^transport/ });
  await assert.rejects(call({}, { nodeId: bobKey }), { name: 'TypeError', message: /^transport\.readable/ });
  const [transport] = transportPair();
  await assert.rejects(call(transport, { nodeId: bobKey, timeoutMs: 0 }), { name: 'RangeError', message: /^timeoutMs/ });
  await assert.rejects(call('ws://localhost', { nodeId: bobKey, timeoutMs: 0 }), { name: 'RangeError', message: /^timeoutMs/ });
  await assert.rejects(call('ws://localhost', { nodeId: bobKey, signal: 1 }), { name: 'TypeError', message: /^signal/ });
  await assert.rejects(call('ws://localhost', { nodeId: bobKey, maxFrameBytes: 0 }), { name: 'RangeError', message: /^maxFrameBytes/ });
});
