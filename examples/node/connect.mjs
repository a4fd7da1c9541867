// Connects to a Lightning node, measures round trips, and shows what arrives
// until it is interrupted:
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
const peer = await connectPeer(node, { bridge, timeoutMs: 10_000 });
console.log(`connected to ${toHex(peer.remoteKey)} as ${toHex(peer.localKey)}`);
console.log(`features ${toHex(peer.remoteInit.features)}`);

peer.on('warning', ({ text }) => console.log(`warning: ${text}`));
peer.on('error', ({ text }) => console.log(`error: ${text}`));
process.once('SIGINT', () => peer.close());
process.once('SIGTERM', () => peer.close());

for (let count = 0; count < 3; count++) {
  const { rttMs } = await peer.ping();
  console.log(`round trip ${rttMs.toFixed(1)} ms`);
}

for await (const { type, payload } of peer.messages()) {
  console.log(`message of type ${type}, ${payload.length} bytes`);
}
const { by } = await peer.closed;
console.log(`closed by ${by === 'local' ? 'us' : 'the node'}`);
