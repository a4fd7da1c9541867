import { init } from 'brontosig';
import { browserTest } from '../browser/chromium.js';
import { served } from '../browser/served.js';
import { converse, mistrust, refuseWrongKey, survive } from './conversation.js';
import { LndNode, withBridge } from './nodes.js';
import { PageSide } from './sides.js';

await init();

browserTest(
  'from a page in Chromium to lnd through the bridge',
  async (browser, t) => {
    await LndNode.run(async (lnd) => {
      await served('application/wasm', async (origin) => {
        await withBridge(lnd.address, ['--origin', origin], async (bridge) => {
          const page = await browser.newPage();
          await page.goto(origin);
          const side = new PageSide(page, bridge);
          await t.test('a wrong node key is refused', async () => refuseWrongKey(lnd, side));
          await t.test('init, pings and messages both ways', async () => converse(lnd, side));
          await t.test('reconnect after lnd was killed and started again', async () => survive(lnd, [side]));
          await t.test('no reconnect to lnd with another key', async () => mistrust(lnd, [side]));
        });
      });
    });
  },
  300_000,
);
