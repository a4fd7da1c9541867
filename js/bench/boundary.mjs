// What the boundary between JavaScript and the module costs: each MuSig2 call
// from JavaScript beside the same work inside Go wasm, and one call with much
// and little data beside js.FuncOf.

import { Context, aggregateNonces } from 'brontosig/musig2';
import { Handle, handleOf } from '../../dist/handle.js';
import { call, output } from '../../dist/runtime.js';
import { funcofMessage, inside } from './inside.mjs';
import { compare, duration, header, median, ratio, row, warmUp } from './measure.mjs';
import { party } from './parties.mjs';

/** By name: how often a session of two makes the calls, and the calls. */
const PHASES = {
  'new Context(), two keys': [
    2,
    (room, { secretKeys, publicKeys }) => {
      room.contexts = secretKeys.map((secretKey, signerIndex) => new Context({ publicKeys, sort: false, secretKey, signerIndex }));
    },
  ],
  'newSession(), publicNonce': [
    2,
    (room, { message }) => {
      room.sessions = room.contexts.map((context) => context.newSession({ message }));
      room.nonces = room.sessions.map((session) => session.publicNonce);
    },
  ],
  'aggregateNonces(), two nonces': [
    1,
    (room) => {
      room.aggregateNonce = aggregateNonces(room.nonces);
    },
  ],
  'setAggregateNonce(), sign()': [
    2,
    (room) => {
      room.partials = room.sessions.map((session) => {
        session.setAggregateNonce(room.aggregateNonce);
        return session.sign();
      });
    },
  ],
  'addNonce(), addPartialSignature()': [
    2,
    (room) => {
      room.sessions.forEach((session, signer) => {
        session.addNonce(1 - signer, room.nonces[1 - signer]);
        session.addPartialSignature(1 - signer, room.partials[1 - signer]);
      });
    },
  ],
  'finish()': [1, (room) => void room.sessions[0].finish()],
};

const dispose = ({ sessions, contexts }) => [...sessions, ...contexts].forEach((object) => object.dispose());

/**
 * What js/bench/inside/session.go does, from JavaScript: each phase for all
 * sessions before the next. Returns the milliseconds of each, and of disposing.
 */
function fromJavaScript(signers, calls) {
  const rooms = Array.from({ length: calls }, () => ({}));
  return [...Object.values(PHASES).map(([, phase]) => phase), dispose].map((phase) => {
    const started = performance.now();
    rooms.forEach((room) => phase(room, signers));
    return performance.now() - started;
  });
}

function musig2Calls() {
  header('MuSig2 calls', 'from JavaScript', 'inside Go wasm', 'more');
  const calls = 20;
  const two = party(2);
  const ours = [];
  const within = [];
  warmUp(() => fromJavaScript(two, calls));
  warmUp(() => inside('session', 2, calls));
  // In turns.
  for (let round = 0; round < 25; round++) {
    ours.push(fromJavaScript(two, calls));
    within.push(inside('session', 2, calls));
  }
  const print = (name, pick, count) => {
    const [js, go] = [ours, within].map((rounds) => median(rounds.map(pick)) / calls / count);
    row(name, duration(js), duration(go), `${((js / go - 1) * 100).toFixed(1)} %`);
  };
  Object.entries(PHASES).forEach(([name, [count]], i) => print(name, (phases) => phases[i], count));
  print('all of a session, and dispose()', (phases) => phases.reduce((a, b) => a + b), 1);
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
