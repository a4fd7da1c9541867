// What runs the suites in a page and in workers. It counts what the package
// leaves behind: rejections that nobody handles, timers, and open WebSockets.

import { init } from 'brontosig';
import type { Place, Suite } from './places.js';
import { run } from './run.js';

interface Counted {
  readonly rejections: string[];
  readonly timers: Set<unknown>;
  readonly sockets: Set<WebSocket>;
}

/** @param stuck - the addresses of nodes that do not read: a page cannot drop a WebSocket that does not answer the close. */
function count(stuck: readonly (string | undefined)[]): Counted {
  const counted: Counted = { rejections: [], timers: new Set(), sockets: new Set() };
  globalThis.addEventListener('unhandledrejection', ({ reason }: PromiseRejectionEvent) => {
    counted.rejections.push(String(reason));
  });
  const { setTimeout, clearTimeout } = globalThis;
  const set = (callback: () => void, ms?: number): unknown => {
    const timer: unknown = setTimeout(() => {
      counted.timers.delete(timer);
      callback();
    }, ms);
    counted.timers.add(timer);
    return timer;
  };
  const clear = (timer: number | undefined): void => {
    counted.timers.delete(timer);
    clearTimeout(timer);
  };
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear });
  globalThis.WebSocket = class extends WebSocket {
    constructor(url: string | URL, protocols: string | string[] = []) {
      super(url, protocols);
      if (!stuck.includes(String(url))) {
        counted.sockets.add(this);
      }
      this.addEventListener('close', () => counted.sockets.delete(this));
    }
  };
  return counted;
}

/** Runs suites and tells the server of the page how they ended. */
export async function report(where: string, suites: readonly Suite[]): Promise<void> {
  const place = (await (await fetch('/place')).json()) as Place;
  const counted = count(place.carriers.map(({ addresses }) => addresses['stuck']));
  await init();
  const outcomes = (await Promise.all(suites.map(async (suite) => run(suite, place)))).flat();
  // Closes that nobody answers take five seconds. What stays longer stays for good.
  const channel = new MessageChannel();
  const limit = performance.now() + 15_000;
  await new Promise<void>((resolve) => {
    channel.port1.onmessage = () => {
      if ((counted.timers.size === 0 && counted.sockets.size === 0) || performance.now() > limit) {
        resolve();
      } else {
        channel.port2.postMessage(0);
      }
    };
    channel.port2.postMessage(0);
  });
  channel.port1.close();
  const left = `${counted.rejections.join('; ')}|${counted.timers.size}|${[...counted.sockets].map(({ url }) => url).join()}`;
  outcomes.push({ test: 'nothing is left', error: left === '|0|' ? '' : `rejections, timers, sockets: ${left}` });
  await fetch(`/report?${where}`, { method: 'POST', body: JSON.stringify(outcomes) });
}
