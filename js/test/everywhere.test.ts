import { after, before, test } from 'node:test';
import { init } from 'brontosig';
import { startNodes, type Running } from './everywhere/nodes.js';
import { brontideSuite } from './everywhere/suite-brontide.js';
import { musig2Suite } from './everywhere/suite-musig2.js';

// The suites that also run in a page and in workers; see browser/everywhere.test.ts.

let running: Running;

before(async () => {
  await init();
  running = await startNodes();
});

after(async () => running.stop());

for (const [name, body] of Object.entries({ ...musig2Suite, ...brontideSuite })) {
  test(name, { timeout: 60_000 }, async () => body(running.place));
}
