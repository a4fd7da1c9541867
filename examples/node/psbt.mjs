// From keys to a finished transaction by way of a PSBT, for two signers and for
// three, whose coins lie on one taproot key (BIP-86, key path). Nothing is sent:
//
//   node examples/node/psbt.mjs
//
// The steps are those of BIP-174: somebody who holds no key creates the PSBT, the
// signers sign it together, and it is finalized and extracted. The coins are made
// up; with your own, `bitcoin-cli walletcreatefundedpsbt` or any wallet that
// watches the address creates the PSBT.

import { deepStrictEqual } from 'node:assert/strict';
import { schnorr } from '@noble/curves/secp256k1.js';
import { Address, OutScript, p2tr, Transaction } from '@scure/btc-signer';
import { init } from 'brontosig';
import { Signer, signTogether, toHex } from '../cosign.js';
import { createPsbt, keyPathHash, keyPathInputs, NETWORKS, putSignatures, readPsbt } from '../psbt.js';

const network = NETWORKS.signet;
const RECEIVER = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const COINS = [60_000n, 50_000n];

function show(name, value) {
  console.log(`  ${name.padEnd(12)}${value}`);
}

/** Keys, and the output that they own together. */
function makeSigners(count) {
  const signers = Array.from({ length: count }, () => new Signer());
  const publicKeys = signers.map((signer) => signer.publicKey);
  signers.forEach((signer) => signer.join(publicKeys));
  return { signers, output: p2tr(signers[0].internalKey, undefined, network) };
}

/** What somebody who holds no key does: names the coins, and who is paid. */
function create(output) {
  const receiver = OutScript.encode(Address(network).decode(RECEIVER));
  return createPsbt(
    output,
    COINS.map((amount, index) => ({ txid: `${index + 1}`.repeat(64), index, amount })),
    [
      { script: receiver, amount: 100_000n },
      { script: output.script, amount: 9_000n }, // change; the rest is the fee
    ],
  );
}

/** What each signer computes from the PSBT by itself. It asks its user before. */
function review(psbt, outputKey) {
  const transaction = readPsbt(psbt);
  const inputs = keyPathInputs(transaction, outputKey);
  for (let i = 0; i < transaction.outputsLength; i++) {
    show(`output ${i}`, `${transaction.getOutput(i).amount} sat to ${transaction.getOutputAddress(i, network)}`);
  }
  show('fee', `${transaction.fee} sat`);
  return { transaction, inputs };
}

/** Checks the extracted transaction against the coins with other code than ours. */
function verify(bytes, coins, outputKey) {
  const transaction = Transaction.fromRaw(bytes);
  coins.forEach((witnessUtxo, i) => transaction.updateInput(i, { witnessUtxo }, true));
  coins.forEach((_, i) => {
    const [signature, ...more] = transaction.getInput(i).finalScriptWitness;
    deepStrictEqual(more, []);
    if (!schnorr.verify(signature, keyPathHash(transaction, i), outputKey)) {
      throw new Error(`the signature of input ${i} is not valid`);
    }
  });
}

await init();
for (const count of [2, 3]) {
  console.log(`${count} of ${count}`);
  const { signers, output } = makeSigners(count);
  signers.forEach(({ publicKey }, i) => show(`key ${i}`, toHex(publicKey)));
  show('address', output.address);

  const psbt = create(output);
  show('PSBT', psbt);
  const { transaction, inputs } = review(psbt, signers[0].outputKey);

  // One session of each signer for each input, all of them in the same two rounds.
  const signed = signTogether(
    signers,
    inputs.map(({ hash }) => hash),
  );
  putSignatures(
    transaction,
    inputs,
    signed.map(({ signature }) => signature),
  );
  const coins = inputs.map(({ amount }) => ({ script: output.script, amount }));
  const bytes = transaction.extract();
  verify(bytes, coins, signers[0].outputKey);
  show('transaction', toHex(bytes));
  show('size', `${transaction.vsize} vbytes, as if one key had signed`);
  signers.forEach((signer) => signer.dispose());
}
console.log('all signatures are valid');
