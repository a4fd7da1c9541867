import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { schnorr } from '@noble/curves/secp256k1.js';
import { init } from 'brontosig';
import { aggregateNonces, verify, type Tweak } from 'brontosig/musig2';
import { LndError, type LndClient } from './examples.js';
import { LndNode } from './nodes.js';
import { combine, exchangeNonces, others, ownContext, random, sign, start, type Party } from './parties.js';

await init();

const tweaks: Readonly<Record<string, Tweak | undefined>> = {
  'no tweak': undefined,
  'BIP-86': { kind: 'bip86' },
  'a script root': { kind: 'taproot', merkleRoot: random(32) },
};

function assertValid(signature: Uint8Array, digest: Uint8Array, parties: readonly Party[]): void {
  const { outputKey } = ownContext(parties);
  assert.ok(verify(signature, digest, outputKey));
  assert.ok(schnorr.verify(signature, digest, outputKey));
}

async function together(t: TestContext, lnd: LndClient): Promise<void> {
  for (const [ours, theirs] of [
    [1, 1],
    [2, 1],
    [1, 2],
  ] as const) {
    for (const [name, tweak] of Object.entries(tweaks)) {
      await t.test(`${ours} of ours and ${theirs} of lnd's sign with ${name}, and each combines`, async () => {
        const parties = await start(lnd, { ours, theirs, tweak });
        const digest = random(32);
        await exchangeNonces(parties);
        const signatures = await combine(parties, await sign(parties, digest, false));
        assert.equal(signatures.length, ours + theirs);
        for (const signature of signatures) {
          assert.deepEqual(Buffer.from(signature), Buffer.from(signatures[0]!));
          assertValid(signature, digest, parties);
        }
      });
    }
  }
}

/** Changes one bit of the last byte, so that a number stays one of the field. */
function flipped(partial: Uint8Array): Uint8Array {
  const bad = partial.slice();
  bad[31]! ^= 1;
  return bad;
}

async function blame(t: TestContext, lnd: LndClient): Promise<void> {
  await t.test('lnd refuses a wrong partial signature of ours', async () => {
    const parties = await start(lnd, { ours: 1, theirs: 1, tweak: { kind: 'bip86' } });
    await exchangeNonces(parties);
    const partials = await sign(parties, random(32), false);
    for (const [own, party] of parties.entries()) {
      if ('lnd' in party) {
        await assert.rejects(party.lnd.combine(others(partials, own).map(flipped)), LndError);
      }
    }
  });
  await t.test("a wrong partial signature of lnd's is blamed on it, and the right one still taken", async () => {
    const parties = await start(lnd, { ours: 2, theirs: 1, tweak: undefined });
    const digest = random(32);
    await exchangeNonces(parties);
    const partials = await sign(parties, digest, true);
    const index = parties.findIndex((party) => 'lnd' in party);
    for (const party of parties) {
      if ('session' in party) {
        const { session } = party;
        assert.throws(
          () => {
            session.addPartialSignature(index, flipped(partials[index]!));
          },
          { code: 'INVALID_CONTRIBUTION', signerIndex: index, contribution: 'psig' },
        );
        partials.forEach((partial, i) => {
          session.addPartialSignature(i, partial);
        });
        assertValid(session.finish(), digest, parties);
      }
    }
  });
}

async function byOtherWays(t: TestContext, lnd: LndClient): Promise<void> {
  await t.test('a coordinator without keys combines', async () => {
    const parties = await start(lnd, { ours: 1, theirs: 2, tweak: { kind: 'bip86' } });
    const digest = random(32);
    const coordinator = ownContext(parties).newCoordinator({ message: digest });
    parties.forEach(({ publicNonce }, i) => {
      coordinator.addNonce(i, publicNonce);
    });
    for (const party of parties) {
      await ('lnd' in party ? party.lnd : party.session).setAggregateNonce(coordinator.aggregateNonce);
    }
    for (const [i, partial] of (await sign(parties, digest, true)).entries()) {
      coordinator.addPartialSignature(i, partial);
    }
    assertValid(coordinator.finish(), digest, parties);
  });
  await t.test('lnd combines with a signer that keeps nothing', async () => {
    const parties = await start(lnd, { ours: 1, theirs: 1, tweak: { kind: 'bip86' } });
    const digest = random(32);
    const party = parties.find((found) => 'lnd' in found)!;
    const { publicNonce, partialSignature } = ownContext(parties).deterministicSign({
      aggregateOtherNonce: aggregateNonces([party.publicNonce]),
      message: digest,
    });
    await party.lnd.addNonces([publicNonce]);
    await party.lnd.sign(digest, false);
    assertValid(await party.lnd.combine([partialSignature]), digest, parties);
  });
}

test('signing together with lnd', async (t) => {
  await LndNode.run(async (lnd) => {
    await together(t, lnd.client);
    await blame(t, lnd.client);
    await byOtherWays(t, lnd.client);
  });
});
