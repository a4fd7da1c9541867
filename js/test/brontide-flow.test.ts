import assert from 'node:assert/strict';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { init } from 'brontosig';
import { connect, publicKey, type Connection, type WebSocketConstructor } from 'brontosig/brontide';
import { READER_PATIENCE } from '../../dist/limits.js';
import { tcpTransport } from '../../dist/network-node.js';
import { WebSocket } from 'ws';
import { webSocketServer, withServer } from './connections.js';
import { bob, webSocketEcho } from './echo.js';

const limit = { timeoutMs: 30_000 };
const MiB = 1 << 20;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

before(() => init());

/** Bytes in buffers of this process. */
function buffered(): number {
  collect();
  return process.memoryUsage().arrayBuffers;
}

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    await new Promise(setImmediate);
  }
}

/** Runs something with a connection over TCP to a process that sends so many messages of 65,535 bytes. */
async function flooded(
  count: number,
  limits: { maxQueuedBytes: number; patienceMs: number },
  body: (connection: Connection, socket: Socket, sender: ChildProcess) => Promise<void>,
): Promise<void> {
  const sender = fork(fileURLToPath(new URL('flood.js', import.meta.url)), [String(count)]);
  const ended = once(sender, 'close');
  try {
    const [port] = (await once(sender, 'message')) as [number];
    const socket = connectTcp({ port, host: '127.0.0.1' });
    await once(socket, 'connect');
    const connection = await connect(tcpTransport(socket, limits), { nodeId: publicKey(bob), ...limit });
    await body(connection, socket, sender);
    await connection.close();
  } finally {
    sender.kill('SIGKILL');
    await ended;
  }
}

test('over TCP, a reader that pauses slows the node for 64 MiB, and misses nothing', { timeout: 60_000 }, async (t) => {
  const maxQueuedBytes = 4 * MiB;
  const count = 1024;
  await flooded(count, { maxQueuedBytes, patienceMs: READER_PATIENCE }, async (connection, socket, sender) => {
    const least = buffered();
    await connection.send(new Uint8Array(1)); // which starts the flood
    await once(socket, 'pause');
    await turns(100);
    const waiting = buffered() - least;
    const kept = socket.bytesRead;
    sender.send('how far');
    const [accepted] = (await once(sender, 'message')) as [number];
    t.diagnostic(`${kept} bytes wait at the reader, in ${waiting} bytes of buffers; the node has sent ${accepted}`);
    assert.ok(waiting < maxQueuedBytes + MiB / 2, `${waiting} bytes in buffers`);
    // Node itself may have read one chunk more.
    assert.ok(kept > maxQueuedBytes / 2 && kept <= maxQueuedBytes + 65_536, `${kept} bytes read`);
    // What is between them is in the buffers of the system.
    assert.ok(accepted < (count * 65_535) / 2, `the node could send ${accepted} bytes`);
    let next = 0;
    let most = 0;
    for await (const message of connection) {
      assert.equal(message.length, 65_535);
      assert.equal(new DataView(message.buffer, message.byteOffset).getUint32(0), next++);
      if (next % 64 === 0) {
        most = Math.max(most, buffered() - least);
      }
      if (next === count) {
        break;
      }
    }
    t.diagnostic(`at most ${most} bytes in buffers while it was read`);
    // Engines free buffers that have been collected a little later.
    assert.ok(most < 4 * maxQueuedBytes, `${most} bytes in buffers`);
  });
});

test('a reader that pauses for too long ends the connection, and can read what had come', { timeout: 60_000 }, async () => {
  assert.equal(READER_PATIENCE, 20_000);
  const maxQueuedBytes = MiB;
  await flooded(1024, { maxQueuedBytes, patienceMs: 200 }, async (connection) => {
    await connection.send(new Uint8Array(1));
    const info = await connection.closed;
    assert.equal(info.error?.code, 'QUEUE_FULL');
    assert.equal(info.by, 'local');
    let count = 0;
    await assert.rejects(
      (async () => {
        for await (const message of connection) {
          assert.equal(message.length, 65_535);
          count++;
        }
      })(),
      { code: 'QUEUE_FULL' },
    );
    assert.ok(count >= 8 && count <= 16, `${count} messages in 1 MiB`);
    await assert.rejects(connection.send(new Uint8Array(1)), { code: 'QUEUE_FULL' });
  });
});

/** What a socket was given, and how much of it waited. */
class Watched extends WebSocket {
  static made = 0;
  static longest = 0;
  static mostBuffered = 0;

  constructor(url: string) {
    super(url);
    Watched.made++;
  }

  override send(data: Uint8Array, done?: unknown): void {
    Watched.longest = Math.max(Watched.longest, data.length);
    super.send(data, done as () => void);
    Watched.mostBuffered = Math.max(Watched.mostBuffered, this.bufferedAmount);
  }
}

test('a send settles when there is room, so that awaiting it bounds what waits', { timeout: 60_000 }, async () => {
  // The node reads nothing until it is told to.
  let go = (): void => undefined;
  const server = webSocketServer((socket) => {
    webSocketEcho(socket);
    socket.once('message', () => {
      socket.once('message', () => {
        socket.pause();
        go = () => {
          socket.resume();
        };
      });
    });
  });
  await withServer(server, async (port) => {
    const connection = await connect(`ws://127.0.0.1:${port}`, {
      nodeId: publicKey(bob),
      WebSocket: Watched as unknown as WebSocketConstructor,
      ...limit,
    });
    assert.equal(Watched.made, 1, 'the option is what makes the socket');
    const reading = (async () => {
      let count = 0;
      for await (const message of connection) {
        assert.equal(message.length, 65_535);
        if (++count === 512) {
          break;
        }
      }
    })();
    const writer = connection.writable.getWriter();
    let written = 0;
    const writing = (async () => {
      for (; written < 512; written++) {
        await writer.ready;
        await writer.write(new Uint8Array(65_535));
      }
    })();
    // Until no write has settled for a good while.
    for (let before = -1; before !== written; ) {
      before = written;
      await turns(3000);
    }
    assert.ok(written < 500, `${written} messages were written to a node that does not read`);
    go();
    await Promise.all([writing, reading]);
    assert.ok(Watched.longest <= 16_384, `a WebSocket message of ${Watched.longest} bytes`);
    assert.ok(Watched.mostBuffered < MiB / 2, `${Watched.mostBuffered} bytes waited in the socket`);
  });
});
