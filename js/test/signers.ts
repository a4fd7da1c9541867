import { Context, publicKey, type ContextOptions, type Session } from 'brontosig/musig2';

import type { Random } from './random.js';

/** The signers of one set, in the effective order of their keys. */
export class Signers {
  /** Their secret keys. */
  readonly secretKeys: readonly Uint8Array<ArrayBuffer>[];
  /** Their public keys. */
  readonly publicKeys: readonly Uint8Array<ArrayBuffer>[];
  /** A context for each, with the secret key. */
  readonly contexts: readonly Context[];

  /** Takes secret keys, the same one several times if need be. */
  constructor(secretKeys: readonly Uint8Array<ArrayBuffer>[], tweaks?: ContextOptions['tweaks']) {
    this.secretKeys = secretKeys;
    this.publicKeys = secretKeys.map(publicKey);
    this.contexts = secretKeys.map(
      (secretKey, signerIndex) =>
        new Context({ publicKeys: this.publicKeys, sort: false, tweaks, secretKey, signerIndex }),
    );
  }

  /** Makes signers with random keys. */
  static random(random: Random, count: number, tweaks?: ContextOptions['tweaks']): Signers {
    return new Signers(Array.from({ length: count }, () => random.bytes(32)), tweaks);
  }

  /** The context of the first signer, which any other's equals but for the secret key. */
  get context(): Context {
    return this.contexts[0]!;
  }

  /** Starts a session for each signer and exchanges the nonces. */
  ready(message?: Uint8Array): [Session, Session, ...Session[]] {
    const sessions = this.contexts.map((context) => context.newSession({ message }));
    for (const session of sessions) {
      for (const [index, { publicNonce }] of sessions.entries()) {
        session.addNonce(index, publicNonce);
      }
    }
    return sessions as [Session, Session, ...Session[]];
  }

  /** Signs a message, and returns what each signer finishes with. */
  cosign(message: Uint8Array): Uint8Array<ArrayBuffer>[] {
    const sessions = this.ready(message);
    const partials = sessions.map((session) => session.sign());
    return sessions.map((session) => {
      for (const [index, partial] of partials.entries()) {
        session.addPartialSignature(index, partial);
      }
      const signature = session.finish();
      session.dispose();
      return signature;
    });
  }

  /** Disposes the contexts. */
  dispose(): void {
    for (const context of this.contexts) {
      context.dispose();
    }
  }
}
