import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { tcpServer, withServer } from '../connections.js';

test('a test that is killed leaves no process and no folder', async () => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGKILL'] as const) {
    let connected: Socket | undefined;
    const listener = tcpServer((socket) => {
      connected = socket;
    });
    await withServer(listener, async (port) => {
      const child = spawn(process.execPath, [fileURLToPath(new URL('abandon.js', import.meta.url)), String(port)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [folder] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
      assert.ok(existsSync(folder));
      assert.ok(connected?.readyState === 'open');
      // The program holds the connection; the keeper has the same output as the child.
      const ended = Promise.all([once(connected.resume(), 'close'), once(child, 'close')]);
      child.kill(signal);
      await ended;
      assert.ok(!existsSync(folder));
    });
  }
});
