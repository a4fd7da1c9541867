import { byteList, bytes, list, object } from './check.js';
import {
  MAX_INPUT_SIZE,
  MAX_MESSAGE_SIZE,
  MAX_SIGNERS,
  PUBLIC_KEY_SIZE,
  PUBLIC_NONCE_SIZE,
  SECRET_KEY_SIZE,
  TWEAK_KINDS,
  TWEAK_SIZE,
  X_ONLY_KEY_SIZE,
} from './generated.js';
import { output } from './runtime.js';

/**
 * One step that changes an aggregate key (BIP-327, ApplyTweak):
 * - `plain` adds tweak·G, as for a BIP-32 derivation;
 * - `xonly` does so after making the y coordinate even;
 * - `taproot` makes a taproot output key that commits to a script tree (BIP-341);
 * - `bip86` makes a taproot output key without scripts (BIP-86).
 *
 * A tweak is 32 bytes, big-endian, below the order of the group; a merkle root
 * is 32 bytes.
 */
export type Tweak =
  | {
      /** A number that is added to the key. */
      readonly kind: 'plain' | 'xonly';
      /** The number, 32 bytes. */
      readonly tweak: Uint8Array;
    }
  | {
      /** A script tree that the key commits to. */
      readonly kind: 'taproot';
      /** The root of the tree, 32 bytes. */
      readonly merkleRoot: Uint8Array;
    }
  | {
      /** No script tree. */
      readonly kind: 'bip86';
    };

/** Checks compressed public keys. An x-only one among them gets an error that says so. */
export function publicKeyList(name: string, value: unknown): Uint8Array[] {
  return Array.from(list(name, value, MAX_SIGNERS), (entry, i) => publicKey(`${name}[${i}]`, entry));
}

/** Checks one compressed public key. */
export function publicKey(name: string, value: unknown): Uint8Array {
  const key = bytes(name, value, [0, Infinity]);
  if (key.length !== PUBLIC_KEY_SIZE) {
    const got = key.length === X_ONLY_KEY_SIZE ? `an x-only key of ${X_ONLY_KEY_SIZE}` : key.length;
    throw new RangeError(`${name}: a compressed key of ${PUBLIC_KEY_SIZE} bytes expected, got ${got}`);
  }
  return key;
}

/** Checks public nonces. */
export function publicNonceList(name: string, value: unknown): Uint8Array[] {
  return byteList(name, value, PUBLIC_NONCE_SIZE, MAX_SIGNERS);
}

/** Checks a message. */
export function message(name: string, value: unknown): Uint8Array {
  return bytes(name, value, [0, MAX_MESSAGE_SIZE]);
}

/** Checks an argument that may be left out. */
export function optional<T>(value: T | undefined, check: (value: T) => Uint8Array): Uint8Array[] {
  return value === undefined ? [] : [check(value)];
}

/** Checks a secret key that may be left out. */
export function optionalSecretKey(name: string, value: Uint8Array | undefined): Uint8Array[] {
  return optional(value, (key) => bytes(name, key, SECRET_KEY_SIZE));
}

/** Checks extra input that may be left out. */
export function optionalExtraInput(name: string, value: Uint8Array | undefined): Uint8Array[] {
  return optional(value, (extra) => bytes(name, extra, [0, MAX_INPUT_SIZE]));
}

/** Checks tweaks and brings them to the form that the module takes. */
export function encodeTweaks(name: string, value: unknown): Uint8Array[] {
  return Array.from(list(name, value, MAX_SIGNERS), (entry, i) => {
    const tweak = object(`${name}[${i}]`, entry as Tweak);
    const kind = TWEAK_KINDS.indexOf(tweak.kind);
    if (kind < 0) {
      throw new TypeError(`${name}[${i}].kind: one of ${TWEAK_KINDS.join(', ')} expected`);
    }
    const encoded = new Uint8Array(1 + TWEAK_SIZE);
    encoded[0] = kind;
    if (tweak.kind === 'taproot') {
      encoded.set(bytes(`${name}[${i}].merkleRoot`, tweak.merkleRoot, TWEAK_SIZE), 1);
    } else if (tweak.kind !== 'bip86') {
      encoded.set(bytes(`${name}[${i}].tweak`, tweak.tweak, TWEAK_SIZE), 1);
    }
    return encoded;
  });
}

/** Cuts a result of the module into pieces of the same size. */
export function pieces(joined: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer>[] {
  return Array.from({ length: joined.length / size }, (_, i) => joined.slice(i * size, (i + 1) * size));
}

/** Reads a list of indices that a call has returned. */
export function indices(length: number): number[] {
  const view = new DataView(output(length).buffer);
  return Array.from({ length: length / 4 }, (_, i) => view.getUint32(4 * i, true));
}
