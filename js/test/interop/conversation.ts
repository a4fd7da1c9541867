import assert from 'node:assert/strict';
import { publicKey } from 'brontosig/musig2';
import { toHex } from './examples.js';
import type { LndNode } from './nodes.js';
import type { Side } from './sides.js';
import { exchangeByLnd, hasFeature, listedPeer, LND_REQUIRES } from './traffic.js';

/** Messages in each direction: each key is replaced after 500, so six times. */
const MESSAGES = 3_100;

/** Connects a side to lnd, which must keep it and know its key. */
export async function connectTo(lnd: LndNode, side: Side): Promise<void> {
  const features = await side.connect(lnd.uri);
  for (const bit of LND_REQUIRES) {
    assert.ok(hasFeature(features, bit), `lnd does not set feature bit ${bit}`);
  }
  const listed = await listedPeer(lnd.client, side.key);
  assert.equal(listed?.['inbound'], true);
}

/** Sends messages in both directions at once, and checks them on both ends. */
export async function exchangeWith(lnd: LndNode, side: Side, count: number): Promise<void> {
  await exchangeByLnd(
    lnd.client,
    side.key,
    count,
    async () => side.probe(),
    async () => side.exchange(count),
  );
}

/**
 * Does what a connection to a node is for: init, pings and messages in both
 * directions.
 */
export async function converse(lnd: LndNode, side: Side): Promise<void> {
  await connectTo(lnd, side);
  // lnd sends its first ping after a minute.
  const answered = lnd.line(new RegExp(`Received Pong.* from ${side.key}`));
  assert.ok((await side.ping()) > 0);
  await exchangeWith(lnd, side, MESSAGES);
  await answered;
  assert.ok((await side.ping()) > 0);
  const listed = await listedPeer(lnd.client, side.key);
  assert.ok(Number(listed?.['ping_time']) > 0, 'lnd has not measured the time to us');
}

/** Tries to connect with a key that the node does not have. */
export async function refuseWrongKey(lnd: LndNode, side: Side): Promise<void> {
  const another = toHex(publicKey(crypto.getRandomValues(new Uint8Array(32))));
  await assert.rejects(side.connect(`${another}@${lnd.address}`), { code: 'AUTHENTICATION_FAILED' });
  assert.equal(await listedPeer(lnd.client, side.key), undefined);
}

/** Kills lnd while the sides are connected, starts it again, and connects again. */
export async function survive(lnd: LndNode, sides: readonly Side[]): Promise<void> {
  const ends = Promise.all(sides.map(async (side) => side.closed()));
  const { nodeId } = lnd;
  await lnd.kill();
  for (const { by, code } of await ends) {
    assert.equal(by, 'remote');
    assert.ok(code === undefined || code === 'CONNECTION_CLOSED', code);
  }
  await lnd.start();
  assert.equal(lnd.nodeId, nodeId);
  for (const side of sides) {
    await connectTo(lnd, side);
    await exchangeWith(lnd, side, 10);
    await side.close();
  }
}
