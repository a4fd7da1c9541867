import { networkInterfaces } from 'node:os';
import { before, test } from 'node:test';
import { startNodes, type Running } from './everywhere/nodes.js';
import { brontideSuite } from './everywhere/suite-brontide.js';
import { musig2Suite } from './everywhere/suite-musig2.js';

// The suites that also run in a page and in workers; see browser/everywhere.test.ts.

let running: Running;

before(async () => {
  running = await startNodes();
});

for (const [name, body] of Object.entries({ ...musig2Suite, ...brontideSuite })) {
  test(name, { timeout: 60_000 }, async () => body(running.place));
}

const hasIPv6 = Object.values(networkInterfaces()).some((addresses) => addresses?.some(({ address }) => address === '::1'));

test('IPv6, directly and through a bridge', { skip: hasIPv6 ? false : 'this machine has no IPv6 loopback address' }, async () => {
  const there = await startNodes({ ipv6: true });
  try {
    await brontideSuite['messages of every size go there and back']?.(there.place);
  } finally {
    await there.stop();
  }
});

test('nothing is left when all has ended', { timeout: 20_000 }, async () => {
  await running.stop();
  // What keeps a process alive: sockets and timers. They take some turns to be
  // gone; if something stays, the test runs into its time limit.
  while (process.getActiveResourcesInfo().some((kind) => /Timeout|TCP|HTTP|GetAddrInfo|Process/.test(kind))) {
    await new Promise((resolve) => setImmediate(resolve));
  }
});
