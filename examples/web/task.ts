import { OutScript, type Transaction } from '@scure/btc-signer';
import { messageHash, messageSignature } from '../bip322.js';
import { toHex } from '../cosign.js';
import { addressOf, createPsbt, keyPathInputs, NETWORKS, putSignatures, readPsbt, writePsbt } from '../psbt.js';
import { fromHex, InputError } from './packets.js';

/** The networks whose addresses a room can make. */
export type NetworkName = 'signet' | 'regtest' | 'mainnet';

/** Whether a text names a network. */
export function isNetwork(text: string): text is NetworkName {
  return ['signet', 'regtest', 'mainnet'].includes(text);
}

/** The address of an output key. */
export function addressText(outputKey: Uint8Array, network: NetworkName): string {
  return addressOf(outputKey, NETWORKS[network]);
}

/** What the signers of a room sign: a message, or the inputs of a transaction. */
export interface Task {
  readonly kind: 'message' | 'psbt';
  /** UTF-8, or the PSBT before it is signed. */
  readonly data: Uint8Array;
  /** What each signature signs, 32 bytes. */
  readonly hashes: readonly Uint8Array[];
  /** What a signer has to know before it agrees, as names and values. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  /** Puts the signatures in place. */
  readonly complete: (signatures: readonly Uint8Array[]) => Result;
}

/** What comes out in the end. */
export interface Result {
  readonly title: string;
  readonly facts: readonly (readonly [name: string, value: string])[];
}

/**
 * Makes the task of signing a message with an address (BIP-322).
 *
 * @throws InputError
 */
export function messageTask(data: Uint8Array, outputKey: Uint8Array, network: NetworkName): Task {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(data);
  } catch (cause) {
    throw new InputError('This message is no text.', { cause });
  }
  if (text.trim() === '') {
    throw new InputError('Type the message that all of you are to sign.');
  }
  return {
    kind: 'message',
    data,
    hashes: [messageHash(text, scriptOf(outputKey))],
    facts: [['Message', text]],
    complete: ([signature = new Uint8Array()]) => ({
      title: 'The message is signed.',
      facts: [
        ['Address', addressText(outputKey, network)],
        ['Message', text],
        ['Signature, BIP-322', messageSignature(signature)],
        ['Signature, BIP-340', toHex(signature)],
      ],
    }),
  };
}

/**
 * Makes the task of signing all inputs of a PSBT that spend coins of an address.
 *
 * @param text - the PSBT, in base64 or hexadecimal.
 * @throws InputError
 */
export function psbtTask(text: string, outputKey: Uint8Array, network: NetworkName): Task {
  let transaction: Transaction;
  let inputs;
  let facts;
  try {
    transaction = readPsbt(text);
    inputs = keyPathInputs(transaction, outputKey);
    facts = transactionFacts(transaction, inputs, scriptOf(outputKey), network);
  } catch (cause) {
    throw new InputError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
  if (inputs.length === 0) {
    throw new InputError(
      'No unsigned input of this PSBT spends a coin of the address above. Was it made for other keys, or for another order of tweaks?',
    );
  }
  const data = transaction.toPSBT();
  return {
    kind: 'psbt',
    data,
    hashes: inputs.map(({ hash }) => hash),
    facts,
    complete: (signatures) => {
      const signed = readPsbt(toHex(data));
      putSignatures(signed, inputs, signatures);
      return signed.isFinal
        ? {
            title: 'The transaction is final.',
            facts: [
              ['Transaction', toHex(signed.extract())],
              ['Transaction id', signed.id],
              ['Size', `${signed.vsize} vbytes, as if one key had signed`],
            ],
          }
        : {
            title: 'Your inputs are signed; others of the transaction are not.',
            facts: [['PSBT', writePsbt(signed)]],
          };
    },
  };
}

/** Makes a PSBT that spends two coins that do not exist, to try the page with. */
export function examplePsbt(outputKey: Uint8Array, internalKey: Uint8Array): string {
  const script = scriptOf(outputKey);
  // BIP-173's example of a program of 20 bytes.
  const receiver = fromHex('script', '0014751e76e8199196d454941c45d1b3a323f1433bd6');
  return createPsbt(
    { script, tapInternalKey: internalKey },
    [60_000n, 50_000n].map((amount, index) => ({ txid: toHex(crypto.getRandomValues(new Uint8Array(32))), index, amount })),
    [
      { script: receiver, amount: 100_000n },
      { script, amount: 9_000n }, // change; the rest is the fee
    ],
  );
}

function scriptOf(outputKey: Uint8Array): Uint8Array {
  return OutScript.encode({ type: 'tr', pubkey: outputKey });
}

function transactionFacts(
  transaction: Transaction,
  inputs: readonly { readonly index: number; readonly amount: bigint }[],
  ownScript: Uint8Array,
  network: NetworkName,
): [string, string][] {
  const facts: [string, string][] = inputs.map(({ index, amount }) => [`Spends, input ${index}`, `${sat(amount)} of this address`]);
  const others = transaction.inputsLength - inputs.length;
  if (others > 0) {
    facts.push(['Other inputs', `${others}, which you do not sign`]);
  }
  for (let i = 0; i < transaction.outputsLength; i++) {
    const { amount = 0n, script } = transaction.getOutput(i);
    const address = transaction.getOutputAddress(i, NETWORKS[network]) ?? `script ${toHex(script ?? [])}`;
    const own = script !== undefined && toHex(script) === toHex(ownScript) ? ' (this address)' : '';
    facts.push([`Pays, output ${i}`, `${sat(amount)} to ${address}${own}`]);
  }
  facts.push(['Fee', sat(transaction.fee)]);
  return facts;
}

function sat(amount: bigint): string {
  return `${amount.toString().replace(/\B(?=(\d{3})+$)/g, '\u202f')} sat`;
}
