// Connects to a Lightning node, measures round trips, and shows what arrives
// until it is interrupted. A connection that breaks is made anew:
//
//   node examples/node/connect.mjs NODEID@HOST:PORT [BRIDGE]
//
// Any node will do, your own or another's: `lncli getinfo` (lnd) and
// `lightning-cli getinfo` (Core Lightning) print this under `uris` and `binding`.
// With a BRIDGE, such as ws://127.0.0.1:8080, it goes the way that a web page
// takes.

import { init } from 'brontosig';
import { connectPeer } from 'brontosig/lightning';
import { toHex } from '../cosign.js';

const [node, bridge] = process.argv.slice(2);
if (node === undefined) {
  console.error('usage: node examples/node/connect.mjs NODEID@HOST:PORT [BRIDGE]');
  process.exit(2);
}

await init();
// The key that the node knows this program by is a fresh one. Give `secretKey`
// to be recognised the next time.
const peer = await connectPeer(node, { bridge, timeoutMs: 10_000, reconnect: true });
console.log(`connected to ${toHex(peer.remoteKey)} as ${toHex(peer.localKey)}`);
console.log(`features ${toHex(peer.remoteInit.features)}`);

peer.on('warning', ({ text }) => console.log(`warning: ${text}`));
peer.on('error', ({ text }) => console.log(`error: ${text}`));
peer.on('disconnect', ({ info, delayMs }) =>
  console.log(`disconnected (${info.error?.message ?? 'in good order'}), next attempt in ${delayMs} ms`),
);
peer.on('state', (state) => console.log(`state ${state}`));
process.once('SIGINT', () => peer.close());
process.once('SIGTERM', () => peer.close());

for (let count = 0; count < 3; count++) {
  const { rttMs } = await peer.ping();
  console.log(`round trip ${rttMs.toFixed(1)} ms`);
}

// It ends when the peer is closed, and throws if a node of another key is there.
for await (const { type, payload } of peer.messages()) {
  console.log(`message of type ${type}, ${payload.length} bytes`);
}
