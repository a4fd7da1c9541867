import { once } from 'node:events';
import { test } from 'node:test';
import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads';

/**
 * Defines one test for each scenario. Each runs in a thread of its own, where
 * nothing has loaded the package yet, and must leave nothing behind that keeps
 * the thread alive.
 *
 * @param url - `import.meta.url` of the file that calls. It is loaded again in
 * each thread, so it must do nothing else.
 */
export function isolated(url: string, scenarios: Record<string, () => Promise<void>>): void {
  if (!isMainThread) {
    const scenario = scenarios[workerData as string];
    void scenario?.().then(() => {
      parentPort?.postMessage('passed');
    });
    return;
  }
  for (const name of Object.keys(scenarios)) {
    test(name, async () => {
      const worker = new Worker(new URL(url), { workerData: name });
      const result = { passed: false };
      worker.once('message', () => {
        result.passed = true;
      });
      // Rejects if the worker reports an error.
      const [code] = (await once(worker, 'exit')) as [number];
      if (code !== 0 || !result.passed) {
        throw new Error(`the thread ended with code ${code} before its scenario had passed`);
      }
    });
  }
}
