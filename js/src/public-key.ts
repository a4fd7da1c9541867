import { bytes } from './check.js';
import { SECRET_KEY_SIZE } from './generated.js';
import { call, output } from './runtime.js';

/**
 * Computes the public key of a secret key (BIP-327, IndividualPubkey), in time
 * that does not depend on it.
 *
 * @param secretKey - 32 bytes, big-endian. It is wiped from the module's memory.
 * @returns the public key, 33 bytes, compressed.
 * @throws TypeError or RangeError if it is not 32 bytes.
 * @throws BrontosigError INVALID_SECRET_KEY if it is 0 or not below the order of the group.
 */
export function publicKey(secretKey: Uint8Array): Uint8Array<ArrayBuffer> {
  return output(call('public_key', [bytes('secretKey', secretKey, SECRET_KEY_SIZE)]));
}
