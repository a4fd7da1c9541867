import assert from 'node:assert/strict';
import { publicKey } from 'brontosig/musig2';
import { toHex } from './examples.js';
import type { LndNode } from './nodes.js';
import type { Side } from './sides.js';
import { exchangeByLnd, hasFeature, listedPeer, LND_REQUIRES } from './traffic.js';

/** Messages in each direction: each key is replaced after 500, so six times. */
const MESSAGES = 3_100;

/**
 * The errors for a node that was killed. What the system sends for a process that
 * is gone is no error if it had read everything.
 */
export const BROKEN: ReadonlySet<string> = new Set(['CONNECTION_CLOSED', 'NODE_UNREACHABLE']);

/** Makes sure that lnd has a side as its peer. */
export async function assertListed(lnd: LndNode, side: Side): Promise<void> {
  const listed = await listedPeer(lnd.client, side.key);
  assert.equal(listed?.['inbound'], true);
}

/** Connects a side to lnd, which must keep it and know its key. */
export async function connectTo(lnd: LndNode, side: Side): Promise<void> {
  const features = await side.connect(lnd.uri);
  for (const bit of LND_REQUIRES) {
    assert.ok(hasFeature(features, bit), `lnd does not set feature bit ${bit}`);
  }
  await assertListed(lnd, side);
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

/** Kills lnd while the sides are connected, starts it again, and sees them come back. */
export async function survive(lnd: LndNode, sides: readonly Side[]): Promise<void> {
  const ends = Promise.all(sides.map(async (side) => side.disconnected()));
  const { nodeId } = lnd;
  await lnd.kill();
  for (const { by, code } of await ends) {
    assert.equal(by, 'remote');
    assert.ok(code === undefined || BROKEN.has(code), code);
  }
  const reopened = Promise.all(sides.map(async (side) => side.reopened()));
  await lnd.start();
  assert.equal(lnd.nodeId, nodeId);
  await reopened;
  for (const side of sides) {
    await assertListed(lnd, side);
    await exchangeWith(lnd, side, 10);
  }
}

/** Replaces lnd by another node at the same address, which the sides must not accept. */
export async function mistrust(lnd: LndNode, sides: readonly Side[]): Promise<void> {
  const ends = Promise.all(sides.map(async (side) => side.closed()));
  const { nodeId } = lnd;
  await lnd.kill();
  await lnd.startAsAnother();
  assert.notEqual(lnd.nodeId, nodeId);
  for (const { code } of await ends) {
    assert.equal(code, 'AUTHENTICATION_FAILED');
  }
  const { peers } = await lnd.client.call('/v1/peers');
  assert.deepEqual(peers, []);
}
