import { p2tr, Transaction } from '@scure/btc-signer';
import { signTogether } from '../cosign.js';
import { keyPathHash } from '../psbt.js';

export { NETWORKS } from '../psbt.js';

/**
 * The taproot output of a set of signers, which all of them spend together.
 *
 * @param signers - Signers. They join each other for this output.
 * @param network - one of NETWORKS.
 * @param tree - a tree of scripts that can spend it too (BIP-341), as
 * @scure/btc-signer's p2tr takes it; none by default.
 * @returns what p2tr returns: among others `address` and `script`.
 */
export function taprootOutput(signers, network, tree) {
  const publicKeys = signers.map((signer) => signer.publicKey);
  const join = (tweak) => signers.forEach((signer) => signer.join(publicKeys, tweak));
  join({ kind: 'bip86' });
  if (tree === undefined) {
    return p2tr(signers[0].internalKey, undefined, network);
  }
  const output = p2tr(signers[0].internalKey, tree, network);
  join({ kind: 'taproot', merkleRoot: output.tapMerkleRoot });
  return output;
}

/**
 * Makes the transaction that sends coins of one taproot output's script to an
 * address, all of them but for the fee. It is not signed yet.
 *
 * @param coins - { txid, index, amount } each, with amounts in satoshi as BigInt.
 * @param output - what taprootOutput returned.
 */
export function spend(coins, output, network, { address, fee }) {
  const transaction = new Transaction();
  for (const { txid, index, amount } of coins) {
    transaction.addInput({ txid, index, witnessUtxo: { script: output.script, amount } });
  }
  const total = coins.reduce((sum, { amount }) => sum + amount, 0n);
  transaction.addOutputAddress(address, total - fee, network);
  return transaction;
}

/** What is signed of each input, 32 bytes each (BIP-341, SIGHASH_DEFAULT). */
export function signatureHashes(transaction) {
  return Array.from({ length: transaction.inputsLength }, (_, i) => keyPathHash(transaction, i));
}

/** Puts a signature, 64 bytes, into each input, and finishes the transaction. */
export function putSignatures(transaction, signatures) {
  signatures.forEach((signature, i) => transaction.updateInput(i, { tapKeySig: signature }));
  transaction.finalize();
}

/** Lets the signers sign all inputs at once. */
export function signTransaction(transaction, signers) {
  const signed = signTogether(signers, signatureHashes(transaction));
  putSignatures(
    transaction,
    signed.map(({ signature }) => signature),
  );
}
