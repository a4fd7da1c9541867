import { randomInt } from 'node:crypto';

/**
 * A generator of random numbers for tests. The seed can be given in the
 * environment as BRONTOSIG_SEED, to see a failure again.
 */
export class Random {
  /** What the numbers were drawn from. */
  readonly seed: number;
  #state: number;

  constructor(seed = Number(process.env['BRONTOSIG_SEED'] ?? randomInt(2 ** 32))) {
    this.seed = seed;
    this.#state = seed >>> 0;
  }

  /** Draws 32 bits: a Weyl sequence, mixed. */
  uint32(): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    let z = this.#state;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    return (z ^ (z >>> 16)) >>> 0;
  }

  /** Draws an integer from 0 up to and without `limit`. */
  below(limit: number): number {
    return this.uint32() % limit;
  }

  /** Is true in one of `n` cases. */
  oneIn(n: number): boolean {
    return this.below(n) === 0;
  }

  /** Draws an entry of a list that is not empty. */
  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)] as T;
  }

  /** Draws bytes. */
  bytes(length: number): Uint8Array<ArrayBuffer> {
    return Uint8Array.from({ length }, () => this.uint32());
  }
}
