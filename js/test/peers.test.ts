import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import * as scure from '@scure/btc-signer/musig2.js';
import zkp from '@vulpemventures/secp256k1-zkp';
import { init } from 'brontosig';
import { Context, publicKey } from 'brontosig/musig2';

// What the README's table says of other packages for MuSig2, and that it is
// otherwise here. lnmessage.test.ts does the same for connections.

const secretKeys = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
const [ownKey = new Uint8Array()] = secretKeys;
const message = new Uint8Array(32).fill(3);
const other = new Uint8Array(32).fill(4);

before(async () => init());

void test('scure signs again with a copy of a secret nonce, and combines a wrong part', () => {
  const keys = secretKeys.map((key) => scure.IndividualPubkey(key));
  const nonces = secretKeys.map((key, i) => scure.nonceGen(keys[i]!, key));
  const aggregate = scure.nonceAggregate(nonces.map((nonce) => nonce.public));
  const copy = nonces[0]!.secret.slice();
  const session = new scure.Session(aggregate, keys, message);
  const part = session.sign(nonces[0]!.secret, ownKey);
  assert.throws(() => new scure.Session(aggregate, keys, other).sign(nonces[0]!.secret, ownKey));
  assert.equal(new scure.Session(aggregate, keys, other).sign(copy, ownKey).length, 32);
  assert.equal(session.partialSigAgg([part, new Uint8Array(32).fill(1)]).length, 64);
});

void test('secp256k1-zkp signs again with a secret nonce, repeats nonces, and combines a wrong part', async () => {
  const { musig } = await zkp.default();
  const keys = secretKeys.map((key) => scure.IndividualPubkey(key));
  const { keyaggCache } = musig.pubkeyAgg(keys);
  const nonces = keys.map((key, i) => musig.nonceGen(new Uint8Array(32).fill(5 + i), key));
  assert.deepEqual(musig.nonceGen(new Uint8Array(32).fill(5), keys[0]!), nonces[0]);
  const aggregate = musig.nonceAgg(nonces.map((nonce) => nonce.pubNonce));
  const [first, second] = [message, other].map((m) => {
    const session = musig.nonceProcess(aggregate, m, keyaggCache);
    return { session, part: musig.partialSign(nonces[0]!.secNonce, ownKey, keyaggCache, session) };
  });
  assert.notDeepEqual(first!.part, second!.part);
  assert.equal(musig.partialSigAgg(first!.session, [first!.part, new Uint8Array(32).fill(1)]).length, 64);
});

void test('a session here has no secret nonce to copy, signs once, and names who sent a wrong part', () => {
  const publicKeys = secretKeys.map((key) => publicKey(key));
  const [alice, bob] = secretKeys.map((secretKey) => new Context({ publicKeys, sort: false, secretKey }));
  const [session, bobs] = [alice!.newSession(), bob!.newSession()];
  session.addNonce(1, bobs.publicNonce);
  session.sign(message);
  assert.throws(() => session.sign(other), { code: 'NONCE_USED' });
  assert.throws(() => structuredClone(session), { name: 'DataCloneError' });
  assert.throws(() => {
    session.addPartialSignature(1, new Uint8Array(32).fill(1));
  }, { code: 'INVALID_CONTRIBUTION', signerIndex: 1, contribution: 'psig' });
});
