import { test } from 'node:test';
import { init } from 'brontosig';
import { converse, mistrust, refuseWrongKey, survive } from './conversation.js';
import { LndNode, withBridge } from './nodes.js';
import { NodeSide } from './sides.js';

await init();

test('from Node to lnd, straight and through the bridge', { concurrency: true }, async (t) => {
  await LndNode.run(async (lnd) => {
    await withBridge(lnd.address, [], async (bridge) => {
      const ways = { tcp: new NodeSide(), bridge: new NodeSide(bridge) };
      const each = async (what: string, body: (side: NodeSide) => Promise<void>): Promise<unknown> =>
        Promise.all(Object.entries(ways).map(async ([way, side]) => t.test(`${way}: ${what}`, async () => body(side))));
      await each('a wrong node key is refused', async (side) => refuseWrongKey(lnd, side));
      await each('init, pings and messages both ways', async (side) => converse(lnd, side));
      await t.test('reconnect after lnd was killed and started again', async () => survive(lnd, Object.values(ways)));
      await t.test('no reconnect to lnd with another key', async () => mistrust(lnd, Object.values(ways)));
    });
  });
});
