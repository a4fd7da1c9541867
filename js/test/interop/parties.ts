import assert from 'node:assert/strict';
import { Context, publicKey, type Session, type Tweak } from 'brontosig/musig2';
import { LndSigner, type LndClient } from './examples.js';

/** Random bytes. */
export const random = (size: number): Uint8Array => crypto.getRandomValues(new Uint8Array(size));

/** One of the signers of a session, in the order of the keys. */
export type Party =
  | { readonly context: Context; readonly session: Session; readonly publicNonce: Uint8Array }
  | { readonly lnd: LndSigner; readonly publicNonce: Uint8Array };

/** Starts a session of signers of ours and keys of lnd, which agree on the keys. */
export async function start(
  lnd: LndClient,
  { ours, theirs, tweak }: { ours: number; theirs: number; tweak: Tweak | undefined },
): Promise<Party[]> {
  const secretKeys = Array.from({ length: ours }, () => random(32));
  const lndSigners = await Promise.all(Array.from({ length: theirs }, async () => LndSigner.create(lnd)));
  const publicKeys = [...secretKeys.map(publicKey), ...lndSigners.map((signer) => signer.publicKey)];
  const options = { publicKeys, sort: true, tweaks: tweak === undefined ? [] : [tweak] };
  const contexts = secretKeys.map((secretKey) => new Context({ ...options, secretKey }));
  const [{ outputKey, internalKey, publicKeys: inOrder }] = contexts as [Context];

  const parties: Party[] = [];
  for (const context of contexts) {
    const session = context.newSession();
    parties[context.signerIndex!] = { context, session, publicNonce: session.publicNonce };
  }
  for (const signer of lndSigners) {
    const started = await signer.start(publicKeys, tweak);
    assert.deepEqual(started.outputKey, new Uint8Array(outputKey));
    assert.deepEqual(started.internalKey, tweak === undefined ? undefined : new Uint8Array(internalKey));
    const index = inOrder.findIndex((key) => Buffer.compare(key, signer.publicKey) === 0);
    parties[index] = { lnd: signer, publicNonce: started.publicNonce };
  }
  return parties;
}

/** The entries of all others. */
export const others = <T>(list: readonly T[], own: number): T[] => list.filter((_, i) => i !== own);

/** Gives each the public nonces of all others. */
export async function exchangeNonces(parties: readonly Party[]): Promise<void> {
  const nonces = parties.map(({ publicNonce }) => publicNonce);
  for (const [own, party] of parties.entries()) {
    if ('lnd' in party) {
      await party.lnd.addNonces(others(nonces, own));
    } else {
      nonces.forEach((nonce, i) => {
        party.session.addNonce(i, nonce);
      });
    }
  }
}

/**
 * Lets all sign.
 *
 * @param last - whether nobody will ask lnd to combine.
 */
export async function sign(parties: readonly Party[], digest: Uint8Array, last: boolean): Promise<Uint8Array[]> {
  return Promise.all(
    parties.map(async (party) => ('lnd' in party ? party.lnd.sign(digest, last) : party.session.sign(digest))),
  );
}

/** Lets each party make the signature, and each verify what it was given. */
export async function combine(parties: readonly Party[], partials: readonly Uint8Array[]): Promise<Uint8Array[]> {
  return Promise.all(
    parties.map(async (party, own) => {
      if ('lnd' in party) {
        return party.lnd.combine(others(partials, own));
      }
      partials.forEach((partial, i) => {
        party.session.addPartialSignature(i, partial);
      });
      return party.session.finish();
    }),
  );
}

/** The context of one of ours. */
export function ownContext(parties: readonly Party[]): Context {
  return parties.flatMap((party) => ('context' in party ? [party.context] : []))[0]!;
}
