import { Context, publicKey } from 'brontosig/musig2';

/**
 * One of the parties that sign together. In life each runs on a machine of its
 * own: its methods take and return what travels between them, public bytes only.
 */
export class Signer {
  #secretKey = crypto.getRandomValues(new Uint8Array(32));
  #context;
  #session;

  /** The own public key, 33 bytes. */
  publicKey = publicKey(this.#secretKey);

  /** Fixes who signs, once everybody's public key is known. */
  join(publicKeys) {
    this.#context = new Context({
      publicKeys,
      sort: true,
      tweaks: [{ kind: 'bip86' }],
      secretKey: this.#secretKey,
    });
  }

  /** The own position in the order of the keys that all signers share. */
  get index() {
    return this.#context.signerIndex;
  }

  /** The key that the signature will be valid for, 32 bytes: a taproot output key. */
  get outputKey() {
    return this.#context.outputKey;
  }

  /** Starts signing a message and returns the public nonce, 66 bytes. */
  start(message) {
    this.#session = this.#context.newSession({ message });
    return this.#session.publicNonce;
  }

  /** Takes another signer's public nonce. */
  addNonce(index, publicNonce) {
    this.#session.addNonce(index, publicNonce);
  }

  /** Returns the partial signature, 32 bytes, once all nonces are there. */
  sign() {
    return this.#session.sign();
  }

  /** Takes another signer's partial signature, and says who is to blame for a bad one. */
  addPartialSignature(index, partialSignature) {
    this.#session.addPartialSignature(index, partialSignature);
  }

  /** Returns the signature, 64 bytes, once all partial signatures are there. */
  finish() {
    return this.#session.finish();
  }

  /** Wipes the secrets. */
  dispose() {
    this.#session?.dispose();
    this.#context?.dispose();
    this.#secretKey.fill(0);
  }
}

/**
 * Lets a number of signers make one signature of a message, in the two rounds
 * that MuSig2 needs.
 *
 * @param message - a Uint8Array of any length.
 * @returns the output key, the signature, and of each signer, in the order of
 * the keys, what it sent to the others.
 */
export function cosign(message, count) {
  const signers = Array.from({ length: count }, () => new Signer());
  try {
    const publicKeys = signers.map((signer) => signer.publicKey);
    signers.forEach((signer) => signer.join(publicKeys));
    signers.sort((a, b) => a.index - b.index);

    // Round one: everybody's nonce to everybody else.
    const nonces = signers.map((signer) => signer.start(message));
    toOthers(signers, nonces, (signer, index, nonce) => signer.addNonce(index, nonce));

    // Round two: everybody's partial signature to everybody else.
    const partials = signers.map((signer) => signer.sign());
    toOthers(signers, partials, (signer, index, partial) => signer.addPartialSignature(index, partial));

    // All of them now make the same signature. One is enough.
    const [first] = signers;
    return {
      outputKey: first.outputKey,
      signature: first.finish(),
      signers: signers.map((signer, index) => ({
        publicKey: signer.publicKey,
        publicNonce: nonces[index],
        partialSignature: partials[index],
      })),
    };
  } finally {
    signers.forEach((signer) => signer.dispose());
  }
}

function toOthers(signers, values, give) {
  for (const signer of signers) {
    values.forEach((value, index) => {
      if (index !== signer.index) {
        give(signer, index, value);
      }
    });
  }
}

/** Writes bytes as hex digits. */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
