import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { p2tr, p2tr_pk, type Transaction } from '@scure/btc-signer';
import { init } from 'brontosig';
import { publicKey } from 'brontosig/musig2';
import { confirm, matureCoins, mineUntilTaproot, taprootStatus } from './chain.js';
import {
  NETWORKS,
  putSignatures,
  RpcError,
  signatureHashes,
  Signer,
  signTransaction,
  spend,
  taprootOutput,
  toHex,
  type BitcoinRpc,
  type Coin,
  type Output,
} from './examples.js';
import { BtcdNode, LndNode } from './nodes.js';
import { combine, exchangeNonces, ownContext, random, sign, start } from './parties.js';

await init();

const network = NETWORKS.simnet;
const fee = 1_000n;

const threeSigners = (): Signer[] => Array.from({ length: 3 }, () => new Signer());

/** Somebody else's x-only key. */
const someKey = (): Uint8Array => publicKey(random(32)).slice(1);

const elsewhere = p2tr(someKey(), undefined, network).address;

function transactionOf(coins: readonly Coin[], output: Output): Transaction {
  return spend(coins, output, network, { address: elsewhere, fee });
}

/** Makes sure that a signed transaction is refused with any of its signatures changed in one bit. */
async function assertChecked(rpc: BitcoinRpc, transaction: Transaction): Promise<void> {
  assert.equal(await taprootStatus(rpc), 'active');
  for (let i = 0; i < transaction.inputsLength; i++) {
    const [signature] = transaction.getInput(i).finalScriptWitness!;
    const bad = signature!.slice();
    const bit = Math.floor(Math.random() * 512);
    bad[bit >> 3]! ^= 1 << (bit & 7);
    const hex = transaction.hex.replace(toHex(signature!), toHex(bad));
    assert.notEqual(hex, transaction.hex);
    await assert.rejects(rpc.call('sendrawtransaction', hex), (error) => {
      assert.ok(error instanceof RpcError, `bit ${bit} of input ${i}`);
      assert.match(error.message, /failed to validate input/, `bit ${bit} of input ${i}`);
      return true;
    });
  }
}

/** Sends a signed transaction, and makes sure that the coins have moved. */
async function assertMoves(rpc: BitcoinRpc, transaction: Transaction, coins: readonly Coin[]): Promise<void> {
  const txid = await rpc.call<string>('sendrawtransaction', transaction.hex);
  assert.equal(txid, transaction.id);
  const mined = await confirm(rpc, txid);
  const total = coins.reduce((sum, { amount }) => sum + amount, 0n);
  assert.equal(BigInt(Math.round(mined.vout[0]!.value * 1e8)), total - fee);
  for (const { txid: spent, index } of coins) {
    assert.equal(await rpc.call('gettxout', spent, index), null);
  }
}

/** Spends coins of three signers of ours. */
async function spendOwn(
  rpc: BitcoinRpc,
  signers: readonly Signer[],
  output: Output,
  count: number,
): Promise<void> {
  const coins = (await matureCoins(rpc, output.script)).slice(0, count);
  assert.equal(coins.length, count);
  const transaction = transactionOf(coins, output);
  signTransaction(transaction, signers);
  await assertChecked(rpc, transaction);
  await assertMoves(rpc, transaction, coins);
}

/** btcd is down when the transaction is to be sent, and back later. */
async function broadcastLater(btcd: BtcdNode, signers: readonly Signer[], output: Output): Promise<void> {
  const coins = (await matureCoins(btcd.rpc, output.script)).slice(0, 1);
  const transaction = transactionOf(coins, output);
  signTransaction(transaction, signers);
  const { rpc } = btcd;
  await btcd.stop();
  await assert.rejects(rpc.call('sendrawtransaction', transaction.hex), { code: 'ECONNREFUSED' });
  await btcd.start();
  await assertMoves(btcd.rpc, transaction, coins);
}

async function spendAll(t: TestContext, lnd: LndNode): Promise<void> {
  const [keySigners, treeSigners] = [threeSigners(), threeSigners()];
  const keyOnly = taprootOutput(keySigners, network);
  const withTree = taprootOutput(treeSigners, network, p2tr_pk(someKey()));
  const parties = await start(lnd.client, { ours: 2, theirs: 1, tweak: { kind: 'bip86' } });
  const withLnd = p2tr(ownContext(parties).internalKey, undefined, network);
  for (const [output, key] of [
    [keyOnly, keySigners[0]!.outputKey],
    [withTree, treeSigners[0]!.outputKey],
    [withLnd, ownContext(parties).outputKey],
  ] as const) {
    // OP_1 and the key (BIP-341).
    assert.equal(toHex(output.script), `5120${toHex(key)}`);
  }
  const addresses = [keyOnly, withTree, withLnd].map(({ address }) => address!);

  await BtcdNode.run(addresses, async (btcd) => {
    await mineUntilTaproot(btcd.rpc);
    await t.test('a coin of three keys', async () => spendOwn(btcd.rpc, keySigners, keyOnly, 1));
    await t.test('a coin of three keys that a script could spend too', async () =>
      spendOwn(btcd.rpc, treeSigners, withTree, 1),
    );
    await t.test('two coins, signed in one go', async () => spendOwn(btcd.rpc, keySigners, keyOnly, 2));
    await t.test("a coin of two keys of ours and one of lnd's", async () => {
      const coins = (await matureCoins(btcd.rpc, withLnd.script)).slice(0, 1);
      const transaction = transactionOf(coins, withLnd);
      const [digest] = signatureHashes(transaction);
      await exchangeNonces(parties);
      const signatures = await combine(parties, await sign(parties, digest!, false));
      putSignatures(transaction, signatures.slice(0, 1));
      await assertChecked(btcd.rpc, transaction);
      await assertMoves(btcd.rpc, transaction, coins);
    });
    await t.test('btcd is down at the broadcast', async () => broadcastLater(btcd, keySigners, keyOnly));
  });
}

test('coins of MuSig2 keys move', async (t) => {
  await LndNode.run(async (lnd) => spendAll(t, lnd));
});
