import { integer } from './check.js';
import { BrontosigError } from './errors.js';

/** The longest time that a timer can run, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/** What bounds a wait. */
export interface Limits {
  /** Aborting it ends the wait with ABORTED. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until the wait ends with TIMEOUT. */
  readonly timeoutMs?: number | undefined;
}

/**
 * Returns the time that the limits name, or the default.
 *
 * @throws TypeError or RangeError that names `timeoutMs`.
 */
export function timeoutOf(limits: Limits, defaultMs: number): number {
  return integer('timeoutMs', limits.timeoutMs ?? defaultMs, 1, LONGEST);
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
  const { signal } = limits;
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new TypeError('signal: an AbortSignal expected');
  }
  const ms = timeoutOf(limits, defaultMs);
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

/** Rejects with the signal's reason when it aborts. */
async function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
}
