import type { BrontosigError } from './errors.js';
import { within, type Limits } from './limits.js';

/** Waits that end with their connection at the latest. */
export class Waits {
  readonly #failing = new Set<(error: BrontosigError) => void>();
  #turn: Promise<unknown> = Promise.resolve();

  /** How many there are. */
  get size(): number {
    return this.#failing.size;
  }

  /**
   * Runs something within limits.
   *
   * @param what - names the wait, for the error.
   * @param run - gets a promise that rejects when the wait is over. What it
   * waits for it races with that.
   */
  async run<T>(
    limits: Limits,
    what: string,
    defaultMs: number,
    run: (failed: Promise<never>) => Promise<T>,
  ): Promise<T> {
    return within(limits, what, defaultMs, async (ended) => {
      let fail: (error: BrontosigError) => void = () => undefined;
      const failed = new Promise<never>((_, reject) => {
        fail = reject;
      });
      failed.catch(() => undefined);
      ended.addEventListener('abort', () => {
        fail(ended.reason as BrontosigError);
      });
      this.#failing.add(fail);
      try {
        return await run(failed);
      } finally {
        this.#failing.delete(fail);
      }
    });
  }

  /** Runs something after what was given here before has ended, well or not. */
  async inTurn<T>(failed: Promise<never>, run: () => Promise<T>): Promise<T> {
    const before = this.#turn;
    const mine = (async () => {
      await Promise.race([failed, before]);
      return run();
    })();
    // Whoever gives up leaves the turn to those before.
    this.#turn = Promise.all([before, mine.catch(() => undefined)]);
    return mine;
  }

  /** Ends them all. */
  end(error: BrontosigError): void {
    for (const fail of this.#failing) {
      fail(error);
    }
  }
}
