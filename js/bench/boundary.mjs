// What the boundary between JavaScript and the module costs: each MuSig2 call
// from JavaScript beside the same work inside Go wasm, and one call with much
// and little data beside js.FuncOf.

import { Context, aggregateNonces } from 'brontosig/musig2';
import { Handle, handleOf } from '../../dist/handle.js';
import { call, output } from '../../dist/runtime.js';
import { funcofMessage, inside } from './inside.mjs';
import { compare, duration, header, median, ratio, row } from './measure.mjs';
import { party } from './parties.mjs';

const PHASES = {
  'new Context(), two keys': 2,
  'newSession(), publicNonce': 2,
  'aggregateNonces(), two nonces': 1,
  'setAggregateNonce(), sign()': 2,
  'addNonce(), addPartialSignature()': 2,
  'finish()': 1,
};

/** The phases of js/bench/inside/session.go, from JavaScript: milliseconds of each. */
function fromJavaScript({ secretKeys, publicKeys, message }, calls) {
  const phases = Object.keys(PHASES).map(() => 0);
  for (let i = 0; i < calls; i++) {
    let at = 0;
    let started = performance.now();
    const lap = () => {
      const now = performance.now();
      phases[at++] += now - started;
      started = now;
    };
    const contexts = secretKeys.map((secretKey, signerIndex) => new Context({ publicKeys, sort: false, secretKey, signerIndex }));
    lap();
    const sessions = contexts.map((context) => context.newSession({ message }));
    const nonces = sessions.map((session) => session.publicNonce);
    lap();
    const aggregateNonce = aggregateNonces(nonces);
    lap();
    const partials = sessions.map((session) => {
      session.setAggregateNonce(aggregateNonce);
      return session.sign();
    });
    lap();
    sessions.forEach((session, signer) => {
      session.addNonce(1 - signer, nonces[1 - signer]);
      session.addPartialSignature(1 - signer, partials[1 - signer]);
    });
    lap();
    sessions[0].finish();
    lap();
    [...sessions, ...contexts].forEach((object) => object.dispose());
  }
  return phases;
}

function musig2Calls() {
  header('MuSig2 calls', 'from JavaScript', 'inside Go wasm', 'more');
  const calls = 20;
  const two = party(2);
  const ours = [];
  const within = [];
  // In turns; the first round warms up.
  for (let round = 0; round <= 25; round++) {
    const times = [fromJavaScript(two, calls), inside('session', 2, calls)];
    if (round > 0) {
      ours.push(times[0]);
      within.push(times[1]);
    }
  }
  const print = (name, pick, count) => {
    const [js, go] = [ours, within].map((rounds) => median(rounds.map(pick)) / calls / count);
    row(name, duration(js), duration(go), `${((js / go - 1) * 100).toFixed(1)} %`);
  };
  Object.entries(PHASES).forEach(([name, count], i) => print(name, (phases) => phases[i], count));
  print('all of a session', (phases) => phases.reduce((a, b) => a + b), 1);
}

/** A peer that has got its init. */
class ReadyPeer extends Handle {
  constructor() {
    super(call('lnpeer_new', [], 0, 0, 0, 0, 0, 0));
    output(call('lnpeer_start', [], handleOf(this)));
    output(call('lnpeer_receive', [Uint8Array.of(0, 16, 0, 0, 0, 0)], handleOf(this), 0));
  }
}

// The same on both sides: bytes in, bytes out behind a few more. Ours does the
// whole of the boundary with them (checks, a handle, the wiping of both
// buffers) and the rules of BOLT-1 for the message; the last column is what the
// boundary alone costs. With much data the copies are what counts.
function oneCall() {
  const peer = new ReadyPeer();
  header('a call there and back', 'go:wasmexport', 'js.FuncOf', 'ratio', 'without what is done inside');
  for (const [size, calls] of [
    [32, 20_000],
    [65_535, 2_000],
  ]) {
    const bytes = new Uint8Array(size).fill(0x81); // a message of an odd type
    const repeat = (once) => (n) => {
      for (let i = 0; i < n; i++) {
        if (once().length < size) {
          throw new Error('a wrong result');
        }
      }
    };
    const { ours, funcof, within } = compare(
      {
        ours: repeat(() => output(call('lnpeer_receive', [bytes], handleOf(peer), 0))),
        funcof: repeat(() => funcofMessage(32_769, bytes)),
        within: (n) => inside('message', size, n)[0],
      },
      { calls },
    );
    row(`${size} bytes`, duration(ours), duration(funcof), ratio(funcof, ours), duration(ours - within));
  }
  peer.dispose();
}

/** Prints the tables. */
export function boundary() {
  musig2Calls();
  oneCall();
}
