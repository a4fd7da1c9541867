import assert from 'node:assert/strict';
import { test } from 'node:test';
import { schnorr } from '@noble/curves/secp256k1.js';
import { Address, OutScript, RawWitness, type Transaction } from '@scure/btc-signer';

/** The functions of examples/bip322.js. */
interface Bip322 {
  readonly messageHash: (text: string, script: Uint8Array) => Uint8Array;
  readonly toSign: (text: string, script: Uint8Array) => Transaction;
  readonly messageSignature: (signature: Uint8Array) => string;
}

const { messageHash, toSign, messageSignature } = (await import(
  new URL('../../examples/bip322.js', import.meta.url).href
)) as Bip322;

test('messages become the transactions of BIP-322', () => {
  // The address, messages and transaction ids of the BIP's test vectors.
  const script = OutScript.encode(Address().decode('bc1q9vza2e8x573nczrlzms0wvx3gsqjx7vavgkx0l'));
  for (const [text, toSpend, signing] of [
    [
      '',
      'c5680aa69bb8d860bf82d4e9cd3504b55dde018de765a91bb566283c545a99a7',
      '1e9654e951a5ba44c8604c4de6c67fd78a27e81dcadcfe1edf638ba3aaebaed6',
    ],
    [
      'Hello World',
      'b79d196740ad5217771c1098fc4a4b51e0535c32236c71f1ea4d61a2d603352b',
      '88737ae86f2077145f93cc4b153ae9a1cb8d56afa511988c149c5c8c9d93bddf',
    ],
  ] as const) {
    const transaction = toSign(text, script);
    assert.equal(transaction.id, signing);
    assert.equal(Buffer.from(transaction.getInput(0).txid!).toString('hex'), toSpend);
  }
});

test('a signature of a message has the form of a witness, and is for that message and address alone', () => {
  const secretKey = new Uint8Array(32).fill(7);
  const key = schnorr.getPublicKey(secretKey);
  const script = OutScript.encode({ type: 'tr', pubkey: key });
  const hash = messageHash('yes', script);
  const text = messageSignature(schnorr.sign(hash, secretKey));
  const [signature, ...rest] = RawWitness.decode(Buffer.from(text, 'base64'));
  assert.deepEqual(rest, []);
  assert.ok(schnorr.verify(signature!, hash, key));
  const other = OutScript.encode({ type: 'tr', pubkey: schnorr.getPublicKey(new Uint8Array(32).fill(8)) });
  for (const wrong of [messageHash('no', script), messageHash('yes', other)]) {
    assert.equal(schnorr.verify(signature!, wrong, key), false);
  }
});
