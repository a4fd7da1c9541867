// What the examples share is what the tests use: an example that stops working
// is a test that fails. The examples are JavaScript; here are their types.

import type { Session, Tweak } from 'brontosig/musig2';
import type { Transaction, p2tr } from '@scure/btc-signer';

/** A class of examples/node/lnd.mjs. */
export interface LndClient {
  call(path: string, body?: object, method?: string): Promise<Record<string, unknown>>;
  subscribe(path: string, signal?: AbortSignal): AsyncIterableIterator<Record<string, unknown>>;
}

/** A class of examples/node/lnd.mjs. */
export interface LndSigner {
  readonly publicKey: Uint8Array;
  start(
    publicKeys: readonly Uint8Array[],
    tweak?: Tweak,
  ): Promise<{ outputKey: Uint8Array; internalKey: Uint8Array | undefined; publicNonce: Uint8Array }>;
  addNonces(publicNonces: readonly Uint8Array[]): Promise<void>;
  setAggregateNonce(aggregateNonce: Uint8Array): Promise<void>;
  sign(digest: Uint8Array, last: boolean): Promise<Uint8Array>;
  combine(partialSignatures: readonly Uint8Array[]): Promise<Uint8Array>;
}

interface LndModule {
  readonly Lnd: new (options: { url: string; certificate: string; macaroon: Uint8Array }) => LndClient;
  readonly LndError: new (message: string) => Error;
  readonly LndSigner: { create(lnd: LndClient, family?: number): Promise<LndSigner> };
  readonly toBase64: (bytes: Uint8Array) => string;
  readonly fromBase64: (text: string) => Uint8Array;
}

/** The class of examples/cosign.js. */
export interface Signer {
  readonly publicKey: Uint8Array;
  readonly index: number;
  readonly outputKey: Uint8Array;
  readonly internalKey: Uint8Array;
  join(publicKeys: readonly Uint8Array[], tweak?: Tweak): void;
  start(message: Uint8Array): Session;
  dispose(): void;
}

interface CosignModule {
  readonly Signer: new (secretKey?: Uint8Array) => Signer;
  readonly toHex: (bytes: Uint8Array) => string;
}

/** The class of examples/node/bitcoin-rpc.mjs. */
export interface BitcoinRpc {
  call<T>(method: string, ...params: unknown[]): Promise<T>;
}

interface BitcoinModule {
  readonly BitcoinRpc: new (options: { url: string; certificate?: string }) => BitcoinRpc;
  readonly RpcError: new (message: string, code: number) => Error & { readonly code: number };
}

/** Prefixes of addresses. */
export interface Network {
  readonly bech32: string;
  readonly pubKeyHash: number;
  readonly scriptHash: number;
  readonly wif: number;
}

/** A taproot output as @scure/btc-signer describes it. */
export type Output = Pick<ReturnType<typeof p2tr>, 'script'> & { readonly address?: string };

/** An output that can be spent. */
export interface Coin {
  readonly txid: string;
  readonly index: number;
  readonly amount: bigint;
}

interface TaprootModule {
  readonly NETWORKS: Readonly<Record<'simnet' | 'regtest', Network>>;
  readonly taprootOutput: (signers: readonly Signer[], network: Network, tree?: object) => Output;
  readonly spend: (
    coins: readonly Coin[],
    output: Output,
    network: Network,
    to: { address: string; fee: bigint },
  ) => Transaction;
  readonly signatureHashes: (transaction: Transaction) => Uint8Array[];
  readonly putSignatures: (transaction: Transaction, signatures: readonly Uint8Array[]) => void;
  readonly signTransaction: (transaction: Transaction, signers: readonly Signer[]) => void;
}

/** The folder of the examples. */
export const examples: URL = new URL('../../../examples/', import.meta.url);

async function load(name: string): Promise<unknown> {
  return import(new URL(name, examples).href);
}

export const { Lnd, LndError, LndSigner, toBase64, fromBase64 } = (await load('node/lnd.mjs')) as LndModule;
export const { Signer, toHex } = (await load('cosign.js')) as CosignModule;
export const { BitcoinRpc, RpcError } = (await load('node/bitcoin-rpc.mjs')) as BitcoinModule;
export const { NETWORKS, taprootOutput, spend, signatureHashes, putSignatures, signTransaction } = (await load(
  'node/taproot.mjs',
)) as TaprootModule;
