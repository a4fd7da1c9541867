// Assertions without Node: what the same tests use in every place where they run.

/** Fails unless a condition holds. */
export function ok(condition: unknown, what: string): asserts condition {
  if (condition === false || condition === undefined || condition === null) {
    throw new Error(what);
  }
}

/** Fails unless two values are the same, or two byte strings equal. */
export function same(actual: unknown, expected: unknown, what: string): void {
  const shown = (value: unknown): string =>
    value instanceof Uint8Array ? `[${value.length}] ${value.subarray(0, 40).join()}` : String(value);
  const equal =
    actual instanceof Uint8Array && expected instanceof Uint8Array
      ? actual.length === expected.length && actual.every((byte, i) => byte === expected[i])
      : Object.is(actual, expected);
  ok(equal, `${what}: expected ${shown(expected)}, got ${shown(actual)}`);
}

/** The code of the error with which something ends, its name if it has none, or `none`. */
export async function codeOf(attempt: Promise<unknown>): Promise<string> {
  return attempt.then(
    () => 'none',
    (error: unknown) => {
      const { code, name } = (error ?? {}) as { code?: string; name?: string };
      return code ?? name ?? String(error);
    },
  );
}

/** Fails unless something ends with an error of this code. */
export async function fails(attempt: Promise<unknown>, code: string, what: string): Promise<void> {
  same(await codeOf(attempt), code, what);
}
