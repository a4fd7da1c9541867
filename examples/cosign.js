import { Context, publicKey } from 'brontosig/musig2';

/**
 * One of the parties that sign together. In life each runs on a machine of its
 * own: what travels between them are public keys, public nonces and partial
 * signatures, public bytes only.
 */
export class Signer {
  #secretKey;
  /** @type {Context} */
  #context;

  /** The own public key, 33 bytes. */
  publicKey;

  /** @param {Uint8Array} secretKey - 32 bytes; a fresh key by default. */
  constructor(secretKey = crypto.getRandomValues(new Uint8Array(32))) {
    this.#secretKey = secretKey;
    this.publicKey = publicKey(secretKey);
  }

  /**
   * Fixes who signs, once everybody's public key is known, and for which taproot
   * output: by default one that no script can spend.
   *
   * @param {readonly Uint8Array[]} publicKeys - of all signers, 33 bytes each.
   * @param {import('brontosig/musig2').Tweak} tweak
   */
  join(publicKeys, tweak = { kind: 'bip86' }) {
    this.#context?.dispose();
    this.#context = new Context({ publicKeys, sort: true, tweaks: [tweak], secretKey: this.#secretKey });
  }

  /** The own position in the order of the keys that all signers share. */
  get index() {
    return this.#context.signerIndex;
  }

  /** The key that signatures will be valid for, 32 bytes: a taproot output key. */
  get outputKey() {
    return this.#context.outputKey;
  }

  /** The key before the tweak, 32 bytes: the internal key of the taproot output. */
  get internalKey() {
    return this.#context.internalKey;
  }

  /**
   * Starts signing a message, and returns the session.
   *
   * @param {Uint8Array} message - of any length.
   */
  start(message) {
    return this.#context.newSession({ message });
  }

  /** Wipes the secrets. */
  dispose() {
    this.#context?.dispose();
    this.#secretKey.fill(0);
  }
}

/**
 * Lets signers that have joined sign messages, all of them in the two rounds that
 * MuSig2 needs for one.
 *
 * @param messages - Uint8Arrays of any length.
 * @returns for each message the signature, and in the order of the keys what each
 * signer sent to the others: its public nonce and its partial signature.
 */
export function signTogether(signers, messages) {
  const inOrder = signers.toSorted((a, b) => a.index - b.index);
  const tasks = messages.map((message) => inOrder.map((signer) => signer.start(message)));
  try {
    // Round one: everybody's nonces to everybody else.
    const nonces = tasks.map((sessions) => sessions.map((session) => session.publicNonce));
    tasks.forEach((sessions, i) => toOthers(sessions, nonces[i], (session, ...from) => session.addNonce(...from)));

    // Round two: everybody's partial signatures to everybody else. A bad one
    // throws an error that says whose it is.
    const partials = tasks.map((sessions) => sessions.map((session) => session.sign()));
    tasks.forEach((sessions, i) =>
      toOthers(sessions, partials[i], (session, ...from) => session.addPartialSignature(...from)),
    );

    // All of them now make the same signature. One is enough.
    return tasks.map(([first], i) => ({
      signature: first.finish(),
      signers: inOrder.map(({ publicKey }, index) => ({
        publicKey,
        publicNonce: nonces[i][index],
        partialSignature: partials[i][index],
      })),
    }));
  } finally {
    tasks.flat().forEach((session) => session.dispose());
  }
}

/**
 * Lets a number of new signers make one signature of a message.
 *
 * @param message - a Uint8Array of any length.
 * @returns what {@link signTogether} does, and the output key.
 */
export function cosign(message, count) {
  const signers = Array.from({ length: count }, () => new Signer());
  try {
    const publicKeys = signers.map((signer) => signer.publicKey);
    signers.forEach((signer) => signer.join(publicKeys));
    const [signed] = signTogether(signers, [message]);
    return { ...signed, outputKey: signers[0].outputKey };
  } finally {
    signers.forEach((signer) => signer.dispose());
  }
}

/** Gives each of the sessions the values of all the others. */
function toOthers(sessions, values, give) {
  sessions.forEach((session, own) => {
    values.forEach((value, index) => {
      if (index !== own) {
        give(session, index, value);
      }
    });
  });
}

/**
 * Writes bytes as hex digits.
 *
 * @param {Iterable<number>} bytes
 */
export function toHex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
