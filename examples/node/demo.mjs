// Three signers make one signature, and a Lightning node is reached through a
// bridge. `make demo` builds and starts what this needs, and runs it. By hand:
//
//   node examples/node/demo.mjs ws://BRIDGE NODEID@HOST:PORT

import { init } from 'brontosig';
import { connectPeer } from 'brontosig/lightning';
import { verify } from 'brontosig/musig2';
import { cosign, toHex } from '../cosign.js';

const [bridge = process.env.BRONTOSIG_BRIDGE, node = process.env.BRONTOSIG_NODE] = process.argv.slice(2);
if (!bridge || !node) {
  console.error(`usage: node examples/node/demo.mjs BRIDGE NODE

  BRIDGE  where a bridge listens, such as ws://127.0.0.1:8080
  NODE    the node to reach through it, as NODEID@HOST:PORT

They can also be given as BRONTOSIG_BRIDGE and BRONTOSIG_NODE. To try it with a
bridge and a node of its own, run: make demo`);
  process.exit(2);
}

function show(name, value) {
  console.log(`  ${name.padEnd(18)}${value}`);
}

await init();

console.log('MuSig2: three signers, one signature');
const message = new TextEncoder().encode('three keys, one signature');
const { outputKey, signature, signers } = cosign(message, 3);
signers.forEach(({ publicKey, publicNonce, partialSignature }, index) => {
  show(`signer ${index}`, toHex(publicKey));
  show('  nonce', toHex(publicNonce));
  show('  partial', toHex(partialSignature));
});
show('aggregate key', toHex(outputKey));
show('signature', toHex(signature));
if (!verify(signature, message, outputKey)) {
  throw new Error('the signature is not valid');
}
show('BIP-340', 'valid');

console.log(`Lightning: ${node} through ${bridge}`);
const peer = await connectPeer(node, { bridge, timeoutMs: 10_000 });
try {
  show('peer', toHex(peer.remoteKey));
  show('features', toHex(peer.remoteInit.features));
  const { rttMs } = await peer.ping();
  show('round trip', `${rttMs.toFixed(2)} ms`);
} finally {
  await peer.close();
}
console.log('done');
