// One MuSig2 session of n signers in this package and in others: each signer
// aggregates the keys, makes a nonce, signs under the aggregate nonce that one
// of them has computed, and verifies the partial signature of its neighbour;
// one combines them and verifies the signature.

import { getRandomValues } from 'node:crypto';

import { schnorr, secp256k1 } from '@noble/curves/secp256k1.js';
import * as scure from '@scure/btc-signer/musig2.js';
import zkpModule from '@vulpemventures/secp256k1-zkp';
import { aggregateNonces, Context } from 'brontosig/musig2';

const zkp = await (zkpModule.default ?? zkpModule)();
const random = (size) => getRandomValues(new Uint8Array(size));

function must(valid) {
  if (!valid) {
    throw new Error('a signature is not valid');
  }
}

/** The keys of n signers and a message. */
export function party(n) {
  const secretKeys = Array.from({ length: n }, () => secp256k1.utils.randomSecretKey());
  return { secretKeys, publicKeys: secretKeys.map((key) => secp256k1.getPublicKey(key, true)), message: random(32) };
}

export function ours({ secretKeys, publicKeys, message }) {
  const n = publicKeys.length;
  const contexts = secretKeys.map((secretKey, signerIndex) => new Context({ publicKeys, sort: false, secretKey, signerIndex }));
  const sessions = contexts.map((context) => context.newSession({ message }));
  const nonces = sessions.map((session) => session.publicNonce);
  const aggregateNonce = aggregateNonces(nonces);
  const partials = sessions.map((session) => {
    session.setAggregateNonce(aggregateNonce);
    return session.sign();
  });
  for (let i = 0; i < n; i++) {
    const neighbour = (i + 1) % n;
    sessions[i].addNonce(neighbour, nonces[neighbour]);
    sessions[i].addPartialSignature(neighbour, partials[neighbour]);
  }
  for (let i = 2; i < n; i++) {
    sessions[0].addPartialSignature(i, partials[i]);
  }
  // Verifies the signature, and throws if it is not valid.
  sessions[0].finish();
  for (const object of [...sessions, ...contexts]) {
    object.dispose();
  }
}

export function btcSigner({ secretKeys, publicKeys, message }) {
  const n = publicKeys.length;
  const nonces = secretKeys.map((secretKey, i) => scure.nonceGen(publicKeys[i], secretKey));
  const publicNonces = nonces.map((nonce) => nonce.public);
  const aggregateNonce = scure.nonceAggregate(publicNonces);
  const sessions = secretKeys.map(() => new scure.Session(aggregateNonce, publicKeys, message));
  const partials = sessions.map((session, i) => session.sign(nonces[i].secret, secretKeys[i]));
  for (let i = 0; i < n; i++) {
    const neighbour = (i + 1) % n;
    must(sessions[i].partialSigVerify(partials[neighbour], publicNonces, neighbour));
  }
  const signature = sessions[0].partialSigAgg(partials);
  must(schnorr.verify(signature, message, scure.keyAggExport(scure.keyAggregate(publicKeys))));
}

export function secp256k1Zkp({ secretKeys, publicKeys, message }) {
  const { musig } = zkp;
  const n = publicKeys.length;
  const aggregates = publicKeys.map(() => musig.pubkeyAgg(publicKeys));
  const nonces = publicKeys.map((key) => musig.nonceGen(random(32), key));
  const aggregateNonce = musig.nonceAgg(nonces.map((nonce) => nonce.pubNonce));
  const sessions = aggregates.map(({ keyaggCache }) => musig.nonceProcess(aggregateNonce, message, keyaggCache));
  const partials = sessions.map((session, i) =>
    musig.partialSign(nonces[i].secNonce, secretKeys[i], aggregates[i].keyaggCache, session),
  );
  for (let i = 0; i < n; i++) {
    const j = (i + 1) % n;
    must(musig.partialVerify(partials[j], nonces[j].pubNonce, publicKeys[j], aggregates[i].keyaggCache, sessions[i]));
  }
  const signature = musig.partialSigAgg(sessions[0], partials);
  must(zkp.ecc.verifySchnorr(message, aggregates[0].aggPubkey, signature));
}

/** The x-only aggregate of keys. */
export const aggregate = {
  ours: (publicKeys) => {
    const context = new Context({ publicKeys, sort: false });
    const key = context.outputKey;
    context.dispose();
    return key;
  },
  btcSigner: (publicKeys) => scure.keyAggExport(scure.keyAggregate(publicKeys)),
  secp256k1Zkp: (publicKeys) => zkp.musig.pubkeyAgg(publicKeys).aggPubkey,
};
