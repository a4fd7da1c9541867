// Measuring and printing, for all benchmarks.

import { cpus } from 'node:os';

export const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

/** Prints a row of a Markdown table. */
export const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);

/** Prints the first two rows of a Markdown table. */
export function header(...cells) {
  console.log();
  row(...cells);
  row(...cells.map(() => '---'));
}

/** Milliseconds in a fitting unit. */
export function duration(ms) {
  const [value, unit] = ms >= 1 ? [ms, 'ms'] : [ms * 1000, 'µs'];
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
}

export const ratio = (theirs, ours) => `${(theirs / ours).toFixed(theirs / ours >= 10 ? 0 : 1)}x`;

/** What the figures were measured on. */
export const machine = () => `Node ${process.version}, ${cpus().length} × ${cpus()[0].model.trim()}`;

/** Milliseconds in which an engine settles on the code that it runs for good. */
const WARM_UP = 3_000;

/** Runs a work until its engine has settled. */
export function warmUp(run) {
  const started = performance.now();
  do {
    run();
  } while (performance.now() - started < WARM_UP);
}

/**
 * Measures variants of one work in turns, so that what else the machine does
 * hits all of them alike. Each is warmed up by itself before.
 *
 * @param variants - by name, a function that does the work `calls` times, or,
 * if it returns a number, that says itself how many milliseconds that took.
 * @param rounds - how often each is run; the median counts.
 * @returns by name, the milliseconds of one work.
 */
export function compare(variants, { rounds = 15, calls = 1 } = {}) {
  const times = Object.fromEntries(Object.keys(variants).map((name) => [name, []]));
  Object.values(variants).forEach((run) => warmUp(() => run(calls)));
  for (let i = 0; i < rounds; i++) {
    for (const [name, run] of Object.entries(variants)) {
      const started = performance.now();
      const own = run(calls);
      const took = typeof own === 'number' ? own : performance.now() - started;
      times[name].push(took / calls);
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, median(list)]));
}
