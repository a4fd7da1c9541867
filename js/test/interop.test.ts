import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { schnorr } from '@noble/curves/secp256k1.js';
import * as scure from '@scure/btc-signer/musig2.js';
import { init } from 'brontosig';
import { Context, Nonce, type Session, type Tweak } from 'brontosig/musig2';
import { Cosigner } from './cosigner.js';
import { Random } from './random.js';
import { Signers } from './signers.js';

/** Who can sign: this package in TypeScript and in Go, and two others. */
type Implementation = 'wrapper' | 'ours' | 'btcec' | 'scure';

/** A tweak in the form that every implementation has. */
interface PlainTweak {
  readonly tweak: Uint8Array;
  readonly xonly: boolean;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const bytes = (digits: string | undefined): Uint8Array => Uint8Array.from(Buffer.from(digits ?? '', 'hex'));

let cosigner: Cosigner;
before(async () => {
  await init();
  cosigner = new Cosigner();
});
after(async () => cosigner.stop());

function randomTweaks(random: Random): Tweak[] {
  return Array.from({ length: random.below(4) }, (): Tweak => {
    const value = random.bytes(32);
    value[0] = (value[0] ?? 0) & 0x7f; // below the group order
    switch (random.below(4)) {
      case 0:
        return { kind: 'plain', tweak: value };
      case 1:
        return { kind: 'xonly', tweak: value };
      case 2:
        return { kind: 'taproot', merkleRoot: value };
      default:
        return { kind: 'bip86' };
    }
  });
}

/** Works out what taproot and BIP-86 tweaks add, with noble's hash. */
function resolve(publicKeys: readonly Uint8Array[], tweaks: readonly Tweak[]): PlainTweak[] {
  return tweaks.map((tweak, i) => {
    if (tweak.kind === 'plain' || tweak.kind === 'xonly') {
      return { tweak: tweak.tweak, xonly: tweak.kind === 'xonly' };
    }
    const before = new Context({ publicKeys, sort: false, tweaks: tweaks.slice(0, i) });
    const parts = tweak.kind === 'taproot' ? [before.outputKey, tweak.merkleRoot] : [before.outputKey];
    before.dispose();
    return { tweak: schnorr.utils.taggedHash('TapTweak', ...parts), xonly: true };
  });
}

/** One signer of a session, whatever its implementation. */
interface Signer {
  readonly publicNonce: Uint8Array;
  sign(aggregateNonce: Uint8Array): Promise<Uint8Array>;
}

class Setting {
  readonly signers: Signers;
  readonly message: Uint8Array;
  readonly tweaks: readonly PlainTweak[];
  readonly request: object;

  constructor(signers: Signers, tweaks: readonly Tweak[], message: Uint8Array) {
    this.signers = signers;
    this.message = message;
    this.tweaks = resolve(signers.publicKeys, tweaks);
    this.request = {
      publicKeys: signers.publicKeys.map(hex),
      tweaks: this.tweaks.map(({ tweak, xonly }) => ({ tweak: hex(tweak), xonly })),
      message: hex(message),
    };
  }

  #scureSession: scure.Session | undefined;

  /** The session of the slow implementation, which aggregates the keys anew in each. */
  scureSession(aggregateNonce: Uint8Array): scure.Session {
    this.#scureSession ??= new scure.Session(
      aggregateNonce,
      [...this.signers.publicKeys],
      this.message,
      this.tweaks.map(({ tweak }) => tweak),
      this.tweaks.map(({ xonly }) => xonly),
    );
    return this.#scureSession;
  }

  async signer(implementation: Implementation, index: number): Promise<Signer> {
    const secretKey = this.signers.secretKeys[index]!;
    const publicKey = this.signers.publicKeys[index]!;
    switch (implementation) {
      case 'wrapper': {
        const context = this.signers.contexts[index]!;
        // Half of them with a nonce that was made before.
        const nonce = index % 2 === 0 ? new Nonce({ publicKey, secretKey }) : undefined;
        const session: Session = context.newSession({ message: this.message, nonce });
        nonce?.dispose();
        return {
          publicNonce: session.publicNonce,
          sign: (aggregateNonce) => {
            session.setAggregateNonce(aggregateNonce);
            const partial = session.sign();
            session.dispose();
            return Promise.resolve(partial);
          },
        };
      }
      case 'scure': {
        const { public: publicNonce, secret } = scure.nonceGen(publicKey, secretKey);
        return {
          publicNonce,
          sign: (aggregateNonce) => Promise.resolve(this.scureSession(aggregateNonce).sign(secret, secretKey)),
        };
      }
      case 'ours':
      case 'btcec': {
        const key = { implementation, secretKey: hex(secretKey) };
        const { nonce, publicNonce } = await cosigner.ask({ operation: 'nonce', ...key });
        return {
          publicNonce: bytes(publicNonce),
          sign: async (aggregateNonce) => {
            const request = { operation: 'sign', ...this.request, ...key, nonce: nonce ?? 0, aggregateNonce: hex(aggregateNonce) };
            return bytes((await cosigner.ask(request)).partialSignature);
          },
        };
      }
    }
  }

  /** Has every implementation verify a partial signature. */
  async verifyPartial(index: number, partial: Uint8Array, nonces: readonly Uint8Array[], sum: Uint8Array): Promise<void> {
    const { context } = this.signers;
    const options = { partialSignature: partial, publicNonces: nonces, signerIndex: index, message: this.message };
    assert.ok(context.verifyPartialSignature(options), 'in TypeScript');
    const request = {
      operation: 'verifyPartial', ...this.request, signer: index, partialSignature: hex(partial),
      publicNonces: nonces.map(hex), aggregateNonce: hex(sum),
    };
    assert.ok((await cosigner.ask({ ...request, implementation: 'ours' })).valid, 'in Go');
    assert.ok(this.scureSession(sum).partialSigVerify(partial, [...nonces], index), 'by scure');
    if (this.message.length === 32) {
      assert.ok((await cosigner.ask({ ...request, implementation: 'btcec' })).valid, 'by btcec');
    }
  }
}

/**
 * Runs one session.
 *
 * @param slow - how many signers may be of the slow implementation.
 */
async function cosign(random: Random, count: number, slow: number): Promise<Set<Implementation>> {
  const keys = Array.from({ length: count }, () => random.bytes(32));
  if (random.oneIn(3)) {
    keys[random.below(count)] = keys[0]!; // a key that stands twice
  }
  const length = random.pick([32, 32, 0, 1, 31, 33, 1000]);
  const tweaks = randomTweaks(random);
  const signers = new Signers(keys, tweaks);
  const setting = new Setting(signers, tweaks, random.bytes(length));
  const used = new Set<Implementation>();
  let left = slow;
  const parties: Signer[] = [];
  for (let i = 0; i < count; i++) {
    let implementation = random.pick<Implementation>(['wrapper', 'ours', 'btcec', 'scure']);
    if ((implementation === 'btcec' && length !== 32) || (implementation === 'scure' && left-- <= 0)) {
      implementation = 'wrapper';
    }
    used.add(implementation);
    parties.push(await setting.signer(implementation, i));
  }
  const coordinator = signers.context.newCoordinator({ message: setting.message });
  const nonces = parties.map(({ publicNonce }) => publicNonce);
  nonces.forEach((nonce, i) => {
    coordinator.addNonce(i, nonce);
  });
  const sum = coordinator.aggregateNonce;
  assert.equal(hex(scure.nonceAggregate([...nonces])), hex(sum));
  const partials: Uint8Array[] = [];
  for (const [i, party] of parties.entries()) {
    const partial = await party.sign(sum);
    await setting.verifyPartial(i, partial, nonces, sum);
    coordinator.addPartialSignature(i, partial);
    partials.push(partial);
  }
  const signature = coordinator.finish();
  assert.equal(hex(setting.scureSession(sum).partialSigAgg(partials)), hex(signature));
  const { outputKey } = signers.context;
  assert.ok(schnorr.verify(signature, setting.message, outputKey), 'by noble');
  const request = { operation: 'verify', message: hex(setting.message), signature: hex(signature), outputKey: hex(outputKey) };
  assert.ok((await cosigner.ask({ ...request, implementation: 'ours' })).valid, 'in Go');
  if (length === 32) {
    assert.ok((await cosigner.ask({ ...request, implementation: 'btcec' })).valid, 'by btcec');
  }
  coordinator.dispose();
  signers.dispose();
  return used;
}

void test('300 random sessions of four implementations', async (t) => {
  const random = new Random();
  t.diagnostic(`seed ${random.seed}`);
  const used = new Set<Implementation>();
  for (let i = 0; i < 300; i++) {
    for (const each of await cosign(random, random.pick([1, 2, 2, 2, 3, 3, 5]), 5)) {
      used.add(each);
    }
  }
  assert.deepEqual([...used].sort(), ['btcec', 'ours', 'scure', 'wrapper']);
});

void test('sessions of 16 and of 100 signers', async (t) => {
  const random = new Random();
  t.diagnostic(`seed ${random.seed}`);
  for (const count of [16, 16, 16, 100]) {
    await cosign(random, count, 2);
  }
});
