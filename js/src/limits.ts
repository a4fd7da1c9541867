import { integer } from './check.js';
import { BrontosigError } from './errors.js';

/** The longest time that a timer can run, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/**
 * Milliseconds after which a connection ends when its reader takes nothing and
 * the other side has to wait for it: answers to pings would come too late.
 */
export const READER_PATIENCE = 20_000;

/** Bytes that may wait for the reader by default. */
export const MAX_QUEUED: number = 16 << 20;

/** The least that `maxQueuedBytes` may be: a message and the chunk that it comes in have to fit. */
const LEAST_QUEUED = 1 << 17;

/** What bounds a wait. */
export interface Limits {
  /** Aborting it ends the wait with ABORTED. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the wait ends with TIMEOUT. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Checks a time in milliseconds.
 *
 * @param name - of the option.
 * @throws TypeError or RangeError that names it.
 */
export function milliseconds(name: string, value: number): number {
  return integer(name, value, 1, LONGEST);
}

/**
 * Checks an option `maxQueuedBytes`.
 *
 * @throws TypeError or RangeError that names it.
 */
export function queueLimit(value: number | undefined): number {
  return integer('maxQueuedBytes', value ?? MAX_QUEUED, LEAST_QUEUED, 2 ** 31);
}

/**
 * Checks an option `signal`.
 *
 * @throws TypeError that names it.
 */
export function checkSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  // A signal of another window is no instance of this one's class.
  const { aborted, addEventListener } = (signal ?? {}) as Partial<AbortSignal>;
  if (signal !== undefined && (typeof aborted !== 'boolean' || typeof addEventListener !== 'function')) {
    throw new TypeError('signal: an AbortSignal expected');
  }
  return signal;
}

/** The error for a signal that has aborted, with the reason that it gives. */
export function abortError(signal: AbortSignal): BrontosigError {
  const reason: unknown = signal.reason;
  if (reason instanceof BrontosigError) {
    return reason;
  }
  return new BrontosigError('ABORTED', 'the operation was aborted', { cause: reason });
}

/**
 * Runs something that ends when the signal that it gets aborts. Whatever it
 * does, the promise settles within the limits.
 *
 * @param what - names the wait, for the error.
 * @param defaultMs - the time if the limits name none.
 */
export async function within<T>(
  limits: Limits,
  what: string,
  defaultMs: number,
  run: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = checkSignal(limits.signal);
  const ms = milliseconds('timeoutMs', limits.timeoutMs ?? defaultMs);
  if (signal?.aborted === true) {
    throw abortError(signal);
  }
  const controller = new AbortController();
  const onAbort = (): void => {
    controller.abort(signal === undefined ? undefined : abortError(signal));
  };
  const timer = setTimeout(() => {
    controller.abort(new BrontosigError('TIMEOUT', `${what} took more than ${ms} ms`));
  }, ms);
  signal?.addEventListener('abort', onAbort);
  try {
    // The rejection first: what runs may abort the signal before it returns.
    const ended = rejection(controller.signal);
    return await Promise.race([ended, run(controller.signal)]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Waits for something that goes on by itself, or until the signal aborts. */
export async function untilAborted<T>(signal: AbortSignal, running: Promise<T>): Promise<T> {
  return within({ signal, timeoutMs: LONGEST }, 'the wait', LONGEST, async () => running);
}

/** Rejects with the signal's reason when it aborts. */
async function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}

/** A time that several waits share. */
export class Deadline {
  readonly #end: number;

  /** Starts the time. */
  constructor(ms: number) {
    this.#end = performance.now() + ms;
  }

  /** The milliseconds that a wait may take which has a limit of its own. */
  within(ms: number): number {
    return Math.max(1, Math.min(ms, Math.ceil(this.#end - performance.now())));
  }
}
