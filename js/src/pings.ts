import { integer, options as optionsOf } from './check.js';
import { BrontosigError } from './errors.js';
import { MAX_PING_PADDING, NO_PONG } from './generated.js';
import type { Limits } from './limits.js';
import type { Protocol } from './protocol.js';
import type { Timing } from './timing.js';
import { Waits } from './waits.js';

/** Milliseconds in which a ping is answered by default. */
const PING_TIMEOUT = 30_000;

/** Pings of the application that may be waiting at a time, for their turn or for an answer. */
const MAX_PINGS = 32;

/** Options of {@link Peer.ping}. */
export interface PingOptions extends Limits {
  /** Bytes of padding in the pong, 0 to 65,531. By default a few, which tell pings apart. */
  readonly pongBytes?: number | undefined;
  /** Bytes of padding in the ping, 0 to 65,529; none by default. */
  readonly padding?: number | undefined;
}

/** What {@link Peer.ping} returns. */
export interface PingResult {
  /** Milliseconds until the pong came. */
  readonly rttMs: number;
}

/** What a ping needs of its connection. */
interface Line {
  readonly protocol: Protocol;
  readonly timing: Timing;
  readonly send: (message: Uint8Array) => Promise<void>;
}

/**
 * Checks the options of a ping.
 *
 * @throws TypeError or RangeError that names a wrong one.
 */
export function pingSizes(options: PingOptions): { readonly pongBytes: number | undefined; readonly padding: number } {
  const o = optionsOf('options', options, ['signal', 'timeoutMs', 'pongBytes', 'padding']);
  const pongBytes = o.pongBytes === undefined ? undefined : integer('pongBytes', o.pongBytes, 0, NO_PONG - 1);
  return { pongBytes, padding: integer('padding', o.padding ?? 0, 0, MAX_PING_PADDING) };
}

/** The application's pings on one connection: at most one a second goes out. */
export class Pings {
  readonly #line: Line;
  readonly #waits = new Waits();
  readonly #answers = new Map<number, () => void>();

  constructor(line: Line) {
    this.#line = line;
  }

  /** Sends a ping when it may be sent, and waits for its pong. */
  async ping(options: PingOptions): Promise<PingResult> {
    const { pongBytes, padding } = pingSizes(options);
    if (this.#waits.size >= MAX_PINGS) {
      throw new BrontosigError('TOO_MANY_PINGS', `${MAX_PINGS} pings are waiting`);
    }
    const { protocol, send } = this.#line;
    return this.#waits.run(options, 'the answer to a ping', PING_TIMEOUT, async (failed) => {
      const { ping, message } = await this.#waits.inTurn(failed, async () => {
        await this.#delay(failed);
        return protocol.ping(pongBytes, padding);
      });
      const answered = new Promise<void>((resolve) => {
        this.#answers.set(ping, resolve);
      });
      try {
        const started = performance.now();
        await Promise.race([failed, send(message)]);
        await Promise.race([failed, answered]);
        return { rttMs: performance.now() - started };
      } finally {
        if (this.#answers.delete(ping)) {
          protocol.abandonPing(ping);
        }
      }
    });
  }

  /** Takes the pong to a ping. */
  answered(ping: number): void {
    const answer = this.#answers.get(ping);
    this.#answers.delete(ping);
    answer?.();
  }

  /** Ends every wait. The protocol is not used any more. */
  end(error: BrontosigError): void {
    this.#answers.clear();
    this.#waits.end(error);
  }

  /** Waits until a second after the last ping. */
  async #delay(failed: Promise<never>): Promise<void> {
    const { protocol, timing } = this.#line;
    for (let delay = protocol.pingDelay(); delay > 0; delay = protocol.pingDelay()) {
      let cancel = (): void => undefined;
      const passed = new Promise<void>((resolve) => {
        cancel = timing.after(delay, resolve);
      });
      try {
        await Promise.race([failed, passed]);
      } finally {
        cancel();
      }
    }
  }
}
