import { BrontosigError } from './errors.js';

/**
 * Draws bytes from the platform's secure source.
 *
 * @throws BrontosigError RANDOM_FAILED if it has none, or that fails.
 */
export function randomBytes(size: number): Uint8Array<ArrayBuffer> {
  try {
    return crypto.getRandomValues(new Uint8Array(size));
  } catch (cause) {
    throw new BrontosigError('RANDOM_FAILED', 'the platform gives no random bytes', { cause });
  }
}

/**
 * Fails if the platform's secure source does. It is called before the module
 * draws from it: an exception in there would end the instance.
 *
 * @throws BrontosigError RANDOM_FAILED.
 */
export function requireRandom(): void {
  randomBytes(1);
}
