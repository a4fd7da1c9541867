/** Bytes that may be written in one turn of the event loop. */
const TURN_BYTES = 1 << 18;

/** Lets the event loop do what else it has to do. Unlike timers it is not slowed in hidden pages. */
async function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}

/**
 * Sees to it that a sender which only waits for its writes leaves the event loop
 * its turns. While the other side takes bytes as fast as they are made, a write
 * never waits for anything, and without this no timer would run and nothing that
 * arrives, be it the end of the connection, would be seen.
 */
export class Turns {
  #left = TURN_BYTES;

  /** Waits after a write, if it is time. */
  async wrote(bytes: number): Promise<void> {
    this.#left -= bytes;
    if (this.#left <= 0) {
      this.#left = TURN_BYTES;
      await nextTurn();
    }
  }
}
