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

/** How many bytes the module draws at a time. */
const DRAW = 32;

/** What the module's next draw gets. */
let ahead: Uint8Array<ArrayBuffer> | undefined;

/**
 * Draws ahead what the module is about to draw in a call: if the platform's secure
 * source failed only in there, the exception would end the instance.
 *
 * @throws BrontosigError RANDOM_FAILED.
 */
export function requireRandom(): void {
  ahead = randomBytes(DRAW);
}

/** The module's source of random bytes: fills an array with them, and returns it. */
export function fillRandom(target: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = ahead;
  ahead = undefined;
  if (bytes?.length !== target.length) {
    return crypto.getRandomValues(target);
  }
  target.set(bytes);
  bytes.fill(0);
  return target;
}
