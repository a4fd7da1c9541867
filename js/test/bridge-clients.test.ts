import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { init } from 'brontosig';
import { connectPeer } from 'brontosig/lightning';
import { createWebSocketStream, WebSocket } from 'ws';
import { tcpServer } from './connections.js';
import { startDemoBridge, withDemoBridge } from './demo-bridge.js';

const client = fileURLToPath(new URL('../../build/goclient', import.meta.url));

void test('a plain WebSocket that pipes what a Go program says reaches the embedded peer', async () => {
  await withDemoBridge(async ({ bridge, nodeId, address }) => {
    const [host = '', port = ''] = address.split(':');
    for (const path of [`/node/${nodeId}`, `/${address}`, `/v1/${host.replaceAll('.', '_')}/${port}`]) {
      const codes: Promise<unknown[]>[] = [];
      const server = await tcpServer((tcp) => {
        const socket = new WebSocket(bridge + path);
        codes.push(once(socket, 'close'));
        const stream = createWebSocketStream(socket);
        tcp.pipe(stream).pipe(tcp);
        stream.on('error', () => tcp.destroy());
      });
      try {
        const { stdout } = await promisify(execFile)(client, [nodeId, `127.0.0.1:${server.port}`]);
        assert.equal(stdout, '300\n');
        const [[code] = []] = await Promise.all(codes);
        assert.ok(code === 1000 || code === 1005, `close code ${String(code)}`);
      } finally {
        await server.stop();
      }
    }
  });
});

void test('a bridge that wants a token gets it as a subprotocol', async () => {
  await init();
  const bridgeToken = 'correct-horse-battery/staple+0~';
  const demo = await startDemoBridge(['--token', bridgeToken]);
  try {
    const { bridge, nodeId } = demo;
    const limit = { timeoutMs: 10_000 };
    const peer = await connectPeer(`${nodeId}@${demo.address}`, { bridge, bridgeToken, ...limit });
    assert.ok((await peer.ping(limit)).rttMs > 0);
    await peer.close();
    for (const wrong of [{}, { bridgeToken: 'not-the-token-of-this-bridge' }]) {
      await assert.rejects(connectPeer(`${nodeId}@${demo.address}`, { bridge, ...wrong, ...limit }), { code: 'BRIDGE_REFUSED' });
    }
  } finally {
    await demo.stop();
  }
});
