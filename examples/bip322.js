import { RawWitness, Transaction } from '@scure/btc-signer';
import { tagSchnorr } from '@scure/btc-signer/utils.js';
import { keyPathHash } from './psbt.js';

/**
 * What a BIP-322 message signature signs under the key path of a taproot output,
 * 32 bytes. It is the hash of a transaction that can never be sent, so that no
 * message is at the same time a payment.
 *
 * @param {string} text - the message.
 * @param {Uint8Array} script - the output script of the address that signs.
 */
export function messageHash(text, script) {
  return keyPathHash(toSign(text, script), 0);
}

/**
 * The transaction whose input carries the signature of a message.
 *
 * @param {string} text
 * @param {Uint8Array} script
 */
export function toSign(text, script) {
  const message = tagSchnorr('BIP0322-signed-message', new TextEncoder().encode(text));
  const options = { version: 0, allowUnknownVersion: true, allowUnknownOutputs: true, disableScriptCheck: true };
  const toSpend = new Transaction(options);
  toSpend.addOutput({ script, amount: 0n }); // first: the input counts as signed
  toSpend.addInput({
    txid: new Uint8Array(32),
    index: 0xffff_ffff,
    sequence: 0,
    finalScriptSig: Uint8Array.of(0x00, 0x20, ...message),
  });

  const signing = new Transaction(options);
  signing.addInput({ txid: toSpend.id, index: 0, sequence: 0, witnessUtxo: { script, amount: 0n } });
  signing.addOutput({ script: Uint8Array.of(0x6a), amount: 0n }); // OP_RETURN
  return signing;
}

/**
 * Writes a key-path signature in the simple form of BIP-322: its witness, in base64.
 *
 * @param {Uint8Array} signature - 64 bytes.
 */
export function messageSignature(signature) {
  return btoa(String.fromCharCode(...RawWitness.encode([signature])));
}
