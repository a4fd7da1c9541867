// Receives and spends coins with three keys that only sign together: to the
// network it is an ordinary taproot output with one key.
//
//   node examples/node/spend.mjs address KEYFILE NETWORK
//   node examples/node/spend.mjs spend KEYFILE ADDRESS FEE TXID:INDEX...
//
// The first makes three keys, writes them into a new file, and prints the address
// to pay to. NETWORK is mainnet, testnet, signet, regtest or simnet: begin with a
// network whose coins are worth nothing. The second sends the coins that were
// paid in the given outputs to ADDRESS, and FEE satoshi to the miner.
//
// The node, Bitcoin Core or btcd, is named in the environment:
//
//   BITCOIN_RPC       where it is, with its credentials: http://USER:PASSWORD@127.0.0.1:8332
//   BITCOIN_RPC_CERT  its certificate file, if the address is an https one (btcd: ~/.btcd/rpc.cert)
//
// In life the three keys are on three machines. See ../cosign.js for what travels
// between them.

import { readFile, writeFile } from 'node:fs/promises';
import { init } from 'brontosig';
import { Signer, toHex } from '../cosign.js';
import { BitcoinRpc } from './bitcoin-rpc.mjs';
import { NETWORKS, signTransaction, spend, taprootOutput } from './taproot.mjs';

function usage() {
  console.error(`usage: node examples/node/spend.mjs address KEYFILE NETWORK
       node examples/node/spend.mjs spend KEYFILE ADDRESS FEE TXID:INDEX...`);
  process.exit(2);
}

async function makeAddress(file, network) {
  const secretKeys = Array.from({ length: 3 }, () => crypto.getRandomValues(new Uint8Array(32)));
  const content = JSON.stringify({ network, secretKeys: secretKeys.map(toHex) });
  // A file that exists stays as it is: there may be coins on its keys.
  await writeFile(file, `${content}\n`, { flag: 'wx', mode: 0o600 });
  const signers = secretKeys.map((secretKey) => new Signer(secretKey));
  console.log(taprootOutput(signers, NETWORKS[network]).address);
  signers.forEach((signer) => signer.dispose());
}

async function spendCoins(file, address, fee, outpoints) {
  const { network, secretKeys } = JSON.parse(await readFile(file, 'utf8'));
  const signers = secretKeys.map((hex) => new Signer(new Uint8Array(Buffer.from(hex, 'hex'))));
  const output = taprootOutput(signers, NETWORKS[network]);

  const rpc = await connectRpc();
  const coins = await Promise.all(outpoints.map((outpoint) => findCoin(rpc, outpoint, toHex(output.script))));
  const transaction = spend(coins, output, NETWORKS[network], { address, fee: BigInt(fee) });
  signTransaction(transaction, signers);
  signers.forEach((signer) => signer.dispose());
  try {
    console.log(await rpc.call('sendrawtransaction', transaction.hex));
  } catch (error) {
    console.error(`It is signed but was not accepted. The command sendrawtransaction can still send it:\n${transaction.hex}`);
    throw error;
  }
}

async function connectRpc() {
  const { BITCOIN_RPC: url, BITCOIN_RPC_CERT: certificateFile } = process.env;
  if (url === undefined) {
    console.error('name your node in BITCOIN_RPC, as http://USER:PASSWORD@127.0.0.1:8332');
    process.exit(2);
  }
  return new BitcoinRpc({ url, certificate: certificateFile && (await readFile(certificateFile, 'utf8')) });
}

/** Asks the node what is in an output, and whether it is ours. */
async function findCoin(rpc, outpoint, script) {
  const [txid, index] = outpoint.split(':');
  const found = await rpc.call('gettxout', txid, Number(index));
  if (!found) {
    throw new Error(`${outpoint} does not exist or is spent`);
  }
  if (found.scriptPubKey.hex !== script) {
    throw new Error(`${outpoint} does not belong to the three keys`);
  }
  return { txid, index: Number(index), amount: BigInt(Math.round(found.value * 1e8)) };
}

await init();
const [command, file, ...rest] = process.argv.slice(2);
if (command === 'address' && rest.length === 1 && Object.hasOwn(NETWORKS, rest[0])) {
  await makeAddress(file, rest[0]);
} else if (command === 'spend' && rest.length >= 3 && /^\d+$/.test(rest[1])) {
  await spendCoins(file, rest[0], rest[1], rest.slice(2));
} else {
  usage();
}
