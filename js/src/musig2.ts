/**
 * Signatures of several keys that look like those of one (BIP-327).
 *
 * A {@link Context} is a set of keys, a {@link Session} makes one signature with
 * it, and a {@link Coordinator} gathers what the signers send without having a
 * key itself.
 *
 * @module brontosig/musig2
 */
import { boolean, bytes, integer, object } from './check.js';
import {
  MAX_INPUT_SIZE,
  MAX_SIGNERS,
  PARTIAL_SIGNATURE_SIZE,
  PUBLIC_KEY_SIZE,
  PUBLIC_NONCE_SIZE,
  RAND_SIZE,
  SIGNATURE_SIZE,
  X_ONLY_KEY_SIZE,
} from './generated.js';
import { Handle, handleOf } from './handle.js';
import {
  encodeTweaks,
  message as checkMessage,
  optional,
  optionalExtraInput,
  optionalSecretKey,
  pieces,
  publicKeyList,
  publicNonceList,
  type Tweak,
} from './musig2-check.js';
import { Coordinator, madeByContext, Nonce, Session } from './musig2-session.js';
import { requireRandom } from './random.js';
import { call, output } from './runtime.js';

export type { SessionState } from './generated.js';
export type { Tweak } from './musig2-check.js';
export { publicKey } from './public-key.js';
export { Collector, Coordinator, Nonce, Session, type NonceOptions } from './musig2-session.js';

/**
 * Sorts public keys, so that signers who know the same set agree on its order
 * (BIP-327, KeySort).
 *
 * @param publicKeys - 33 bytes each, compressed. The array stays as it is.
 * @returns copies, in lexicographical order.
 * @throws TypeError or RangeError that names a wrong entry.
 * @throws InvalidContributionError with the index of an entry that is no key.
 */
export function sortKeys(publicKeys: readonly Uint8Array[]): Uint8Array<ArrayBuffer>[] {
  const keys = publicKeyList('publicKeys', publicKeys);
  return pieces(output(call('musig2_sort_keys', keys, keys.length)), PUBLIC_KEY_SIZE);
}

/**
 * Adds public nonces up (BIP-327, NonceAgg).
 *
 * @param publicNonces - 66 bytes each, of all signers.
 * @returns the aggregate nonce, 66 bytes.
 * @throws TypeError or RangeError that names a wrong entry.
 * @throws InvalidContributionError with the index of an entry that is no nonce.
 * @throws BrontosigError NO_KEYS for an empty list.
 */
export function aggregateNonces(publicNonces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const nonces = publicNonceList('publicNonces', publicNonces);
  return output(call('musig2_aggregate_nonces', nonces, nonces.length));
}

/**
 * Verifies a signature (BIP-340).
 *
 * @param signature - 64 bytes.
 * @param message - of any length.
 * @param xOnlyKey - 32 bytes.
 * @returns whether it is valid; false also for a key or signature that cannot be one.
 * @throws TypeError or RangeError that names a wrong argument.
 */
export function verify(signature: Uint8Array, message: Uint8Array, xOnlyKey: Uint8Array): boolean {
  const inputs = [
    bytes('signature', signature, SIGNATURE_SIZE),
    bytes('xOnlyKey', xOnlyKey, X_ONLY_KEY_SIZE),
    checkMessage('message', message),
  ];
  return call('musig2_verify', inputs) === 1;
}

/** The secret half of a {@link Context}. */
export interface SignerOptions {
  /** The own secret key, 32 bytes, big-endian. It is copied into the wasm module. */
  readonly secretKey?: Uint8Array | undefined;
  /** The own position in the effective order. Needed if the own key stands there more than once. */
  readonly signerIndex?: number | undefined;
}

/** Options of a {@link Context}. */
export interface ContextOptions extends SignerOptions {
  /** The public keys of all signers, 33 bytes each, compressed. A key may stand there more than once. */
  readonly publicKeys: readonly Uint8Array[];
  /** Whether to sort the keys. All signers must use the same order. */
  readonly sort: boolean;
  /** Changes to the aggregate key, in their order. */
  readonly tweaks?: readonly Tweak[] | undefined;
}

/**
 * A set of signers with their aggregate key, and optionally one signer's secret
 * key. It serves any number of sessions.
 *
 * @example
 * ```js
 * import { init } from 'brontosig';
 * import { Context } from 'brontosig/musig2';
 *
 * await init();
 * const hex = (s) => Uint8Array.from(s.match(/../g), (byte) => parseInt(byte, 16));
 * const publicKeys = [
 *   hex('02f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9'),
 *   hex('03dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659'),
 * ];
 * const context = new Context({ publicKeys, sort: true, tweaks: [{ kind: 'bip86' }] });
 * console.log(context.outputKey.length); // 32
 * context.dispose();
 * ```
 */
export class Context extends Handle {
  /**
   * Aggregates the keys (BIP-327, KeyAgg and ApplyTweak).
   *
   * @throws TypeError or RangeError that names a wrong option.
   * @throws InvalidContributionError with the index, in the list as given, of an
   * entry that is no key.
   * @throws BrontosigError NO_KEYS, KEY_NOT_IN_SET, SIGNER_INDEX,
   * INVALID_SECRET_KEY, INVALID_TWEAK, AGGREGATE_INFINITY, INVALID_ARGUMENT for
   * a signerIndex without a secretKey, TOO_MANY_OBJECTS.
   */
  constructor(options: ContextOptions) {
    super(options instanceof Encoded ? parseContext(options) : newContext(options));
  }

  /**
   * Restores what {@link Context.toBytes} has written, and adds a secret key.
   *
   * @throws TypeError or RangeError that names a wrong argument.
   * @throws BrontosigError MALFORMED_CONTEXT for bytes that are damaged or of an
   * unknown version; KEY_NOT_IN_SET, SIGNER_INDEX, INVALID_SECRET_KEY,
   * INVALID_ARGUMENT, TOO_MANY_OBJECTS.
   */
  static fromBytes(encoded: Uint8Array, options: SignerOptions = {}): Context {
    return new Context(new Encoded(encoded, options) as unknown as ContextOptions);
  }

  /** Encodes the keys and tweaks, never the secret key. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return output(call('musig2_context_bytes', [], handleOf(this)));
  }

  /** The aggregate key, the internal key, the own index and the public keys, in one piece. */
  #info(): Uint8Array<ArrayBuffer> {
    return output(call('musig2_context_info', [], handleOf(this)));
  }

  /** The public keys in their effective order, 33 bytes each. */
  get publicKeys(): Uint8Array<ArrayBuffer>[] {
    return pieces(this.#info().subarray(2 * PUBLIC_KEY_SIZE + 4), PUBLIC_KEY_SIZE);
  }

  /** The own index in the effective order, or undefined without a secret key. */
  get signerIndex(): number | undefined {
    const index = new DataView(this.#info().buffer).getInt32(2 * PUBLIC_KEY_SIZE, true);
    return index < 0 ? undefined : index;
  }

  /** The aggregate key with all tweaks applied, 33 bytes, compressed. */
  get aggregateKey(): Uint8Array<ArrayBuffer> {
    return this.#info().slice(0, PUBLIC_KEY_SIZE);
  }

  /** The x-only aggregate key with all tweaks applied, 32 bytes: signatures verify under it. */
  get outputKey(): Uint8Array<ArrayBuffer> {
    return this.#info().slice(1, PUBLIC_KEY_SIZE);
  }

  /** The x-only aggregate key before any tweak, 32 bytes: the internal key of BIP-341. */
  get internalKey(): Uint8Array<ArrayBuffer> {
    return this.#info().slice(PUBLIC_KEY_SIZE + 1, 2 * PUBLIC_KEY_SIZE);
  }

  /**
   * Starts a session, which makes one signature.
   *
   * @throws TypeError or RangeError that names a wrong option.
   * @throws BrontosigError NO_SECRET_KEY; NONCE_MISMATCH if the nonce was made
   * for another key, aggregate key or message (it stays usable); NONCE_USED if it
   * has been used; INVALID_ARGUMENT for extraInput together with a nonce;
   * RANDOM_FAILED; TOO_MANY_OBJECTS; DISPOSED.
   */
  newSession(options: SessionOptions = {}): Session {
    const o = object('options', options);
    if (o.nonce !== undefined && !((o.nonce as unknown) instanceof Nonce)) {
      throw new TypeError('nonce: a Nonce expected');
    }
    const extraInput = optionalExtraInput('extraInput', o.extraInput);
    const message = optional(o.message, (m) => checkMessage('message', m));
    const nonce = o.nonce === undefined ? 0 : handleOf(o.nonce);
    requireRandom();
    return new Session(madeByContext, () =>
      call(
        'musig2_session_new',
        [...extraInput, ...message],
        handleOf(this),
        nonce,
        extraInput[0]?.length ?? 0,
        message.length,
      ),
    );
  }

  /**
   * Starts a coordinator. The context needs no secret key.
   *
   * @throws TypeError or RangeError that names a wrong option.
   * @throws BrontosigError TOO_MANY_OBJECTS, DISPOSED.
   */
  newCoordinator(options: CoordinatorOptions): Coordinator {
    const message = checkMessage('message', object('options', options).message);
    return new Coordinator(madeByContext, () => call('musig2_coordinator_new', [message], handleOf(this)));
  }

  /**
   * Verifies the partial signature of one signer (BIP-327, PartialSigVerify).
   *
   * @returns whether it is valid.
   * @throws TypeError or RangeError that names a wrong option.
   * @throws InvalidContributionError if one of the nonces is none.
   * @throws BrontosigError SIGNER_INDEX; MISSING_CONTRIBUTIONS for fewer nonces
   * than signers, INVALID_ARGUMENT for more; DISPOSED.
   */
  verifyPartialSignature(options: PartialSignatureOptions): boolean {
    const o = object('options', options);
    const nonces = publicNonceList('publicNonces', o.publicNonces);
    const inputs = [
      bytes('partialSignature', o.partialSignature, PARTIAL_SIGNATURE_SIZE),
      ...nonces,
      checkMessage('message', o.message),
    ];
    const signer = integer('signerIndex', o.signerIndex, 0, MAX_SIGNERS - 1);
    return call('musig2_verify_partial', inputs, handleOf(this), signer, nonces.length) === 1;
  }

  /**
   * Signs as the last signer of the set, without a session (BIP-327,
   * DeterministicSign). The same input gives the same result, so nothing needs
   * to be kept.
   *
   * @returns the own public nonce, 66 bytes, and the partial signature, 32 bytes.
   * @throws TypeError or RangeError that names a wrong option.
   * @throws InvalidContributionError if `aggregateOtherNonce` is none.
   * @throws BrontosigError NO_SECRET_KEY, SELF_VERIFY_FAILED, DISPOSED.
   */
  deterministicSign(options: DeterministicOptions): DeterministicResult {
    const o = object('options', options);
    const rand = optional(o.rand, (r) => bytes('rand', r, RAND_SIZE));
    const inputs = [
      bytes('aggregateOtherNonce', o.aggregateOtherNonce, PUBLIC_NONCE_SIZE),
      ...rand,
      checkMessage('message', o.message),
    ];
    const result = output(call('musig2_deterministic_sign', inputs, handleOf(this), rand.length));
    return {
      publicNonce: result.slice(0, PUBLIC_NONCE_SIZE),
      partialSignature: result.slice(PUBLIC_NONCE_SIZE),
    };
  }
}

/** Options of {@link Context.newSession}. */
export interface SessionOptions {
  /** The message, of any length, if it is known already: protects against weak randomness. */
  readonly message?: Uint8Array | undefined;
  /** A nonce to sign with instead of a fresh one. The session takes it over. */
  readonly nonce?: Nonce | undefined;
  /** Further input to the derivation of the nonce, for example a session's identifier. */
  readonly extraInput?: Uint8Array | undefined;
}

/** Options of {@link Context.newCoordinator}. */
export interface CoordinatorOptions {
  /** The message, of any length. */
  readonly message: Uint8Array;
}

/** Options of {@link Context.verifyPartialSignature}. */
export interface PartialSignatureOptions {
  /** 32 bytes. */
  readonly partialSignature: Uint8Array;
  /** The public nonces of all signers, 66 bytes each, in the effective order of the keys. */
  readonly publicNonces: readonly Uint8Array[];
  /** Whose partial signature it is. */
  readonly signerIndex: number;
  /** The message, of any length. */
  readonly message: Uint8Array;
}

/** Options of {@link Context.deterministicSign}. */
export interface DeterministicOptions {
  /** The aggregate of the public nonces of all other signers, 66 bytes. */
  readonly aggregateOtherNonce: Uint8Array;
  /** The message, of any length. */
  readonly message: Uint8Array;
  /** 32 bytes of randomness, a protection against faults. */
  readonly rand?: Uint8Array | undefined;
}

/** What {@link Context.deterministicSign} returns. */
export interface DeterministicResult {
  /** 66 bytes. */
  readonly publicNonce: Uint8Array<ArrayBuffer>;
  /** 32 bytes. */
  readonly partialSignature: Uint8Array<ArrayBuffer>;
}

/** Tells the constructor of a Context that its data are encoded. */
class Encoded {
  readonly data: Uint8Array;
  readonly options: SignerOptions;

  constructor(data: Uint8Array, options: SignerOptions) {
    this.data = bytes('encoded', data, [0, MAX_INPUT_SIZE]);
    this.options = object('options', options);
  }
}

function parseContext({ data, options }: Encoded): number {
  const secretKey = optionalSecretKey('secretKey', options.secretKey);
  return call('musig2_context_parse', [...secretKey, data], secretKey.length, signer(options));
}

function newContext(options: ContextOptions): number {
  const o = object('options', options);
  const keys = publicKeyList('publicKeys', o.publicKeys);
  const sort = boolean('sort', o.sort);
  const tweaks = encodeTweaks('tweaks', o.tweaks ?? []);
  const secretKey = optionalSecretKey('secretKey', o.secretKey);
  return call(
    'musig2_context_new',
    [...keys, ...tweaks, ...secretKey],
    keys.length,
    sort ? 1 : 0,
    tweaks.length,
    secretKey.length,
    signer(o),
  );
}

function signer(options: SignerOptions): number {
  const index = options.signerIndex;
  return index === undefined ? -1 : integer('signerIndex', index, 0, MAX_SIGNERS - 1);
}
