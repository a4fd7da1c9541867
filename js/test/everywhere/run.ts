import type { Outcome, Place, Suite } from './places.js';

/** Runs a suite, one test after the other. */
export async function run(suite: Suite, place: Place): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const [test, body] of Object.entries(suite)) {
    try {
      await body(place);
      outcomes.push({ test, error: '' });
    } catch (error) {
      outcomes.push({ test, error: String(error instanceof Error ? error.stack : error) });
    }
  }
  return outcomes;
}
