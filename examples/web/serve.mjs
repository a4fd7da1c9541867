// Serves the built page on loopback, beside a bridge with its embedded Lightning
// peer, and prints the URL that leads to them:
//
//   node examples/web/serve.mjs [PORT]
//
// It ends, and the bridge with it, on SIGINT or SIGTERM.

import { fileURLToPath } from 'node:url';
import { preview } from 'vite';
import { startBridge } from '../bridge-process.mjs';

const HOST = '127.0.0.1';

const server = await preview({
  root: fileURLToPath(new URL('.', import.meta.url)),
  logLevel: 'error',
  preview: {
    host: HOST,
    port: Number(process.argv[2] ?? 0),
    strictPort: true,
    headers: {
      // What the page itself cannot ask for in its policy.
      'Content-Security-Policy': "frame-ancestors 'none'",
      'X-Content-Type-Options': 'nosniff',
    },
  },
});
// Vite would end the process before the bridge has ended.
process.removeAllListeners('SIGTERM');
const origin = `http://${HOST}:${server.httpServer.address().port}`;

const starting = startBridge(['--origin', origin]);
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await server.close();
    await (await starting).stop();
  });
}
const bridge = await starting;
bridge.ended.then(async ({ code, log }) => {
  if (code !== 0) {
    console.error(`the bridge ended:\n${log}`);
    process.exitCode = 1;
    await server.close();
  }
});

// In the fragment, which is not sent to any server.
const { node, rune } = bridge;
console.log(`${origin}/#${new URLSearchParams({ view: 'console', node, bridge: bridge.bridge, rune })}`);
