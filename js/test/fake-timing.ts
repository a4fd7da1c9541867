import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import type { Timing } from '../../dist/timing.js';

interface Timer {
  readonly at: number;
  readonly run: () => void;
}

/** Time that goes on when a test says so. */
export class FakeTiming implements Timing {
  /** What {@link random} returns. */
  chance = 0.5;
  #now: number;
  readonly #timers = new Set<Timer>();

  constructor(now = 1000) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, run: () => void): () => void {
    assert.ok(ms > 0 && Number.isInteger(ms), `a timer of ${ms} ms`);
    const timer = { at: this.#now + ms, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  random(): number {
    return this.chance;
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.size;
  }

  /** Whether no timer is set. */
  idle(): boolean {
    return this.#timers.size === 0;
  }

  /** Milliseconds until the next timer is due. */
  get due(): number {
    return Math.min(...[...this.#timers].map(({ at }) => at)) - this.#now;
  }

  /** Lets time go by, with the timers that come due on the way. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (next === undefined) {
        break;
      }
      this.#now = Math.max(this.#now, next.at);
      this.#timers.delete(next);
      next.run();
      await setImmediate();
    }
    this.#now = end;
    await setImmediate();
  }

  /** Sleeps: time goes by, and the timers that were due meanwhile come late, all at the end. */
  async sleep(ms: number): Promise<void> {
    this.#now += ms;
    await this.pass(0);
  }

  /** Waits until a timer is set. */
  async timerSet(): Promise<void> {
    while (this.#timers.size === 0) {
      await setImmediate();
    }
  }
}
