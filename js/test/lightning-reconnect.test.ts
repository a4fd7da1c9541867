import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { publicKey, type Connection } from 'brontosig/brontide';
import type { Disconnect, Peer, PeerOptions } from 'brontosig/lightning';
import { connectPeerWith } from '../../dist/connect-peer.js';
import { tcpServer, type TestServer } from './connections.js';
import { FakeTiming } from './fake-timing.js';
import { accepted, bob, limit, next, take, welcome } from './meet.js';

before(async () => init());

const carol = new Uint8Array(32).fill(3);

/** A node that the test lets come and go. */
class Node {
  /** What it does with the next socket. */
  behave: (socket: Socket) => void = (socket) => {
    this.welcome(socket);
  };
  /** The connections on which init was exchanged. */
  readonly connections: Connection[] = [];
  /** The first bytes of each socket: act one. */
  readonly acts: string[] = [];
  attempts = 0;
  server!: TestServer;
  #waiting: ((connection: Connection) => void)[] = [];

  static async start(): Promise<Node> {
    const node = new Node();
    node.server = await tcpServer((socket) => {
      node.attempts++;
      socket.once('data', (act: Buffer) => node.acts.push(act.toString('hex', 0, 50)));
      node.behave(socket);
    });
    return node;
  }

  get uri(): string {
    return `${Buffer.from(publicKey(bob)).toString('hex')}@127.0.0.1:${this.server.port}`;
  }

  welcome(socket: Socket, secretKey = bob): void {
    welcome(accepted(socket, secretKey)).then(
      (connection) => {
        this.connections.push(connection);
        this.#waiting.shift()?.(connection);
      },
      () => undefined,
    );
  }

  /** The next connection. */
  async next(): Promise<Connection> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }
}

/** Runs a test with a node and a peer of it that reconnects. */
async function withNode(
  options: PeerOptions,
  body: (peer: Peer, node: Node, timing: FakeTiming, first: Connection) => Promise<void>,
): Promise<void> {
  const node = await Node.start();
  const timing = new FakeTiming();
  try {
    const arrived = node.next();
    const peer = await connectPeerWith(timing, node.uri, { reconnect: true, keepalive: false, ...limit, ...options });
    try {
      await body(peer, node, timing, await arrived);
    } finally {
      await peer.close();
      assert.equal(timing.timers, 0);
    }
  } finally {
    await node.server.stop();
  }
}

/** The next event of a kind. */
async function event(peer: Peer, kind: 'state' | 'disconnect' | 'close'): Promise<unknown> {
  return new Promise((resolve) => {
    const stop = peer.on(kind, (detail) => {
      stop();
      resolve(detail);
    });
  });
}

void test('a peer outlives its connections', async () => {
  await withNode({ features: [1, 13] }, async (peer, node, timing, first) => {
    const states: string[] = [];
    peer.on('state', (state) => states.push(state));
    const disconnects: Disconnect[] = [];
    peer.on('disconnect', (disconnect) => disconnects.push(disconnect));
    const messages = peer.messages();
    await first.send(Uint8Array.of(0x80, 0x01, 1));
    assert.deepEqual((await take(messages)).payload, Uint8Array.of(1));
    const acrossTheOutage = take(messages);
    const localKey = peer.localKey;

    const pending = assert.rejects(peer.ping(limit), { code: 'CONNECTION_CLOSED' });
    const calling = assert.rejects(peer.commando('pay', {}, { rune: 'r' }), { code: 'CONNECTION_CLOSED' });
    await next(first);
    await next(first);
    const lost = event(peer, 'disconnect');
    await first.close();
    await Promise.all([pending, calling, lost]);
    assert.equal(peer.state, 'reconnecting');
    // Nothing is sent, kept or repeated in an outage.
    await assert.rejects(peer.send(40_001, new Uint8Array()), { code: 'NOT_CONNECTED' });
    await assert.rejects(peer.ping(limit), { code: 'NOT_CONNECTED' });
    await assert.rejects(peer.commando('pay', {}, { rune: 'r' }), { code: 'NOT_CONNECTED' });
    assert.deepEqual(disconnects.map(({ attempt, delayMs }) => [attempt, delayMs]), [[1, 750]]);
    assert.equal(disconnects[0]?.info.by, 'remote');

    const arrived = node.next();
    const open = event(peer, 'state');
    await timing.pass(750);
    const second = await arrived;
    assert.equal(await open, 'open');
    assert.deepEqual(states, ['reconnecting', 'open']);
    await second.send(Uint8Array.of(0x80, 0x01, 2));
    assert.deepEqual((await acrossTheOutage).payload, Uint8Array.of(2));
    await peer.send(40_001, Uint8Array.of(7));
    assert.equal((await next(second))[2], 7);

    // The same node to the other side, but never the same ephemeral key.
    assert.deepEqual(second.remoteKey, first.remoteKey);
    assert.deepEqual(peer.localKey, localKey);
    assert.deepEqual(first.remoteKey, localKey);
    assert.equal(node.acts.length, 2);
    assert.notEqual(node.acts[0]?.slice(2, 68), node.acts[1]?.slice(2, 68));

    const end = messages.next();
    await peer.close();
    assert.equal((await end).done, true);
    assert.deepEqual(states, ['reconnecting', 'open', 'closed']);
    assert.equal((await peer.closed).by, 'local');
    assert.equal(node.attempts, 2);
  });
});

void test('waits grow, have a cap and a part by chance, and start over after a while', async () => {
  await withNode({ reconnect: { minDelayMs: 1000, maxDelayMs: 5000 } }, async (peer, node, timing, first) => {
    const disconnects: Disconnect[] = [];
    peer.on('disconnect', (disconnect) => disconnects.push(disconnect));
    const delays = (): number[][] => disconnects.splice(0).map(({ attempt, delayMs }) => [attempt, delayMs]);
    /** Hangs up at the peer's next attempts, until it gives them up. */
    const lose = async (connection: Connection): Promise<void> => {
      const lost = event(peer, 'disconnect');
      await connection.close();
      await lost;
    };
    const attempt = async (): Promise<Connection> => {
      const arrived = node.next();
      const open = event(peer, 'state');
      await timing.pass(timing.due);
      assert.equal(await open, 'open');
      return arrived;
    };
    // A node that hangs up soon after init, again and again.
    let connection = first;
    for (const chance of [0, 0.999_999, 0, 0.5, 0.999_999]) {
      timing.chance = chance;
      await lose(connection);
      connection = await attempt();
    }
    assert.deepEqual(delays(), [[1, 500], [2, 2000], [3, 2000], [4, 3750], [5, 5000]]);
    // Only a connection that has lasted lets the waits start over.
    timing.chance = 0;
    await timing.pass(29_999 - 1);
    await lose(connection);
    connection = await attempt();
    await timing.pass(30_000);
    await lose(connection);
    assert.deepEqual(delays(), [[6, 2500], [1, 500]]);

    // Nobody there.
    await node.server.stop();
    for (let i = 0; i < 3; i++) {
      const again = event(peer, 'disconnect');
      await timing.pass(timing.due);
      await again;
      assert.equal(disconnects.at(-1)?.info.error?.code, 'CONNECTION_FAILED');
    }
    assert.deepEqual(delays(), [[2, 1000], [3, 2000], [4, 2500]]);
    node.server = await tcpServer(() => undefined);
  });
});

void test('what will not pass is not tried again', async () => {
  const network = (fill: number): number[] => [1, 32, ...Array<number>(32).fill(fill)];
  const refuses = async (code: string, behave: (node: Node, socket: Socket) => void, options: PeerOptions = {}): Promise<void> => {
    await withNode(options, async (peer, node, timing, first) => {
      node.behave = (socket) => {
        behave(node, socket);
      };
      const lost = event(peer, 'disconnect');
      await first.close();
      await lost;
      await timing.pass(timing.due);
      const info = await peer.closed;
      assert.equal(info.error?.code, code);
      assert.equal(peer.state, 'closed');
      assert.equal(node.attempts, 2);
      await assert.rejects(peer.ping(limit), { code });
    });
  };
  const says = (message: number[]) => (_: Node, socket: Socket): void => {
    void accepted(socket).then(async (connection) => connection.send(Uint8Array.from(message)));
  };
  await refuses('AUTHENTICATION_FAILED', (node, socket) => {
    node.welcome(socket, carol);
  });
  await refuses('NO_COMMON_NETWORK', says([0, 16, 0, 0, 0, 0, ...network(8)]), { networks: [new Uint8Array(32)] });
  await refuses('UNKNOWN_FEATURE', says([0, 16, 0, 0, 0, 126, 1, ...Array<number>(125).fill(0)]));
  await refuses('FEATURE_DEPENDENCY', says([0, 16, 0, 0, 0, 7, 8, 0, 0, 0, 0, 0, 0]));
});

void test('a node that breaks the rules, and a reader that does not read, end the peer', async () => {
  await withNode({}, async (peer, _node, _timing, first) => {
    await first.send(Uint8Array.of(0x7f, 0xfe));
    assert.equal((await peer.closed).error?.code, 'UNKNOWN_MESSAGE_TYPE');
  });
  await withNode({ maxQueuedBytes: 1 << 18 }, async (peer, _node, timing, first) => {
    const flood = async (): Promise<never> => {
      for (;;) {
        await first.send(Uint8Array.from({ length: 60_000 }, (_, i) => (i === 0 ? 0x80 : 1)));
      }
    };
    const flooded = assert.rejects(flood(), { code: 'CONNECTION_CLOSED' });
    await timing.timerSet();
    await timing.pass(20_000);
    assert.equal((await peer.closed).error?.code, 'QUEUE_FULL');
    await flooded;
  });
});

void test('close and abort end a peer in every state', async () => {
  const states = {
    open: async () => Promise.resolve(),
    'between two attempts': async (peer: Peer, _node: Node, _timing: FakeTiming, first: Connection) => {
      const lost = event(peer, 'disconnect');
      await first.close();
      await lost;
    },
    'in an attempt': async (peer: Peer, node: Node, timing: FakeTiming, first: Connection) => {
      const lost = event(peer, 'disconnect');
      await first.close();
      await lost;
      const arrived = new Promise<void>((resolve) => {
        node.behave = () => {
          resolve();
        };
      });
      await timing.pass(timing.due);
      await arrived;
    },
  };
  for (const [name, reach] of Object.entries(states)) {
    for (const how of ['close', 'abort'] as const) {
      const controller = new AbortController();
      await withNode({ signal: controller.signal }, async (peer, node, timing, first) => {
        await reach(peer, node, timing, first);
        const { attempts } = node;
        const ended = event(peer, 'close');
        const end = peer.messages().next();
        end.catch(() => undefined);
        if (how === 'close') {
          await Promise.all([peer.close(), peer.close()]);
        } else {
          controller.abort();
        }
        const info = await peer.closed;
        assert.equal(info.by, 'local', `${how} ${name}`);
        assert.equal(info.error?.code, how === 'close' ? undefined : 'ABORTED', `${how} ${name}`);
        assert.deepEqual(await ended, info);
        if (how === 'close') {
          assert.equal((await end).done, true);
        } else {
          await assert.rejects(end, { code: 'ABORTED' });
        }
        await assert.rejects(peer.send(40_001, new Uint8Array()), { code: how === 'close' ? 'CONNECTION_CLOSED' : 'ABORTED' });
        assert.equal(timing.timers, 0);
        assert.equal(node.attempts, attempts);
      });
    }
  }
});

void test('the first attempt is the caller\'s to repeat', async () => {
  const timing = new FakeTiming();
  const node = await Node.start();
  const { uri } = node;
  await node.server.stop();
  await assert.rejects(connectPeerWith(timing, uri, { reconnect: true, ...limit }), { code: 'CONNECTION_FAILED' });
  assert.equal(timing.timers, 0);
});
