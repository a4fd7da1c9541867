import { bytes, integer, object } from './check.js';
import { BrontosigError } from './errors.js';
import {
  MAX_SIGNERS,
  PARTIAL_SIGNATURE_SIZE,
  PUBLIC_KEY_SIZE,
  PUBLIC_NONCE_SIZE,
  SESSION_STATES,
  X_ONLY_KEY_SIZE,
  type SessionState,
} from './generated.js';
import { Handle, handleOf } from './handle.js';
import {
  indices,
  message as checkMessage,
  optional,
  optionalExtraInput,
  optionalSecretKey,
  publicKey,
} from './musig2-check.js';
import { requireRandom } from './random.js';
import { call, output } from './runtime.js';

/** Options of a {@link Nonce}. */
export interface NonceOptions {
  /** The signer's own public key, 33 bytes compressed. The nonce signs for this key alone. */
  readonly publicKey: Uint8Array;
  /** The signer's secret key, 32 bytes: protects against weak randomness. Not kept. */
  readonly secretKey?: Uint8Array | undefined;
  /** The final aggregate key, 33 bytes compressed or 32 x-only. The nonce is bound to it. */
  readonly aggregateKey?: Uint8Array | undefined;
  /** The message, of any length. The nonce is bound to it. */
  readonly message?: Uint8Array | undefined;
  /** Further input to the derivation, for example a session's identifier. */
  readonly extraInput?: Uint8Array | undefined;
}

/**
 * A nonce that is made before its session, for example to save a round of
 * messages (BIP-327, NonceGen). Its secret half never leaves the wasm module,
 * and signs at most once.
 */
export class Nonce extends Handle {
  readonly #publicNonce: Uint8Array<ArrayBuffer>;

  /**
   * Draws a fresh nonce.
   *
   * @throws TypeError or RangeError that names a wrong option.
   * @throws BrontosigError INVALID_CONTRIBUTION if `publicKey` is no key,
   * INVALID_SECRET_KEY, NONCE_MISMATCH if `secretKey` is that of another key,
   * RANDOM_FAILED.
   */
  constructor(options: NonceOptions) {
    const o = object('options', options);
    const secretKey = optionalSecretKey('secretKey', o.secretKey);
    const aggregateKey = optional(o.aggregateKey, xOnly);
    const extraInput = optionalExtraInput('extraInput', o.extraInput);
    const message = optional(o.message, (m) => checkMessage('message', m));
    requireRandom();
    super(
      call(
        'musig2_nonce_new',
        [publicKey('publicKey', o.publicKey), ...secretKey, ...aggregateKey, ...extraInput, ...message],
        secretKey.length,
        aggregateKey.length,
        extraInput[0]?.length ?? 0,
        message.length,
      ),
    );
    this.#publicNonce = output(call('musig2_nonce_public', [], handleOf(this)));
  }

  /** The public half, 66 bytes, for the other signers. */
  get publicNonce(): Uint8Array<ArrayBuffer> {
    handleOf(this);
    return this.#publicNonce.slice();
  }
}

function xOnly(key: Uint8Array): Uint8Array {
  bytes('aggregateKey', key, [X_ONLY_KEY_SIZE, PUBLIC_KEY_SIZE]);
  return key.subarray(key.length - X_ONLY_KEY_SIZE);
}

/** Guards the constructors of objects that only a Context makes. */
export const madeByContext: unique symbol = Symbol('made by a Context');

/** What a {@link Session} and a {@link Coordinator} have in common. */
export abstract class Collector extends Handle {
  /**
   * Takes over a handle. Only the methods of a Context can call this.
   *
   * @internal
   */
  constructor(guard: typeof madeByContext, handle: () => number) {
    if ((guard as unknown) !== madeByContext) {
      throw new TypeError('sessions and coordinators are made by the methods of a Context');
    }
    super(handle());
  }

  /**
   * Takes the public nonce of a signer. The same one again does nothing. A nonce
   * that is refused leaves everything as it was.
   *
   * @param signerIndex - in the effective order of the keys, from 0.
   * @param publicNonce - 66 bytes.
   * @throws TypeError or RangeError that names a wrong argument.
   * @throws InvalidContributionError if it is no nonce; if it is the last one
   * and an aggregate nonce that was set is not the sum; or, as
   * `addPartialSignature` does, if a partial signature of this signer that had
   * waited for the nonce turns out to be wrong, which is then dropped, and the
   * nonce with it.
   * @throws BrontosigError SIGNER_INDEX, CONTRIBUTION_CONFLICT for a second,
   * different nonce, INVALID_SIGNATURE, SESSION_FAILED, DISPOSED.
   */
  addNonce(signerIndex: number, publicNonce: Uint8Array): void {
    const signer = checkIndex(signerIndex);
    const nonce = bytes('publicNonce', publicNonce, PUBLIC_NONCE_SIZE);
    call('musig2_add_nonce', [nonce], handleOf(this), signer);
  }

  /**
   * The aggregate nonce, 66 bytes.
   *
   * @throws BrontosigError MISSING_CONTRIBUTIONS as long as nonces are missing,
   * SESSION_FAILED, DISPOSED.
   */
  get aggregateNonce(): Uint8Array<ArrayBuffer> {
    return output(call('musig2_aggregate_nonce', [], handleOf(this)));
  }

  /**
   * Takes the partial signature of a signer. It is verified now if the message,
   * the aggregate nonce and that signer's nonce are known, and otherwise when the
   * nonce comes or by `finish`. The same one again does nothing. One that is
   * refused leaves everything as it was.
   *
   * Under an aggregate nonce that was set, one that does not verify is its
   * signer's fault only if all nonces are known and add up to that: a coordinator
   * may have given the signer another one.
   *
   * @param signerIndex - in the effective order of the keys, from 0.
   * @param partialSignature - 32 bytes.
   * @throws TypeError or RangeError that names a wrong argument.
   * @throws InvalidContributionError if it is wrong, or the aggregate nonce is.
   * @throws BrontosigError SIGNER_INDEX, CONTRIBUTION_CONFLICT for a second,
   * different one, INVALID_SIGNATURE if it does not verify and nonces are missing
   * that would tell why, MISSING_CONTRIBUTIONS from a coordinator without all
   * nonces, INVALID_ARGUMENT for an own one before `sign`, SESSION_FAILED, DISPOSED.
   */
  addPartialSignature(signerIndex: number, partialSignature: Uint8Array): void {
    const signer = checkIndex(signerIndex);
    const psig = bytes('partialSignature', partialSignature, PARTIAL_SIGNATURE_SIZE);
    call('musig2_add_partial', [psig], handleOf(this), signer);
  }

  /**
   * Combines the partial signatures (BIP-327, PartialSigAgg). Calling it again
   * returns the same.
   *
   * @returns the BIP-340 signature, 64 bytes, verified against the output key.
   * @throws InvalidContributionError if a partial signature that could not be
   * checked before is wrong (it is dropped, so the right one may follow), or if
   * the aggregate nonce that was set is.
   * @throws BrontosigError MISSING_CONTRIBUTIONS, NO_MESSAGE, INVALID_SIGNATURE
   * if the signature is invalid and nothing says whose fault it is,
   * SESSION_FAILED, DISPOSED.
   */
  finish(): Uint8Array<ArrayBuffer> {
    return output(call('musig2_finish', [], handleOf(this)));
  }

  /** The indices of the signers whose nonce is not known, ascending. */
  get missingNonces(): number[] {
    return indices(call('musig2_missing', [], handleOf(this), 0));
  }

  /** The indices of the signers whose partial signature is not known, ascending. */
  get missingPartialSignatures(): number[] {
    return indices(call('musig2_missing', [], handleOf(this), 1));
  }
}

/**
 * One signature, once. It owns its secret nonce and a copy of the secret key
 * until it signs; both are in the wasm module only. Dispose it if it is given up
 * before that.
 *
 * States: `nonces` until the nonces of all signers or an aggregate nonce are
 * known, `ready` until `sign`, `signed` until `finish`, then `complete`. If
 * `sign` fails after it has read the secret nonce, the session has `failed` and
 * only a new one can sign. An error of usage changes nothing.
 *
 * A session cannot be cloned, serialised or stored. Do not fork the process or
 * restore a snapshot of the machine between `newSession` and `sign`: a nonce
 * that signs twice reveals the secret key.
 */
export class Session extends Collector {
  readonly #publicNonce: Uint8Array<ArrayBuffer>;

  /**
   * Sessions are made by {@link Context.newSession}.
   *
   * @internal
   */
  constructor(guard: typeof madeByContext, handle: () => number) {
    super(guard, handle);
    this.#publicNonce = output(call('musig2_session_public_nonce', [], handleOf(this)));
  }

  /** The own public nonce, 66 bytes, for the other signers. */
  get publicNonce(): Uint8Array<ArrayBuffer> {
    handleOf(this);
    return this.#publicNonce.slice();
  }

  /** Where the session stands. */
  get state(): SessionState {
    const state = SESSION_STATES[call('musig2_session_state', [], handleOf(this))];
    if (state === undefined) {
      throw new BrontosigError('INTERNAL', 'the module returned an unknown state');
    }
    return state;
  }

  /**
   * Takes the aggregate nonce of a coordinator in place of the single nonces. It
   * may be replaced until `sign`, which drops the partial signatures that were
   * made under the old one.
   *
   * @param aggregateNonce - 66 bytes. Either half may be 33 zero bytes, infinity.
   * @throws TypeError or RangeError that names a wrong argument.
   * @throws InvalidContributionError, without a signer, if it is none, or if all
   * nonces are known and have another sum.
   * @throws BrontosigError CONTRIBUTION_CONFLICT if another one was signed under,
   * SESSION_FAILED, DISPOSED.
   */
  setAggregateNonce(aggregateNonce: Uint8Array): void {
    const nonce = bytes('aggregateNonce', aggregateNonce, PUBLIC_NONCE_SIZE);
    call('musig2_set_aggregate_nonce', [nonce], handleOf(this));
  }

  /**
   * Signs (BIP-327, Sign) and verifies the result before returning it.
   *
   * @param message - of any length; may be left out if `newSession` got it.
   * @returns the own partial signature, 32 bytes, for the other signers.
   * @throws TypeError or RangeError that names a wrong argument.
   * @throws BrontosigError MISSING_CONTRIBUTIONS, NO_MESSAGE, MESSAGE_CONFLICT if
   * the session has another message, NONCE_MISMATCH if the nonce is bound to
   * another: these keep the nonce. NONCE_USED after the first success;
   * SELF_VERIFY_FAILED, which ends the session; SESSION_FAILED; DISPOSED.
   */
  sign(message?: Uint8Array): Uint8Array<ArrayBuffer> {
    const given = optional(message, (m) => checkMessage('message', m));
    return output(call('musig2_sign', given, handleOf(this), given.length));
  }
}

/** Gathers and combines what the signers contribute, without a key of its own. */
export class Coordinator extends Collector {}

function checkIndex(signerIndex: number): number {
  return integer('signerIndex', signerIndex, 0, MAX_SIGNERS - 1);
}
