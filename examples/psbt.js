import { Address, OutScript, SigHash, Transaction } from '@scure/btc-signer';
import { getPrevOut } from '@scure/btc-signer/transaction.js';
import { toHex } from './cosign.js';

/** The prefixes of addresses by network. */
export const NETWORKS = {
  mainnet: { bech32: 'bc', pubKeyHash: 0x00, scriptHash: 0x05, wif: 0x80 },
  testnet: { bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
  signet: { bech32: 'tb', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
  regtest: { bech32: 'bcrt', pubKeyHash: 0x6f, scriptHash: 0xc4, wif: 0xef },
  simnet: { bech32: 'sb', pubKeyHash: 0x3f, scriptHash: 0x7b, wif: 0x64 },
};

/**
 * The address of a taproot output.
 *
 * @param {Uint8Array} outputKey - 32 bytes.
 * @param {typeof NETWORKS.mainnet} network - one of NETWORKS.
 */
export function addressOf(outputKey, network) {
  return Address(network).encode({ type: 'tr', pubkey: outputKey });
}

/**
 * Reads a PSBT (BIP-174, BIP-370).
 *
 * @param {string} text - base64, as wallets show it, or hexadecimal.
 */
export function readPsbt(text) {
  const compact = text.replaceAll(/\s/g, '');
  if (compact === '') {
    throw new Error('There is no PSBT.');
  }
  const isHex = /^(?:[0-9a-f]{2})+$/i.test(compact);
  if (!isHex && !/^[0-9a-z+/]+={0,2}$/i.test(compact)) {
    throw new Error('This is neither base64 nor hexadecimal.');
  }
  let bytes;
  try {
    bytes = isHex
      ? Uint8Array.from(compact.match(/../g) ?? [], (byte) => parseInt(byte, 16))
      : Uint8Array.from(atob(compact), (character) => character.charCodeAt(0));
  } catch (cause) {
    throw new Error('This base64 is cut off or damaged.', { cause });
  }
  if (!toHex(bytes).startsWith('70736274ff')) {
    throw new Error('This is no PSBT: those begin with "psbt", in base64 "cHNidP8".');
  }
  try {
    return Transaction.fromPSBT(bytes);
  } catch (cause) {
    throw new Error('This PSBT is cut off or damaged.', { cause });
  }
}

/**
 * Creates a PSBT that spends coins of one taproot output. No key is needed for that.
 *
 * @param {{ script: Uint8Array, tapInternalKey: Uint8Array }} output - as `p2tr` of
 * @scure/btc-signer returns it.
 * @param {readonly { txid: string, index: number, amount: bigint }[]} coins
 * @param {readonly { script: Uint8Array, amount: bigint }[]} payments
 */
export function createPsbt({ script, tapInternalKey }, coins, payments) {
  const transaction = new Transaction();
  for (const { txid, index, amount } of coins) {
    transaction.addInput({ txid, index, witnessUtxo: { script, amount }, tapInternalKey });
  }
  payments.forEach((payment) => transaction.addOutput(payment));
  return writePsbt(transaction);
}

/**
 * Writes a PSBT in base64.
 *
 * @param {Transaction} transaction
 */
export function writePsbt(transaction) {
  return btoa(String.fromCharCode(...transaction.toPSBT()));
}

/**
 * The output that an input spends.
 *
 * @param {Transaction} transaction
 * @param {number} index
 * @returns {{ script: Uint8Array, amount: bigint }}
 */
export function spentOutput(transaction, index) {
  const input = transaction.getInput(index);
  if (input.witnessUtxo === undefined && input.nonWitnessUtxo === undefined) {
    // Taproot signs the amounts and scripts of all inputs (BIP-341).
    throw new Error(`The PSBT does not say what input ${index} spends: witnessUtxo is missing.`);
  }
  return getPrevOut(input);
}

/**
 * What the key path of an input signs, 32 bytes (BIP-341).
 *
 * @param {Transaction} transaction
 * @param {number} index
 * @param {number} [sighash] - SIGHASH_DEFAULT by default.
 */
export function keyPathHash(transaction, index, sighash = SigHash.DEFAULT) {
  const spent = Array.from({ length: transaction.inputsLength }, (_, i) => spentOutput(transaction, i));
  return transaction.preimageWitnessV1(
    index,
    spent.map(({ script }) => script),
    sighash,
    spent.map(({ amount }) => amount),
  );
}

/**
 * Finds the inputs that the key of a taproot output can sign, and what it signs.
 *
 * @param {Transaction} transaction
 * @param {Uint8Array} outputKey - 32 bytes.
 */
export function keyPathInputs(transaction, outputKey) {
  const script = toHex(OutScript.encode({ type: 'tr', pubkey: outputKey }));
  const inputs = [];
  for (let index = 0; index < transaction.inputsLength; index++) {
    const spent = spentOutput(transaction, index);
    const { sighashType: sighash = SigHash.DEFAULT, finalScriptWitness } = transaction.getInput(index);
    if (toHex(spent.script) !== script || finalScriptWitness !== undefined) {
      continue;
    }
    // The other types let somebody change the transaction after it is signed.
    if (sighash !== SigHash.DEFAULT && sighash !== SigHash.ALL) {
      throw new Error(`Input ${index} asks for sighash type ${sighash}; only DEFAULT and ALL sign the whole transaction.`);
    }
    inputs.push({ index, amount: spent.amount, sighash, hash: keyPathHash(transaction, index, sighash) });
  }
  return inputs;
}

/**
 * Puts signatures into the inputs that keyPathInputs found, and finishes these.
 *
 * @param {Transaction} transaction
 * @param {readonly { index: number, sighash: number }[]} inputs
 * @param {readonly Uint8Array[]} signatures - 64 bytes each.
 */
export function putSignatures(transaction, inputs, signatures) {
  inputs.forEach(({ index, sighash }, i) => {
    const suffix = sighash === SigHash.DEFAULT ? [] : [sighash];
    transaction.updateInput(index, { tapKeySig: Uint8Array.of(...signatures[i], ...suffix) });
    transaction.finalizeIdx(index);
  });
}
