import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { init } from 'brontosig';
import { accept, publicKey, type Connection } from 'brontosig/brontide';
import { tcpServer, withServer } from '../connections.js';
import { openTransport } from '../node-transports.js';
import { LndError, toHex } from './examples.js';
import { LndNode } from './nodes.js';
import { CUSTOM_TYPE, exchange, exchangeByLnd, FROM_LND, FROM_US, hasFeature, listedPeer, LND_REQUIRES, pattern, PROBE_TYPE } from './traffic.js';

await init();

/** Messages in each direction: each key is replaced twice. */
const MESSAGES = 1_100;

/** The types of BOLT-1. */
const INIT = 16;
const PING = 18;
const PONG = 19;

/**
 * What a node that is dialled needs of BOLT-1 beneath messages of its own.
 * `connectPeer` has it for the side that dials.
 */
class Accepted {
  readonly #connection: Connection;
  readonly #incoming: AsyncIterator<Uint8Array>;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#incoming = connection[Symbol.asyncIterator]();
  }

  async send(type: number, payload: Uint8Array): Promise<void> {
    await this.#connection.send(Uint8Array.of(type >> 8, type & 0xff, ...payload));
  }

  async next(): Promise<IteratorResult<{ type: number; payload: Uint8Array }>> {
    const next = await this.#incoming.next();
    if (next.done === true) {
      return { done: true, value: undefined };
    }
    const message = next.value;
    return { done: false, value: { type: (message[0]! << 8) | message[1]!, payload: message.subarray(2) } };
  }

  /** Takes the next message, which must be of a type. */
  async take(type: number): Promise<Uint8Array> {
    const next = await this.next();
    assert.equal(next.done, false);
    assert.equal(next.value.type, type);
    return next.value.payload;
  }
}

/** Two lengths of feature maps (BOLT-1): none of the old kind, option_data_loss_protect in the new. */
const ourInit = Uint8Array.of(0, 0, 0, 1, 1 << 1);

test('lnd dials us', async (t) => {
  await LndNode.run(async (lnd) => {
    const secretKey = crypto.getRandomValues(new Uint8Array(32));
    const key = toHex(publicKey(secretKey));
    const sockets = new EventEmitter();
    const listener = tcpServer((socket) => sockets.emit('socket', socket));
    /** Lets lnd dial, and accepts. */
    const dialled = async (pubkey: string, port: number): Promise<[Promise<unknown>, Promise<Connection>]> => {
      const arrived = once(sockets, 'socket') as Promise<[Socket]>;
      const dialling = lnd.client.call('/v1/peers', { addr: { pubkey, host: `127.0.0.1:${port}` }, timeout: '10' });
      const [socket] = await arrived;
      return [dialling, accept(openTransport(socket), { secretKey, timeoutMs: 10_000 })];
    };
    await withServer(listener, async (port) => {
      await t.test('and hears that it has the wrong key', async () => {
        const another = toHex(publicKey(crypto.getRandomValues(new Uint8Array(32))));
        const [dialling, accepting] = await dialled(another, port);
        await Promise.all([
          assert.rejects(accepting, { code: 'AUTHENTICATION_FAILED' }),
          assert.rejects(dialling, LndError),
        ]);
      });
      await t.test('and exchanges init, a ping and messages', async () => {
        const [dialling, accepting] = await dialled(key, port);
        const [connection] = await Promise.all([accepting, dialling]);
        assert.equal(toHex(connection.remoteKey), lnd.nodeId);
        const peer = new Accepted(connection);
        await peer.send(INIT, ourInit);
        const theirs = await peer.take(INIT);
        const old = (theirs[0]! << 8) | theirs[1]!;
        const features = theirs.subarray(old + 4, old + 4 + ((theirs[old + 2]! << 8) | theirs[old + 3]!));
        for (const bit of LND_REQUIRES) {
          assert.ok(hasFeature(features, bit), `lnd does not set feature bit ${bit}`);
        }
        await peer.send(PING, Uint8Array.of(0, 5, 0, 0));
        assert.deepEqual(await peer.take(PONG), Uint8Array.of(0, 5, 0, 0, 0, 0, 0));
        assert.equal((await listedPeer(lnd.client, key))?.['inbound'], false);
        await exchangeByLnd(
          lnd.client,
          key,
          MESSAGES,
          async () => peer.send(PROBE_TYPE, new Uint8Array()),
          async () =>
            exchange(peer, peer, pattern, { type: CUSTOM_TYPE, count: MESSAGES, from: FROM_LND, out: FROM_US }),
        );
        await connection.close();
      });
    });
  });
});
