import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import { connect, publicKey } from 'brontosig/brontide';
import { tcpServer, unusedPort, webSocketServer, withServer } from './connections.js';
import { bob, tcpEcho, webSocketEcho } from './echo.js';

// In a file of its own, and so in a process where nothing else holds anything.

const limit = { timeoutMs: 10_000 };

before(() => init());

void test('nothing is left when connections have ended', { timeout: 20_000 }, async () => {
  // What keeps a process alive: sockets and timers.
  const held = (): string[] =>
    process.getActiveResourcesInfo().filter((kind) => /Timeout|TCP|HTTP|GetAddrInfo/.test(kind));
  assert.deepEqual(held(), []);
  const nodeId = publicKey(bob);
  const port = await unusedPort();
  const code = async (attempt: Promise<unknown>): Promise<unknown> =>
    attempt.then(() => 'none', (error: unknown) => (error as { code?: string }).code);
  for (const [server, silent, scheme] of [
    [tcpServer(tcpEcho), tcpServer(() => undefined), 'tcp'],
    [webSocketServer(webSocketEcho), webSocketServer(() => undefined), 'ws'],
  ] as const) {
    await withServer(server, async (there) => {
      const connection = await connect(`${scheme}://127.0.0.1:${there}`, { nodeId, ...limit });
      await connection.close();
      const { signal } = new AbortController();
      const lost = await connect(`${scheme}://127.0.0.1:${there}`, { nodeId, signal, ...limit });
      const reading = lost[Symbol.asyncIterator]().next();
      await lost.close();
      assert.equal((await reading).done, true);
    });
    await withServer(silent, async (there) => {
      assert.equal(await code(connect(`${scheme}://127.0.0.1:${there}`, { nodeId, timeoutMs: 50 })), 'TIMEOUT');
    });
    assert.equal(await code(connect(`${scheme}://127.0.0.1:${port}`, { nodeId, ...limit })), 'CONNECTION_FAILED');
  }
  // Sockets that are closed take some turns of the event loop to be gone. If
  // something stays, the test runs into its time limit.
  while (held().length > 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
});
