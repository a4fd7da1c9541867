// Makes a signature together with an lnd node: one key is lnd's, the other is
// this program's, and neither can sign alone.
//
//   node examples/node/cosign-with-lnd.mjs LND TLSCERT MACAROON [TEXT]
//
//   LND       where lnd's REST interface is, such as https://127.0.0.1:8080
//   TLSCERT   lnd's certificate, such as ~/.lnd/tls.cert
//   MACAROON  a macaroon file. One that may do this and nothing else:
//
//     lncli bakemacaroon --save_to cosign.macaroon \
//       uri:/walletrpc.WalletKit/DeriveNextKey \
//       uri:/signrpc.Signer/MuSig2CreateSession \
//       uri:/signrpc.Signer/MuSig2RegisterNonces \
//       uri:/signrpc.Signer/MuSig2Sign \
//       uri:/signrpc.Signer/MuSig2CombineSig
//
// lnd needs the build tags signrpc and walletrpc; its releases have them.

import { readFile } from 'node:fs/promises';
import { init } from 'brontosig';
import { verify } from 'brontosig/musig2';
import { Signer, toHex } from '../cosign.js';
import { Lnd, LndSigner } from './lnd.mjs';

const [url, certificateFile, macaroonFile, text = 'lnd and I'] = process.argv.slice(2);
if (macaroonFile === undefined) {
  console.error('usage: node examples/node/cosign-with-lnd.mjs LND TLSCERT MACAROON [TEXT]');
  process.exit(2);
}

function show(name, bytes) {
  console.log(`${name.padEnd(15)}${toHex(bytes)}`);
}

await init();
const lnd = new Lnd({
  url,
  certificate: await readFile(certificateFile, 'utf8'),
  macaroon: await readFile(macaroonFile),
});
// lnd signs 32 bytes: the hash of a message, or of a transaction's input.
const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));

const own = new Signer();
const other = await LndSigner.create(lnd);
show('our key', own.publicKey);
show("lnd's key", other.publicKey);

// Both compute the key of the two, here that of a taproot output (BIP-86).
const publicKeys = [own.publicKey, other.publicKey];
const tweak = { kind: 'bip86' };
own.join(publicKeys, tweak);
const theirs = await other.start(publicKeys, tweak);
if (toHex(theirs.outputKey) !== toHex(own.outputKey)) {
  throw new Error(`lnd has another aggregate key: ${toHex(theirs.outputKey)}`);
}
show('aggregate key', own.outputKey);

// Round one: the public nonces.
const otherIndex = 1 - own.index;
const session = own.start(digest);
session.addNonce(otherIndex, theirs.publicNonce);
await other.addNonces([session.publicNonce]);

// Round two: the partial signatures. Each side can combine them; here both do.
const partial = session.sign();
const theirPartial = await other.sign(digest, false);
show('our partial', partial);
show("lnd's partial", theirPartial);
session.addPartialSignature(otherIndex, theirPartial); // throws unless it is valid
const signature = session.finish();
const theirSignature = await other.combine([partial]);
session.dispose();

show('signature', signature);
if (toHex(theirSignature) !== toHex(signature) || !verify(signature, digest, own.outputKey)) {
  throw new Error('the signature is not valid');
}
console.log('valid, and the same for both');
own.dispose();
