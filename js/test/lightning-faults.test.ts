import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { init } from 'brontosig';
import { Machine, publicKey } from 'brontosig/brontide';
import { connectPeer, type Peer, type PeerOptions } from 'brontosig/lightning';
import { connectPeerWith } from '../../dist/connect-peer.js';
import { tcpServer, withServer } from './connections.js';
import { withDemoBridge } from './demo-bridge.js';
import { FakeTiming } from './fake-timing.js';
import { accepted, bob, limit, meet, next, plainInit, take, welcome } from './meet.js';

let bobHex: string;

before(async () => {
  await init();
  bobHex = Buffer.from(publicKey(bob)).toString('hex');
});

after(async () => {
  // What keeps a process alive. Sockets take some turns of the event loop to be
  // gone; if something stays, the file runs into the runner's time limit.
  const held = (): string[] => process.getActiveResourcesInfo().filter((kind) => /Timeout|TCP|HTTP|GetAddrInfo/.test(kind));
  while (held().length > 0) {
    await new Promise(setImmediate);
  }
});

/** A node of bytes: what it has decrypted, and how to send what it likes. */
interface RawNode {
  readonly socket: Socket;
  readonly machine: Machine;
}

/** Connects a peer to a node that speaks properly up to init, and leaves the rest to the test. */
async function withRawNode(
  options: PeerOptions,
  body: (peer: Peer, node: RawNode, timing: FakeTiming) => Promise<void>,
): Promise<void> {
  let arrived: (node: RawNode) => void = () => undefined;
  const node = new Promise<RawNode>((resolve) => {
    arrived = resolve;
  });
  const timing = new FakeTiming();
  const server = tcpServer((socket) => {
    const machine = new Machine({ role: 'responder', secretKey: bob });
    const onData = (data: Buffer): void => {
      const { send, messages } = machine.receive(data);
      if (send !== undefined) {
        socket.write(send);
      }
      if (messages.length > 0) {
        socket.off('data', onData);
        socket.write(machine.encrypt(plainInit));
        arrived({ socket, machine });
      }
    };
    socket.on('data', onData);
  });
  await withServer(server, async (port) => {
    const peer = await connectPeerWith(timing, `${bobHex}@127.0.0.1:${port}`, { ...limit, ...options });
    await body(peer, await node, timing);
    await peer.close();
    assert.equal(timing.timers, 0);
  });
}

/** Everything that can wait on a peer, with the code that it must end with. */
async function allEndWith(peer: Peer, code: string): Promise<void> {
  await Promise.all([
    assert.rejects(peer.messages().next(), { code }),
    assert.rejects(peer.ping(limit), { code }),
    assert.rejects(peer.commando('pay', {}, { rune: 'r', ...limit }), { code }),
    peer.closed.then(({ error }) => {
      assert.equal(error?.code, code);
    }),
  ]);
}

void test('garbage where init should be', async () => {
  const garbage = tcpServer((socket) => {
    const machine = new Machine({ role: 'responder', secretKey: bob });
    socket.on('data', (data) => {
      const { send } = machine.receive(data);
      if (send !== undefined) {
        socket.write(send);
      }
      if (machine.state === 'ready') {
        socket.write(new Uint8Array(200).fill(5));
      }
    });
  });
  await withServer(garbage, async (port) => {
    await assert.rejects(connectPeer(`${bobHex}@127.0.0.1:${port}`, limit), { code: 'MAC_FAILED' });
  });
});

void test('bytes that are not authentic, in a header and in a body', async () => {
  for (const at of [0, 17, 18, 30]) {
    await withRawNode({}, async (peer, { socket, machine }) => {
      const ended = allEndWith(peer, 'MAC_FAILED');
      const packet = machine.encrypt(Uint8Array.of(0x80, 0x01, 1, 2, 3));
      packet[at]! ^= 1;
      socket.write(packet);
      await ended;
    });
  }
});

void test('a node that dies in the middle of a message', async () => {
  for (const die of [(socket: Socket) => socket.destroy(), (socket: Socket) => socket.resetAndDestroy(), (socket: Socket) => socket.end()]) {
    await withRawNode({}, async (peer, { socket, machine }) => {
      const ended = allEndWith(peer, 'CONNECTION_CLOSED');
      socket.write(machine.encrypt(new Uint8Array(60_000)).subarray(0, 30_000), () => {
        die(socket);
      });
      await ended;
    });
  }
});

void test('a bridge that dies in the middle of a reply', async () => {
  await withDemoBridge(async ({ bridge, nodeId, address, rune, child }) => {
    const peer = await connectPeer(`${nodeId}@${address}`, { bridge, ...limit });
    const states: string[] = [];
    peer.on('state', (state) => states.push(state));
    const calls = Array.from({ length: 4 }, async () =>
      assert.rejects(peer.commando('pattern', { bytes: 30_000_000 }, { rune, ...limit }), { code: 'CONNECTION_CLOSED' }),
    );
    await peer.ping(limit);
    const gone = once(child, 'close');
    child.kill('SIGKILL');
    await Promise.all(calls);
    assert.equal((await peer.closed).error?.code, 'CONNECTION_CLOSED');
    assert.deepEqual(states, ['closed']);
    await gone;
  });
});

void test('a wrong key, through the bridge', async () => {
  await withDemoBridge(async ({ bridge, address }) => {
    await assert.rejects(connectPeer(`${bobHex}@${address}`, { bridge, ...limit }), { code: 'AUTHENTICATION_FAILED' });
  });
});

void test('a thousand messages on a link that is dead', async () => {
  // The node reads nothing, so most of them never leave this process.
  await withRawNode({ keepalive: { intervalMs: 10_000, timeoutMs: 5_000 }, closeTimeoutMs: 100 }, async (peer, { socket }, timing) => {
    socket.pause();
    const payload = new Uint8Array(60_000);
    const codes = new Map<string, number>();
    const sends = Array.from({ length: 1000 }, async () =>
      peer.send(40_001, payload).then(
        () => 'sent',
        (error: unknown) => (error as { code: string }).code,
      ),
    );
    await timing.pass(10_000); // what was sent counts as traffic; nothing came back
    await timing.pass(5_000);
    for (const code of await Promise.all(sends)) {
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    assert.equal((await peer.closed).error?.code, 'TIMEOUT');
    assert.equal([...codes.values()].reduce((a, b) => a + b), 1000);
    assert.deepEqual([...codes.keys()].filter((code) => !['sent', 'CONNECTION_CLOSED', 'TIMEOUT'].includes(code)), []);
    assert.ok((codes.get('sent') ?? 0) < 900, 'the link was not dead');
  });
});

void test('a node that hangs up while the reader is slow', async () => {
  await withRawNode({ maxQueuedBytes: 1 << 18, keepalive: false }, async (peer, { socket, machine }, timing) => {
    const message = new Uint8Array(60_000);
    message.set([0x80, 0x01]);
    for (let i = 0; i < 4; i++) {
      socket.write(machine.encrypt(message));
    }
    await timing.timerSet(); // full: nothing is read any more
    socket.end();
    const { by, error } = await peer.closed;
    assert.deepEqual({ by, error }, { by: 'remote', error: undefined });
    let count = 0;
    for await (const { payload } of peer.messages()) {
      count += payload.length / 59_998;
    }
    assert.equal(count, 4);
  });
});

void test('a slow link is not a dead one', async () => {
  await withRawNode({ keepalive: { intervalMs: 10_000, timeoutMs: 5_000 }, closeTimeoutMs: 100 }, async (peer, { socket, machine }, timing) => {
    socket.pause();
    const sends = Array.from({ length: 400 }, async () => peer.send(40_001, new Uint8Array(60_000)));
    const ended = Promise.all(sends.map(async (send) => send.catch(() => undefined)));
    // A pong that cannot go out does not keep what comes from being read.
    const messages = peer.messages();
    socket.write(machine.encrypt(Uint8Array.of(0, 18, 0, 1, 0, 0)));
    socket.write(machine.encrypt(Uint8Array.of(0x80, 0x01, 5)));
    assert.deepEqual((await take(messages)).payload, Uint8Array.of(5));

    await timing.pass(10_000); // a ping, behind all that
    await timing.pass(4_000);
    socket.resume();
    await sends[100];
    socket.pause();
    await timing.pass(4_900);
    assert.equal(peer.state, 'open');
    // Four times as long is the most, however much still goes out.
    await timing.pass(11_100);
    assert.equal((await peer.closed).error?.code, 'TIMEOUT');
    await ended;
  });
});

void test('close during send, and twice', async () => {
  await withRawNode({ closeTimeoutMs: 100, keepalive: false }, async (peer, { socket }) => {
    socket.pause();
    const sends = Array.from({ length: 100 }, async () => peer.send(40_001, new Uint8Array(60_000)).catch((error: unknown) => error));
    const waits = Promise.all([
      assert.rejects(peer.ping(limit), { code: 'CONNECTION_CLOSED' }),
      assert.rejects(peer.commando('pay', {}, { rune: 'r', ...limit }), { code: 'CONNECTION_CLOSED' }),
    ]);
    const end = peer.messages().next();
    await Promise.all([peer.close(), peer.close()]);
    await peer.close();
    for (const error of await Promise.all(sends)) {
      assert.ok(error === undefined || (error as { code: string }).code === 'CONNECTION_CLOSED', String(error));
    }
    await waits;
    assert.equal((await end).done, true);
    const info = await peer.closed;
    assert.equal(info.by, 'local');
    assert.equal(info.error, undefined);
  });
});

void test('abort before, during and after connecting', async () => {
  await assert.rejects(connectPeer(`${bobHex}@127.0.0.1:1`, { signal: AbortSignal.abort() }), { code: 'ABORTED' });

  const controllers = { handshake: new AbortController(), init: new AbortController(), open: new AbortController() };
  await withServer(tcpServer(() => {
    controllers.handshake.abort();
  }), async (port) => {
    const { signal } = controllers.handshake;
    await assert.rejects(connectPeer(`${bobHex}@127.0.0.1:${port}`, { signal, ...limit }), { code: 'ABORTED' });
  });
  await withServer(tcpServer((socket) => {
    void accepted(socket).then(async (node) => {
      await next(node);
      controllers.init.abort();
    });
  }), async (port) => {
    const { signal } = controllers.init;
    await assert.rejects(connectPeer(`${bobHex}@127.0.0.1:${port}`, { signal, ...limit }), { code: 'ABORTED' });
  });
  await withServer(tcpServer((socket) => {
    welcome(accepted(socket)).catch(() => undefined);
  }), async (port) => {
    const { signal } = controllers.open;
    const peer = await connectPeer(`${bobHex}@127.0.0.1:${port}`, { signal, ...limit });
    const ended = allEndWith(peer, 'ABORTED');
    controllers.open.abort();
    await ended;
    await assert.rejects(peer.send(40_001, new Uint8Array()), { code: 'ABORTED' });
  });
});

void test('what a node says before it hangs up', async () => {
  const { peer, node } = await meet();
  const said = Uint8Array.of(0, 17, ...Array<number>(32).fill(0), 0, 7, ...Buffer.from('go away'));
  const heard = new Promise((resolve) => peer.on('error', resolve));
  await node.send(said);
  await heard;
  await node.close();
  const { by, reason } = await peer.closed;
  assert.deepEqual({ by, reason }, { by: 'remote', reason: 'go away' });
});
