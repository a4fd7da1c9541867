import { Context, publicKey, verify } from 'brontosig/musig2';
import { ok, same } from './expect.js';
import type { Suite } from './places.js';

/** The tests of signing, for every place, without any network. */
export const musig2Suite: Suite = {
  'three signers sign, and a taproot key is used': async () => {
    await Promise.resolve();
    const keys = [1, 2, 3].map(() => crypto.getRandomValues(new Uint8Array(32)));
    const options = { publicKeys: keys.map(publicKey), sort: true, tweaks: [{ kind: 'bip86' }] } as const;
    const message = new TextEncoder().encode('all of us agree');
    const contexts = keys.map((secretKey) => new Context({ ...options, secretKey }));
    const sessions = contexts.map((context) => context.newSession({ message }));
    const indices = contexts.map((context) => context.signerIndex ?? -1);
    for (const session of sessions) {
      for (const [i, other] of sessions.entries()) {
        if (other !== session) {
          session.addNonce(indices[i] ?? -1, other.publicNonce);
        }
      }
    }
    const partial = sessions.map((session) => session.sign());
    const [first] = sessions;
    ok(first, 'no session');
    for (const [i, signature] of partial.entries()) {
      if (i !== 0) {
        first.addPartialSignature(indices[i] ?? -1, signature);
      }
    }
    ok(verify(first.finish(), message, new Context(options).outputKey), 'the signature is not valid');
  },

  'a wrong partial signature is blamed on its signer': async () => {
    await Promise.resolve();
    const keys = [1, 2].map((n) => new Uint8Array(32).fill(n));
    const message = new Uint8Array(32);
    const [one, two] = keys.map((secretKey) =>
      new Context({ publicKeys: keys.map(publicKey), sort: false, secretKey }).newSession({ message }),
    );
    ok(one !== undefined && two !== undefined, 'no sessions');
    one.addNonce(1, two.publicNonce);
    one.sign();
    let signer: unknown;
    try {
      one.addPartialSignature(1, new Uint8Array(32).fill(1));
    } catch (error) {
      signer = (error as { signerIndex?: unknown }).signerIndex;
    }
    same(signer, 1, 'the signer');
  },
};
