import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { accept, connect, publicKey } from 'brontosig/brontide';
import { transportPair } from './connections.js';
import { bob } from './echo.js';

before(async () => init());

void test('a sender that only waits for its writes leaves the event loop its turns', async () => {
  const [near, far] = transportPair();
  const [connection, other] = await Promise.all([
    connect(near, { nodeId: publicKey(bob) }),
    accept(far, { secretKey: bob }),
  ]);
  // A reader that is as fast as the sender, without anything that waits between the two.
  const reading = (async () => {
    let count = 0;
    for await (const message of other) {
      count += message.length === 65_535 ? 1 : 0;
    }
    return count;
  })();
  let turns = 0;
  const count = (): void => {
    turns++;
    timer = setTimeout(count);
  };
  let timer = setTimeout(count);
  for (let i = 0; i < 200; i++) {
    await connection.send(new Uint8Array(65_535));
  }
  clearTimeout(timer);
  assert.ok(turns >= 10, `${turns} turns in 200 messages`);
  await connection.close();
  assert.equal(await reading, 200);
});
