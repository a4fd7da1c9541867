/** Where the peer layer takes time and chance from. Tests bring their own. */
export interface Timing {
  /** Milliseconds since some moment. It never goes back, and it counts sleep as far as that is known. */
  now(): number;
  /** Calls a function once after so many milliseconds, unless the returned function is called before. */
  after(ms: number, run: () => void): () => void;
  /** A number from 0 up to but not including 1. */
  random(): number;
}

/**
 * Makes one clock of two. `performance.now()` stands still on some systems while
 * they sleep, and `Date.now()` jumps when the clock is set. Of the two advances
 * since the last look the greater one counts: a jump ahead looks like a sleep,
 * which does no harm, and one back does nothing.
 */
export function clockOf(steady: () => number, wall: () => number): () => number {
  let [lastSteady, lastWall] = [steady(), wall()];
  let elapsed = 0;
  return () => {
    const [steadyNow, wallNow] = [steady(), wall()];
    elapsed += Math.max(steadyNow - lastSteady, wallNow - lastWall);
    [lastSteady, lastWall] = [steadyNow, wallNow];
    return elapsed;
  };
}

/** The time and chance of the platform. */
export const systemTiming: Timing = {
  now: clockOf(
    () => performance.now(),
    () => Date.now(),
  ),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => {
      clearTimeout(timer);
    };
  },
  random: () => Math.random(),
};
