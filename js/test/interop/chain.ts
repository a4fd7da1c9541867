import assert from 'node:assert/strict';
import { toHex, type BitcoinRpc, type Coin } from './examples.js';

/** Blocks until a mined coin can be spent, beside its own. */
const MATURITY = 100;

/** More than three of the periods of 100 blocks in which simnet votes. */
const ENOUGH_BLOCKS = 400;

interface ChainInfo {
  readonly blocks: number;
  readonly bip9_softforks: { readonly taproot: { readonly status: string } };
}

interface Block {
  readonly height: number;
  readonly rawtx: readonly {
    readonly txid: string;
    readonly vout: readonly { readonly value: number; readonly scriptPubKey: { readonly hex: string } }[];
  }[];
}

/** What a transaction in the chain looks like. */
export interface Mined {
  readonly confirmations: number;
  readonly vout: readonly { readonly value: number }[];
}

/** Whether the node checks the rules of taproot. */
export async function taprootStatus(rpc: BitcoinRpc): Promise<string> {
  const info = await rpc.call<ChainInfo>('getblockchaininfo');
  return info.bip9_softforks.taproot.status;
}

/** Mines until taproot is active and coins have matured. */
export async function mineUntilTaproot(rpc: BitcoinRpc): Promise<void> {
  for (let mined = 0; mined < ENOUGH_BLOCKS; mined += MATURITY) {
    await rpc.call('generate', MATURITY);
  }
  assert.equal(await taprootStatus(rpc), 'active');
}

/** Finds the mined coins of a script that are mature and not spent, the oldest first. */
export async function matureCoins(rpc: BitcoinRpc, script: Uint8Array): Promise<Coin[]> {
  const { blocks } = await rpc.call<ChainInfo>('getblockchaininfo');
  const coins: Coin[] = [];
  for (let height = 1; height <= blocks - MATURITY; height++) {
    const hash = await rpc.call<string>('getblockhash', height);
    const [coinbase] = (await rpc.call<Block>('getblock', hash, 2)).rawtx;
    const [output] = coinbase!.vout;
    if (output!.scriptPubKey.hex === toHex(script) && (await rpc.call('gettxout', coinbase!.txid, 0)) !== null) {
      coins.push({ txid: coinbase!.txid, index: 0, amount: BigInt(Math.round(output!.value * 1e8)) });
    }
  }
  return coins;
}

/** Mines a block and makes sure that a transaction is in it. */
export async function confirm(rpc: BitcoinRpc, txid: string): Promise<Mined> {
  await rpc.call('generate', 1);
  const mined = await rpc.call<Mined>('getrawtransaction', txid, 1);
  assert.equal(mined.confirmations, 1);
  return mined;
}
