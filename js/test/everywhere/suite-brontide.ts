import { accept, connect, Machine, publicKey, type ConnectOptions, type Connection, type Transport } from 'brontosig/brontide';
import { connectPeer } from 'brontosig/lightning';
import { codeOf, fails, ok, same } from './expect.js';
import { nodeSecret, type Carrier, type Place, type Suite } from './places.js';

const limit = { timeoutMs: 15_000 };

/** What a test does on one carrier. */
type Reach = (node: string, options?: Partial<ConnectOptions>) => Promise<Connection>;

/** Runs a test on every carrier that there is. */
function onEach(body: (reach: Reach, carrier: Carrier) => Promise<void>): (place: Place) => Promise<void> {
  return async ({ carriers }) => {
    for (const carrier of carriers) {
      const reach: Reach = async (node, options) =>
        connect(carrier.addresses[node] ?? '', { nodeId: publicKey(nodeSecret), ...limit, ...options });
      try {
        await body(reach, carrier);
      } catch (cause) {
        throw new Error(`over ${carrier.name}: ${String(cause)}`, { cause });
      }
    }
  };
}

async function next(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  const { done, value } = (await iterator.next()) as IteratorResult<Uint8Array, undefined>;
  ok(done !== true, 'the messages ended');
  return value;
}

/** Two transports, each of which is the other end of the other; `cut` says how what goes one way is cut. */
function pair(cut: (bytes: Uint8Array) => Uint8Array[] = (bytes) => [bytes]): [near: Transport, far: Transport] {
  const room = { highWaterMark: 64 };
  const there = new TransformStream<Uint8Array, Uint8Array>({}, room, room);
  const back = new TransformStream<Uint8Array, Uint8Array>(
    {
      transform(chunk, out) {
        for (const piece of cut(chunk)) {
          out.enqueue(piece);
        }
      },
    },
    room,
    room,
  );
  // A pair of streams ends through its streams.
  const close = (): void => undefined;
  return [
    { readable: back.readable, writable: there.writable, close },
    { readable: there.readable, writable: back.writable, close },
  ];
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

/** The code for a node that has died: a bridge says of it that it cannot be reached any more. */
function brokenCode(carrier: Carrier['name'], died: boolean): string {
  return carrier === 'bridge' && died ? 'NODE_UNREACHABLE' : 'CONNECTION_CLOSED';
}

/** The tests of connections, for every place. */
export const brontideSuite: Suite = {
  'messages of every size go there and back': onEach(async (reach) => {
    for (const node of ['echo', 'bytewise']) {
      const connection = await reach(node);
      const iterator = connection[Symbol.asyncIterator]();
      for (const size of [0, 1, 100, ...(node === 'echo' ? [16_384, 65_535] : [])]) {
        const message = new Uint8Array(size).fill(size & 0xff);
        await connection.send(message);
        same(await next(iterator), message, `${size} bytes from ${node}`);
      }
      await connection.close();
      same((await connection.closed).by, 'local', 'who closed');
      await fails(connection.send(new Uint8Array()), 'CONNECTION_CLOSED', 'sending after the end');
    }
  }),

  'the streams are streams': onEach(async (reach) => {
    const connection = await reach('echo');
    const source = new ReadableStream<Uint8Array>({
      start(controller) {
        for (let i = 0; i < 50; i++) {
          controller.enqueue(new Uint8Array(1000).fill(i));
        }
      },
    });
    const sending = source.pipeTo(connection.writable).catch(() => undefined);
    let count = 0;
    for await (const message of connection) {
      same(message, new Uint8Array(1000).fill(count), `message ${count}`);
      if (++count === 50) {
        break; // which closes the connection
      }
    }
    same((await connection.closed).by, 'local', 'who closed');
    await sending;
  }),

  'a stream that is closed closes the connection, after what was written': onEach(async (reach) => {
    const connection = await reach('echo');
    const writer = connection.writable.getWriter();
    void writer.write(new Uint8Array(60_000));
    await writer.close();
    same((await connection.closed).by, 'local', 'who closed');
    const other = await reach('echo');
    const waiting = other.writable.getWriter();
    await other.close();
    await fails(waiting.closed.then(() => undefined), 'CONNECTION_CLOSED', 'the writer of an ended connection');
  }),

  'act two and messages may be cut anywhere': async () => {
    for (let at = 0; at <= 50; at++) {
      const [near, far] = pair((bytes) => [bytes.slice(0, at), bytes.slice(at)]);
      const [connection, node] = await Promise.all([
        connect(near, { nodeId: publicKey(nodeSecret), ...limit }),
        accept(far, { secretKey: nodeSecret, ...limit }),
      ]);
      const sent = [Uint8Array.of(at), new Uint8Array(40), new Uint8Array()];
      const iterator = connection[Symbol.asyncIterator]();
      for (const message of sent) {
        await node.send(message);
        same(await next(iterator), message, `cut at ${at}`);
      }
      await Promise.all([connection.close(), node.close()]);
    }
  },

  'act three and messages behind it may be cut anywhere, or come together': async () => {
    const size = 66 + 34 + 35 + 74;
    for (let at = 0; at <= size; at++) {
      const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>({}, { highWaterMark: 8 });
      const answers = new TransformStream<Uint8Array, Uint8Array>({}, { highWaterMark: 8 });
      const writer = writable.getWriter();
      const accepting = accept({ readable, writable: answers.writable, close: () => undefined }, { secretKey: nodeSecret, ...limit });
      const machine = new Machine({ role: 'initiator', secretKey: new Uint8Array(32).fill(1), remoteKey: publicKey(nodeSecret) });
      const act = machine.start();
      // Act one is cut as well.
      await writer.write(act.slice(0, at % 50));
      await writer.write(act.slice(at % 50));
      const { value } = await answers.readable.getReader().read();
      const actThree = machine.receive(value ?? new Uint8Array()).send;
      ok(actThree, 'no act three');
      const messages = [new Uint8Array(), Uint8Array.of(1), new Uint8Array(40).fill(2)];
      const all = joined([actThree, ...messages.map((message) => machine.encrypt(message))]);
      same(all.length, size, 'bytes');
      // Not awaited: a write that is empty at the end is never asked for.
      void codeOf(writer.write(all.slice(0, at)));
      void codeOf(writer.write(all.slice(at)));
      const connection = await accepting;
      const iterator = connection[Symbol.asyncIterator]();
      for (const message of messages) {
        same(await next(iterator), message, `cut at ${at}`);
      }
      machine.dispose();
      await connection.close();
    }
  },

  'a wrong node key': onEach(async (reach) => {
    await fails(reach('echo', { nodeId: publicKey(new Uint8Array(32).fill(9)) }), 'AUTHENTICATION_FAILED', 'wrong key');
  }),

  'a node that hangs up in each act': onEach(async (reach, { name }) => {
    const atOnce = await codeOf(reach('endsAtOnce'));
    ok(['AUTHENTICATION_FAILED', 'CONNECTION_CLOSED', 'CONNECTION_FAILED'].includes(atOnce), `at once: ${atOnce}`);
    await fails(reach('endsAfterActOne'), 'AUTHENTICATION_FAILED', 'after act one');
    await fails(reach('killsAfterActOne'), 'AUTHENTICATION_FAILED', 'reset after act one');
    // A bridge says of an answer that is no whole act two that it is none.
    await fails(reach('endsInActTwo'), brokenCode(name, true), 'in act two');
    await fails(reach('badActTwo'), 'AUTHENTICATION_FAILED', 'a bad act two');
    // A bridge passes on nothing that is no act two.
    await fails(reach('wrongVersion'), name === 'bridge' ? 'NODE_UNREACHABLE' : 'PROTOCOL_ERROR', 'another version');
  }),

  'an initiator that hangs up in each act': async () => {
    for (const [acts, cut, code] of [
      [1, 0, 'CONNECTION_CLOSED'],
      [1, 20, 'CONNECTION_CLOSED'],
      [2, 0, 'CONNECTION_CLOSED'],
      [2, 30, 'CONNECTION_CLOSED'],
    ] as const) {
      const [near, far] = pair();
      const accepting = accept(far, { secretKey: nodeSecret, ...limit });
      const machine = new Machine({ role: 'initiator', secretKey: new Uint8Array(32).fill(1), remoteKey: publicKey(nodeSecret) });
      const [reader, writer] = [near.readable.getReader(), near.writable.getWriter()];
      let act: Uint8Array = machine.start();
      if (acts === 2) {
        await writer.write(act);
        act = machine.receive((await reader.read()).value ?? new Uint8Array()).send ?? new Uint8Array();
      }
      void writer.write(act.slice(0, cut));
      writer.close().catch(() => undefined);
      await fails(accepting, code, `in act ${acts === 1 ? 'one' : 'three'}, after ${cut} bytes`);
      machine.dispose();
    }
  },

  'garbage after the handshake': onEach(async (reach) => {
    const connection = await reach('garbage');
    await fails(connection[Symbol.asyncIterator]().next(), 'MAC_FAILED', 'reading');
    const info = await connection.closed;
    same(info.error?.code, 'MAC_FAILED', 'the end');
    same(info.by, 'local', 'who ended it');
    await fails(connection.send(new Uint8Array(1)), 'MAC_FAILED', 'sending after it');
  }),

  'a message that is not authentic, in its header and in its body': onEach(async (reach) => {
    for (const node of ['badHeader', 'badBody']) {
      const connection = await reach(node);
      const iterator = connection[Symbol.asyncIterator]();
      same(await next(iterator), Uint8Array.of(1), `before the fault of ${node}`);
      await fails(iterator.next(), 'MAC_FAILED', node);
      same((await connection.closed).error?.code, 'MAC_FAILED', 'the end');
      await fails(iterator.next(), 'MAC_FAILED', 'reading on');
    }
  }),

  'a node that is gone in the middle of a message': onEach(async (reach, { name }) => {
    for (const node of ['killsInMessage', 'endsInMessage']) {
      const connection = await reach(node);
      const iterator = connection[Symbol.asyncIterator]();
      const first = await codeOf(iterator.next());
      // A reset may overtake the message before.
      ok(first === 'none' || node === 'killsInMessage', `the message before, with ${node}`);
      await fails(iterator.next(), brokenCode(name, node === 'killsInMessage'), node);
      const info = await connection.closed;
      same(info.by, 'remote', 'who ended it');
    }
  }),

  'what came before the end can be read after it': onEach(async (reach, { name }) => {
    const connection = await reach('lastWords');
    same((await connection.closed).by, 'remote', 'who ended it');
    await fails(connection.send(new Uint8Array(1)), brokenCode(name, true), 'sending after the end');
    const words: number[] = [];
    try {
      for await (const message of connection) {
        words.push(message[0] ?? 0);
      }
    } catch (error) {
      same((error as { code?: string }).code, brokenCode(name, true), 'the end');
    }
    same(words.join(), '1,2,3', 'the messages');
  }),

  'a text, a message that is too long, and what follows them': onEach(async (reach, { name }) => {
    if (name !== 'ws') {
      return; // TCP has no messages, and a bridge sends its own.
    }
    for (const node of ['text', 'oversized']) {
      const connection = await reach(node);
      const iterator = connection[Symbol.asyncIterator]();
      same(await next(iterator), Uint8Array.of(1), `before the fault of ${node}`);
      await fails(iterator.next(), 'PROTOCOL_ERROR', node);
      const info = await connection.closed;
      same(info.error?.code, 'PROTOCOL_ERROR', 'the end');
      same(info.by, node === 'text' ? 'local' : info.by, 'who ended it');
      await fails(iterator.next(), 'PROTOCOL_ERROR', 'reading on');
    }
  }),

  'a node that never answers': onEach(async (reach) => {
    let text = '';
    await reach('silent', { handshakeTimeoutMs: 60 }).catch((error: unknown) => {
      text = String(error);
      same((error as { code?: string }).code, 'TIMEOUT', 'the handshake');
    });
    ok(text.includes('the handshake took more than 60 ms'), text);
    await fails(reach('silent', { timeoutMs: 60 }), 'TIMEOUT', 'all of it');
  }),

  'a server that never opens the WebSocket': async ({ carriers }) => {
    const tcp = carriers.find(({ name }) => name === 'bridge')?.addresses['silent'] ?? '';
    const address = `ws://${tcp.slice(tcp.lastIndexOf('/') + 1)}`;
    let text = '';
    await connect(address, { nodeId: publicKey(nodeSecret), connectTimeoutMs: 60 }).catch((error: unknown) => {
      text = String(error);
    });
    ok(text.includes('opening the WebSocket took more than 60 ms'), text);
  },

  'a thousand messages on a dead link': onEach(async (reach) => {
    const connection = await reach('stuck', { closeTimeoutMs: 100 });
    const sends = Array.from({ length: 1000 }, async () => codeOf(connection.send(new Uint8Array(16_000))));
    const reading = connection[Symbol.asyncIterator]().next();
    await connection.close();
    const codes = await Promise.all(sends);
    same(codes.at(-1), 'CONNECTION_CLOSED', 'the last');
    ok(codes.every((code) => code === 'none' || code === 'CONNECTION_CLOSED'), 'another error');
    same((await reading).done, true, 'the reader is at the end');
    same((await connection.closed).by, 'local', 'who ended it');
  }),

  'closing in the midst of sending, and twice': onEach(async (reach) => {
    const connection = await reach('echo');
    const sends = [1, 2, 3].map(async (n) => codeOf(connection.send(new Uint8Array(60_000).fill(n))));
    const [one, two] = [connection.close(), connection.close()];
    await fails(connection.send(new Uint8Array(1)), 'CONNECTION_CLOSED', 'sending while it closes');
    await Promise.all([one, two]);
    // What was sent before has gone out.
    same((await Promise.all(sends)).join(), 'none,none,none', 'what was sent before');
    await connection.close();
    same((await connection.closed).error, undefined, 'no error');
  }),

  'a signal ends it before, during and after connecting': onEach(async (reach) => {
    const reason = new Error('enough');
    await fails(reach('echo', { signal: AbortSignal.abort(reason) }), 'ABORTED', 'before');
    const opening = new AbortController();
    const attempt = reach('echo', { signal: opening.signal });
    opening.abort(reason);
    await fails(attempt, 'ABORTED', 'while it opens');
    const shaking = new AbortController();
    const waiting = reach('silent', { signal: shaking.signal });
    setTimeout(() => { shaking.abort(reason); }, 30);
    await fails(waiting, 'ABORTED', 'in the handshake');
    const later = new AbortController();
    const connection = await reach('echo', { signal: later.signal });
    const reading = codeOf(connection[Symbol.asyncIterator]().next());
    later.abort(reason);
    same(await reading, 'ABORTED', 'reading');
    const info = await connection.closed;
    same(info.error?.cause, reason, 'the reason');
    same(info.by, 'local', 'who ended it');
    await fails(connection.send(new Uint8Array(1)), 'ABORTED', 'sending after it');
  }),

  'a signal ends the wait of one message': onEach(async (reach) => {
    const connection = await reach('stuck', { closeTimeoutMs: 50 });
    await fails(connection.send(new Uint8Array(1), { signal: AbortSignal.abort() }), 'ABORTED', 'before');
    const controller = new AbortController();
    const { signal } = controller;
    const sends = Array.from({ length: 300 }, async () => codeOf(connection.send(new Uint8Array(60_000))));
    const last = codeOf(connection.send(new Uint8Array(1), { signal }));
    controller.abort();
    same(await last, 'ABORTED', 'the last');
    await connection.close();
    same((await Promise.all(sends)).at(-1), 'CONNECTION_CLOSED', 'the others');
  }),

  'a WebSocket whose reader pauses ends with QUEUE_FULL, and loses nothing before': onEach(async (reach, { name }) => {
    if (name === 'tcp') {
      return; // A TCP peer is slowed.
    }
    const connection = await reach('flood', { maxQueuedBytes: 1 << 20 });
    const info = await connection.closed;
    same(info.error?.code, 'QUEUE_FULL', 'the end');
    same(info.by, 'local', 'who ended it');
    let count = 0;
    const code = await codeOf(
      (async () => {
        for await (const message of connection) {
          same(message.length, 65_535, 'a message');
          count++;
        }
      })(),
    );
    same(code, 'QUEUE_FULL', 'reading');
    ok(count >= 10 && count <= 16, `${count} messages of 65,535 bytes in 1 MiB`);
  }),

  '16 MiB arrive at a reader that reads': onEach(async (reach) => {
    const connection = await reach('flood');
    let bytes = 0;
    for await (const message of connection) {
      bytes += message.length;
      if (bytes === 256 * 65_535) {
        break;
      }
    }
  }),

  'the bridge and its peer: init and ping': async ({ peer: uri, bridge }) => {
    const peer = await connectPeer(uri, { bridge, ...limit });
    ok((await peer.ping()).rttMs >= 0, 'a time');
    await peer.close();
  },

  'the bridge and its peer: commando, with replies of many parts': async ({ peer: uri, bridge, rune }) => {
    const peer = await connectPeer(uri, { bridge, ...limit });
    const call = { rune, ...limit };
    const [pattern, info, echo] = await Promise.all([
      peer.commando('pattern', { bytes: 1_000_000 }, call),
      peer.commando('getinfo', {}, { ...call, filter: { id: true } }),
      peer.commando('echo', ['x'.repeat(200_000)], call),
    ]);
    same((pattern as { pattern: string }).pattern.length, 1_000_000, 'the long reply');
    same((info as { id: string }).id, uri.split('@')[0], 'the node');
    same((echo as { params: string[] }).params[0]?.length, 200_000, 'the long request');
    await fails(peer.commando('fail', {}, call), 'COMMANDO_ERROR', 'an error of the node');
    await peer.close();
    await fails(peer.commando('getinfo', {}, call), 'CONNECTION_CLOSED', 'after the end');
  },

  'the bridge and its peer: another connection after the first': async ({ peer: uri, bridge, rune }) => {
    const peer = await connectPeer(uri, { bridge, reconnect: { minDelayMs: 1 }, ...limit });
    const states: string[] = [];
    const open = new Promise<void>((resolve) => {
      peer.on('state', (state) => {
        states.push(state);
        if (state === 'open') {
          resolve();
        }
      });
    });
    const warned = new Promise<string>((resolve) => {
      peer.on('warning', ({ text }) => {
        resolve(text);
      });
    });
    // It must know this type and does not, so it hangs up.
    await peer.send(0x7ffe, new Uint8Array());
    ok((await warned).includes('32766'), 'the warning');
    await open;
    same(JSON.stringify(await peer.commando('echo', [1], { rune, ...limit })), '{"params":[1]}', 'the reply');
    await peer.close();
    same(states.join(), 'reconnecting,open,closed', 'the states');
  },
};
