import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { schnorr } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '@noble/curves/utils.js';
import { p2tr, Script, Transaction } from '@scure/btc-signer';
import { keyAggExport, keyAggregate, sortKeys } from '@scure/btc-signer/musig2.js';
import { taprootTweakPubkey } from '@scure/btc-signer/utils.js';

const run = promisify(execFile);
const root = new URL('../../', import.meta.url);

/** The functions of examples/psbt.js that are tested alone. */
interface PsbtModule {
  readonly readPsbt: (text: string) => Transaction;
  readonly writePsbt: (transaction: Transaction) => string;
  readonly keyPathInputs: (transaction: Transaction, outputKey: Uint8Array) => (Input & { readonly hash: Uint8Array })[];
  readonly putSignatures: (transaction: Transaction, inputs: readonly Input[], signatures: readonly Uint8Array[]) => void;
}

interface Input {
  readonly index: number;
  readonly sighash: number;
}

const { readPsbt, writePsbt, keyPathInputs, putSignatures } = (await import(
  new URL('examples/psbt.js', root).href
)) as PsbtModule;

const secretKey = new Uint8Array(32).fill(7);
const outputKey = schnorr.getPublicKey(secretKey);
const script = Script.encode(['OP_1', outputKey]);
const other = Script.encode(['OP_1', schnorr.getPublicKey(new Uint8Array(32).fill(8))]);

/** A transaction that spends coins of these scripts. */
function spending(scripts: readonly Uint8Array[], sighashType?: number): Transaction {
  const transaction = new Transaction();
  scripts.forEach((script, i) => {
    transaction.addInput({
      txid: `${i}${i}`.repeat(32),
      index: i,
      witnessUtxo: { script, amount: 10_000n },
      ...(sighashType === undefined ? {} : { sighashType }),
    });
  });
  transaction.addOutput({ script: other, amount: 9_000n });
  return transaction;
}

test('the PSBT example makes transactions that others accept', async () => {
  const { stdout } = await run(process.execPath, [fileURLToPath(new URL('examples/node/psbt.mjs', root))], { timeout: 60_000 });
  const parts = stdout.split(/^\d of \d$/m).slice(1);
  assert.deepEqual(parts.map((part) => part.match(/^ {2}key/gm)?.length), [2, 3]);
  for (const part of parts) {
    const value = (name: string): string => new RegExp(`^ {2}${name} +(.*)$`, 'm').exec(part)?.[1] ?? '';
    const keys = [...part.matchAll(/^ {2}key \d +(.*)$/gm)].map(([, key = '']) => hexToBytes(key));
    const internalKey = keyAggExport(keyAggregate(sortKeys(keys)));
    const output = p2tr(internalKey, undefined, { bech32: 'tb', pubKeyHash: 0, scriptHash: 0, wif: 0 });
    assert.equal(value('address'), output.address);
    const [tweaked] = taprootTweakPubkey(internalKey, new Uint8Array());

    const psbt = Transaction.fromPSBT(Buffer.from(value('PSBT'), 'base64'));
    const final = Transaction.fromRaw(hexToBytes(value('transaction')));
    assert.equal(final.id, psbt.id);
    assert.equal(final.inputsLength, 2);
    for (let i = 0; i < final.inputsLength; i++) {
      const amounts = [60_000n, 50_000n];
      const hash = psbt.preimageWitnessV1(i, amounts.map(() => output.script), 0, amounts);
      const [signature = new Uint8Array(64), ...rest] = final.getInput(i).finalScriptWitness ?? [];
      assert.deepEqual(rest, []);
      assert.ok(schnorr.verify(signature, hash, tweaked), `input ${i}`);
    }
  }
});

test('a PSBT is read as base64 and hexadecimal, and what is none is explained', () => {
  const transaction = spending([script]);
  const base64 = writePsbt(transaction);
  const bytes = Buffer.from(base64, 'base64');
  for (const text of [base64, bytes.toString('hex'), bytes.toString('hex').toUpperCase(), base64.replace(/.{40}/g, '$&\n')]) {
    assert.equal(readPsbt(text).id, transaction.id);
  }
  assert.throws(() => readPsbt('  '), /There is no PSBT/);
  assert.throws(() => readPsbt('a PSBT!'), /neither base64 nor hexadecimal/);
  assert.throws(() => readPsbt('cHNidP8BA'), /base64 is cut off/);
  assert.throws(() => readPsbt(Buffer.from('something').toString('base64')), /no PSBT/);
  assert.throws(() => readPsbt(bytes.subarray(0, -9).toString('base64')), /PSBT is cut off/);
});

test('only inputs of the own key are signed, with sighash types that sign everything', () => {
  assert.deepEqual(keyPathInputs(spending([other]), outputKey), []);
  assert.throws(() => keyPathInputs(spending([script], 3), outputKey), /Input 0 asks for sighash type 3/);
  assert.throws(() => keyPathInputs(spending([script], 0x81), outputKey), /sighash type 129/);
  const bare = new Transaction();
  bare.addInput({ txid: '11'.repeat(32), index: 0 });
  assert.throws(() => keyPathInputs(bare, outputKey), /what input 0 spends/);

  for (const [sighash, length] of [[0, 64], [1, 65]] as const) {
    const transaction = spending([other, script], sighash === 0 ? undefined : sighash);
    const inputs = keyPathInputs(transaction, outputKey);
    assert.deepEqual(inputs.map(({ index }) => index), [1]);
    putSignatures(transaction, inputs, inputs.map(({ hash }) => schnorr.sign(hash, secretKey)));
    const [signature = new Uint8Array()] = transaction.getInput(1).finalScriptWitness ?? [];
    assert.equal(signature.length, length);
    const hash = transaction.preimageWitnessV1(1, [other, script], sighash, [10_000n, 10_000n]);
    assert.ok(schnorr.verify(signature.subarray(0, 64), hash, outputKey));
    assert.equal(transaction.isFinal, false, 'the input of somebody else is not final');
    // What is signed already is not signed again.
    assert.deepEqual(keyPathInputs(transaction, outputKey), []);
  }
});
