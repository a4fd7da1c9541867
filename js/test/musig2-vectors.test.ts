import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { BrontosigError, init, InvalidContributionError } from 'brontosig';
import { aggregateNonces, Context, sortKeys, type Tweak } from 'brontosig/musig2';

/** A case of testdata/bip327.json; see internal/vectors in the Go sources. */
interface Case {
  readonly group: string;
  readonly operation: string;
  readonly name: string;
  readonly publicKeys?: readonly string[];
  readonly tweaks?: readonly { readonly tweak: string; readonly xonly: boolean }[];
  readonly secretKey?: string;
  readonly message?: string;
  readonly rand?: string;
  readonly publicNonces?: readonly string[];
  readonly aggregateNonce?: string;
  readonly partialSignature?: string;
  readonly partialSignatures?: readonly string[];
  readonly signer?: number;
  readonly sorted?: readonly string[];
  readonly expectedNonce?: string;
  readonly expected?: string;
  readonly invalid?: boolean;
  readonly error?: { readonly kind: string; readonly signer?: number; readonly contribution?: string };
}

/** The codes of the kinds of error in the table. */
const codes: Readonly<Record<string, string>> = {
  ErrInvalidContribution: 'INVALID_CONTRIBUTION',
  ErrInvalidTweak: 'INVALID_TWEAK',
  ErrAggregateInfinity: 'AGGREGATE_INFINITY',
  ErrKeyNotInSet: 'KEY_NOT_IN_SET',
};

const { cases } = JSON.parse(
  readFileSync(new URL('../../testdata/bip327.json', import.meta.url), 'utf8'),
) as { cases: readonly Case[] };

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (digits: string | undefined): Uint8Array => Uint8Array.from(Buffer.from(digits ?? '', 'hex'));
const list = (digits: readonly string[] | undefined): Uint8Array[] => (digits ?? []).map(bytes);

function context(c: Case, withKey: boolean): Context {
  return new Context({
    publicKeys: list(c.publicKeys),
    sort: false,
    tweaks: (c.tweaks ?? []).map(
      ({ tweak, xonly }): Tweak => ({ kind: xonly ? 'xonly' : 'plain', tweak: bytes(tweak) }),
    ),
    ...(withKey ? { secretKey: bytes(c.secretKey) } : {}),
  });
}

/** What the surface can express of each operation. Secret nonces it cannot. */
const operations: Readonly<Record<string, (c: Case) => void>> = {
  keySort(c) {
    assert.deepEqual(sortKeys(list(c.publicKeys)).map(hex), c.sorted);
  },
  keyAgg(c) {
    assert.equal(hex(context(c, false).outputKey), c.expected);
  },
  nonceAgg(c) {
    assert.equal(hex(aggregateNonces(list(c.publicNonces))), c.expected);
  },
  sign(c) {
    const signing = context(c, true);
    const nonce = bytes(c.aggregateNonce);
    if (c.error === undefined) {
      assert.equal(signing.signerIndex, c.signer ?? 0);
      assert.equal(hex(aggregateNonces(list(c.publicNonces))), c.aggregateNonce);
      assert.ok(verifies(signing, c, c.expected), 'the expected partial signature does not verify');
      return;
    }
    signing.newSession().setAggregateNonce(nonce);
  },
  verify(c) {
    assert.equal(verifies(context(c, false), c, c.partialSignature), c.invalid !== true);
  },
  sigAgg(c) {
    const coordinator = context(c, false).newCoordinator({ message: bytes(c.message) });
    for (const [signer, nonce] of list(c.publicNonces).entries()) {
      coordinator.addNonce(signer, nonce);
    }
    assert.equal(hex(coordinator.aggregateNonce), c.aggregateNonce);
    for (const [signer, partial] of list(c.partialSignatures).entries()) {
      // A coordinator verifies at once. In the case that fails, the other
      // signer's partial signature would be the first to be refused.
      if (c.error === undefined || c.error.signer === signer) {
        coordinator.addPartialSignature(signer, partial);
      }
    }
    assert.equal(hex(coordinator.finish()), c.expected);
  },
  detSign(c) {
    const result = context(c, true).deterministicSign({
      aggregateOtherNonce: bytes(c.aggregateNonce),
      message: bytes(c.message),
      ...(typeof c.rand === 'string' ? { rand: bytes(c.rand) } : {}),
    });
    assert.equal(hex(result.publicNonce), c.expectedNonce);
    assert.equal(hex(result.partialSignature), c.expected);
  },
};

function verifies(verifier: Context, c: Case, partialSignature: string | undefined): boolean {
  return verifier.verifyPartialSignature({
    partialSignature: bytes(partialSignature),
    publicNonces: list(c.publicNonces),
    signerIndex: c.signer ?? 0,
    message: bytes(c.message),
  });
}

/**
 * Cases about secret nonces, which this surface neither takes nor shows. They
 * run in Go, natively and in js/wasm.
 */
function needsSecretNonce(c: Case): boolean {
  return c.operation === 'nonceGen' || c.error?.kind === 'ErrInvalidSecNonce';
}

before(() => init());

for (const c of cases.filter((each) => !needsSecretNonce(each))) {
  void test(`BIP-327, ${c.group}: ${c.name}`, () => {
    const run = operations[c.operation];
    assert.ok(run, `unknown operation ${c.operation}`);
    if (c.error === undefined) {
      run(c);
      return;
    }
    const { kind, signer, contribution } = c.error;
    assert.throws(
      () => {
        run(c);
      },
      (error) => {
        assert.ok(error instanceof BrontosigError);
        assert.equal(error.code, codes[kind]);
        if (contribution !== undefined) {
          assert.ok(error instanceof InvalidContributionError);
          assert.equal(error.contribution, contribution);
          assert.equal(error.signerIndex, signer ?? null);
        }
        return true;
      },
    );
  });
}

void test('BIP-327: 51 of the 56 cases can be expressed', () => {
  assert.equal(cases.length, 56);
  assert.equal(cases.filter(needsSecretNonce).length, 5);
});
