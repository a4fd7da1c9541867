// MuSig2 sessions and key aggregation beside other implementations.

import { inside } from './inside.mjs';
import { compare, duration, header, ratio, row } from './measure.mjs';
import { aggregate, btcSigner, ours, party, secp256k1Zkp } from './parties.mjs';
import { goModule, npm } from './versions.mjs';

const PEERS = {
  zkp: npm('@vulpemventures/secp256k1-zkp'),
  btcSigner: npm('@scure/btc-signer'),
  btcec: `${goModule('github.com/btcsuite/btcd/btcec/v2', 'btcec')} in Go wasm`,
};

function print(work, times) {
  const peers = Object.keys(PEERS).map((name) =>
    times[name] === undefined ? '–' : `${duration(times[name])} (${ratio(times[name], times.ours)})`,
  );
  row(work, duration(times.ours), ...peers);
}

function session(n, rounds, calls) {
  const signers = party(n);
  const repeat = (once) => (c) => {
    for (let i = 0; i < c; i++) {
      once(signers);
    }
  };
  const times = compare(
    {
      ours: repeat(ours),
      zkp: repeat(secp256k1Zkp),
      btcSigner: repeat(btcSigner),
      btcec: (c) => inside('btcec', n, c)[0],
    },
    { rounds, calls },
  );
  print(`session of ${n} signers`, times);
}

function aggregation(n) {
  const { publicKeys } = party(n);
  const variants = { ours: aggregate.ours, zkp: aggregate.secp256k1Zkp, btcSigner: aggregate.btcSigner };
  const keys = Object.values(variants).map((of) => Buffer.from(of(publicKeys)).toString('hex'));
  if (new Set(keys).size !== 1) {
    throw new Error('the implementations differ in the aggregate key');
  }
  const times = compare(
    Object.fromEntries(Object.entries(variants).map(([name, of]) => [name, () => void of(publicKeys)])),
    { rounds: 9 },
  );
  print(`aggregation of ${n} keys`, times);
}

/** Prints the table. */
export function musig2() {
  header('MuSig2 (how many times ours)', 'ours', ...Object.values(PEERS));
  session(2, 11, 5);
  session(10, 5, 1);
  aggregation(100);
}
