import type { CloseInfo } from './connection.js';
import type { ErrorCode } from './errors.js';
import type { Timing } from './timing.js';

/** How long a peer waits before it connects again. */
export interface ReconnectOptions {
  /** Milliseconds before the first attempt, about, 1,000 by default. Each further wait is twice as long. */
  readonly minDelayMs?: number | undefined;
  /** The most milliseconds between two attempts, 60,000 by default. */
  readonly maxDelayMs?: number | undefined;
}

/** The times of {@link ReconnectOptions}, checked. */
export interface ReconnectSettings {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

/** Milliseconds that a connection must last for the waits to start over. */
const STABLE = 30_000;

/** What may be over when the connection is tried again. Everything else would only happen again. */
const PASSING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'BRIDGE_BUSY',
  'CONNECTION_CLOSED',
  'CONNECTION_FAILED',
  'MAC_FAILED',
  'NODE_TIMEOUT',
  'NODE_UNREACHABLE',
  'RATE_LIMITED',
  'TIMEOUT',
]);

/** Whether there is sense in another attempt after a connection, or an attempt, has ended so. */
export function mayReconnect({ by, error }: CloseInfo): boolean {
  return error === undefined ? by === 'remote' : PASSING.has(error.code);
}

/** How long to wait before each attempt: exponential, with a cap, and partly by chance. */
export class Backoff {
  readonly #settings: ReconnectSettings;
  readonly #timing: Timing;
  #attempt = 0;
  #openedAt: number;

  /** Starts when a connection is open. */
  constructor(settings: ReconnectSettings, timing: Timing) {
    this.#settings = settings;
    this.#timing = timing;
    this.#openedAt = timing.now();
  }

  /** Notes that a connection is open. */
  opened(): void {
    this.#openedAt = this.#timing.now();
  }

  /** Notes that an open connection has ended. One that breaks again at once does not start the waits over. */
  closed(): void {
    if (this.#timing.now() - this.#openedAt >= STABLE) {
      this.#attempt = 0;
    }
  }

  /** The number of the next attempt, from 1, and the milliseconds to wait before it. */
  next(): { readonly attempt: number; readonly delayMs: number } {
    const { minDelayMs, maxDelayMs } = this.#settings;
    const longest = Math.min(maxDelayMs, minDelayMs * 2 ** this.#attempt);
    this.#attempt++;
    // The half by chance keeps the clients of a node that has restarted from
    // coming back all at once.
    return { attempt: this.#attempt, delayMs: Math.round(longest * (1 + this.#timing.random()) / 2) };
  }
}
