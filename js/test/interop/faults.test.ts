import assert from 'node:assert/strict';
import { test } from 'node:test';
import { init } from 'brontosig';
import { connectPeer } from 'brontosig/lightning';
import { assertListed, BROKEN, exchangeWith } from './conversation.js';
import { LndNode, withBridge } from './nodes.js';
import { Relay } from './relay.js';
import { NodeSide } from './sides.js';
import { CUSTOM_TYPE, sendByLnd } from './traffic.js';

await init();

/** The most that a message holds beside its type. */
const LARGEST = 65_533;

/** Messages that a node which reads nothing has before it when it is killed. */
const UNDER_WAY = 20;

test('lnd is killed in the middle of a message of its own', async (t) => {
  await LndNode.run(async (lnd) => {
    await Relay.run(lnd.port, async (relay) => {
      await withBridge(relay.address, [], async (bridge) => {
        for (const side of [new NodeSide(), new NodeSide(bridge)]) {
          await t.test(side.way, async () => {
            await side.connect(`${lnd.nodeId}@${relay.address}`);
            await exchangeWith(lnd, side, 10);
            const cut = relay.cutAfter(30_000);
            const sending = sendByLnd(lnd.client, side.key, new Uint8Array(LARGEST));
            await cut;
            const disconnected = side.disconnected();
            const pinging = assert.rejects(side.ping(), { code: 'CONNECTION_CLOSED' });
            await Promise.allSettled([sending, lnd.kill(), relay.close()]);
            await pinging;
            assert.deepEqual(await disconnected, { by: 'remote', code: 'CONNECTION_CLOSED' });

            const reopened = side.reopened();
            await lnd.start();
            await relay.open();
            await reopened;
            await assertListed(lnd, side);
            await exchangeWith(lnd, side, 10);
            await side.close();
          });
        }
      });
    });
  });
});

test('lnd is killed in the middle of messages to it', async (t) => {
  await LndNode.run(async (lnd) => {
    await withBridge(lnd.address, [], async (bridge) => {
      for (const [way, options] of Object.entries({ tcp: {}, bridge: { bridge } })) {
        await t.test(way, async () => {
          const peer = await connectPeer(lnd.uri, options);
          lnd.freeze();
          let enough: () => void = () => undefined;
          const underWay = new Promise<void>((resolve) => {
            enough = resolve;
          });
          const sending = (async () => {
            for (let sent = 0; ; sent++) {
              await peer.send(CUSTOM_TYPE, new Uint8Array(LARGEST));
              if (sent === UNDER_WAY) {
                enough();
              }
            }
          })();
          const failed = assert.rejects(sending, ({ code }: { code: string }) => BROKEN.has(code));
          await underWay;
          await lnd.kill();
          await failed;
          const { by, error } = await peer.closed;
          assert.equal(by, 'remote');
          assert.ok(error === undefined || BROKEN.has(error.code), error?.code);
          await lnd.start();
        });
      }
    });
  });
});
