import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import type { Notice } from 'brontosig/lightning';
import { connectPeerWith } from '../../dist/connect-peer.js';
import { withDemoBridge } from './demo-bridge.js';
import { FakeTiming } from './fake-timing.js';
import { limit } from './meet.js';

before(async () => init());

void test('a peer over tcp and through the bridge: keepalive, commando, an objection, and another connection', async () => {
  await withDemoBridge(async ({ bridge, nodeId, address, rune }) => {
    for (const options of [{}, { bridge }]) {
      const timing = new FakeTiming();
      const peer = await connectPeerWith(timing, `${nodeId}@${address}`, { reconnect: true, ...limit, ...options });
      const states: string[] = [];
      peer.on('state', (state) => states.push(state));
      const warned = new Promise<Notice>((resolve) => peer.on('warning', resolve));
      const call = { rune, ...limit };
      const getinfo = async (): Promise<unknown> => peer.commando('getinfo', {}, { ...call, filter: { id: true } });

      await timing.pass(25_000);
      // The pong comes before the reply.
      assert.deepEqual(await getinfo(), { id: nodeId });
      await timing.pass(29_999);
      assert.equal(peer.state, 'open');

      // Large requests and replies at the same time, none in another's way.
      const large = Array.from({ length: 5 }, (_, i) => String(i).repeat(300_000));
      const results = await Promise.all(large.map(async (text) => peer.commando('echo', { text }, call)));
      assert.deepEqual(results, large.map((text) => ({ params: { text } })));

      // The peer warns of a message that it must know and does not, and hangs up.
      const disconnected = new Promise((resolve) => peer.on('disconnect', resolve));
      await peer.send(0x7ffe, new Uint8Array());
      assert.match((await warned).text, /unknown even type 32766/);
      await disconnected;
      await assert.rejects(getinfo(), { code: 'NOT_CONNECTED' });
      const open = new Promise((resolve) => peer.on('state', resolve));
      await timing.pass(timing.due);
      assert.equal(await open, 'open');
      assert.deepEqual(await getinfo(), { id: nodeId });
      assert.ok((await peer.ping(limit)).rttMs > 0);
      await peer.close();
      assert.deepEqual(states, ['reconnecting', 'open', 'closed']);
      assert.equal(timing.timers, 0);
    }
  });
});
