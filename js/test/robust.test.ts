import assert from 'node:assert/strict';
import { test } from 'node:test';

import { init } from 'brontosig';
import { verify } from 'brontosig/musig2';

import { MAX_INPUT_SIZE } from '../../dist/generated.js';
import { Random } from './random.js';
import { captureInstance, Raw, type ExportName } from './raw.js';
import { BrontideWorld } from './robust-brontide.js';
import { MuSig2World } from './robust-musig2.js';
import { OUTCOMES } from './robust-outcomes.js';
import { Signers } from './signers.js';

const CALLS = 1_000_000;
const NONE = new Uint8Array(0);

/** A number that may be anything, with a liking for what is small or near a limit. */
function anyNumber(random: Random): number {
  return random.pick([
    () => random.below(4),
    () => random.below(200),
    () => random.uint32(),
    () => -random.below(4),
    () => (1 << 16) + random.below(64),
    () => 2 ** 31 - 1 + random.below(3),
  ])();
}

test('a million random calls leave an instance that still signs', async (t) => {
  const random = new Random();
  t.diagnostic(`seed ${random.seed}: set BRONTOSIG_SEED to it to make the same calls`);
  const raw = new Raw(await captureInstance(init));
  const musig2 = new MuSig2World(raw, random);
  const brontide = new BrontideWorld(raw, random);

  const table = {
    abi_fingerprint: () => raw.enter('abi_fingerprint', []),
    in_pointer: () => raw.enter('in_pointer', []),
    out_pointer: () => raw.enter('out_pointer', []),
    detail_pointer: () => raw.enter('detail_pointer', []),
    in_reserve: () => raw.enter('in_reserve', [random.pick([0, 100, MAX_INPUT_SIZE + 1])]),
    handle_dispose: () =>
      raw.call('handle_dispose', random.bytes(random.below(8) >>> 2), random.uint32()),
    ...musig2.exports,
    ...brontide.exports,
  } satisfies Record<ExportName, () => unknown>;
  const names = Object.keys(table) as ExportName[];

  // Wholly random: any numbers, whatever lies in the input buffer.
  while (raw.calls < CALLS / 2) {
    const name = random.pick(names);
    const args = Array.from({ length: raw.arity(name) }, () => anyNumber(random));
    if (name === 'in_reserve' && (args[0]!) >>> 0 > 1 << 18) {
      // A buffer that has grown stays, and every call with a wild length
      // wipes all of it: too slow to do a hundred thousand times.
      args[0] = -1;
    }
    if (random.oneIn(4)) {
      raw.scribble(random.bytes(100));
    }
    raw.enter(name, args);
  }

  // Nearly right, so that everything is reached.
  const half = raw.calls;
  while (raw.calls < half + CALLS / 2) {
    table[random.pick(names)]();
  }

  brontide.callTooOften();

  // No room for another object. Nonces are the smallest and fill the rest.
  const makeOneMore = musig2.makeOneMore();
  const filling = [...brontide.fill(), ...musig2.fill()];
  makeOneMore();
  brontide.makeOneMore();
  for (const handle of filling) {
    raw.call('handle_dispose', NONE, handle);
  }

  musig2.dispose();
  brontide.dispose();
  const signers = Signers.random(random, 2);
  const message = random.bytes(32);
  for (const signature of signers.cosign(message)) {
    assert.ok(verify(signature, message, signers.context.outputKey));
  }

  const seen = [...raw.outcomes].map(([name, counts]) => [name, [...counts.keys()].sort()] as const);
  const wanted = Object.entries(OUTCOMES).map(([name, outcomes]) => [name, [...outcomes].sort()] as const);
  assert.deepEqual(Object.fromEntries(seen), Object.fromEntries(wanted));
  t.diagnostic(`${raw.calls} calls`);
});
