import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A stop on the way of TCP connections to a node, which can cut off what the node sends. */
export class Relay {
  readonly #target: number;
  readonly #server = createServer((socket) => {
    this.#pass(socket);
  });
  readonly #sockets = new Set<Socket>();
  #port = 0;
  #room = Infinity;
  #onFull: () => void = () => undefined;

  private constructor(target: number) {
    this.#target = target;
  }

  /** Relays connections to a port on loopback while `body` runs. */
  static async run(target: number, body: (relay: Relay) => Promise<void>): Promise<void> {
    const relay = new Relay(target);
    await relay.open();
    try {
      await body(relay);
    } finally {
      relay.#sockets.forEach((socket) => socket.destroy());
      await relay.close();
    }
  }

  /** Where it listens. */
  get address(): string {
    return `127.0.0.1:${this.#port}`;
  }

  /** Takes connections, each time at the same address, and passes all on. */
  async open(): Promise<void> {
    this.#room = Infinity;
    this.#server.listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Takes no more connections, as a node that is down. It waits for the open ones to end. */
  async close(): Promise<void> {
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Passes so many more bytes of the node on, and loses the rest. Settles when it loses some. */
  async cutAfter(bytes: number): Promise<void> {
    this.#room = bytes;
    return new Promise((resolve) => {
      this.#onFull = resolve;
    });
  }

  #pass(socket: Socket): void {
    const node = connect(this.#target, '127.0.0.1');
    for (const [one, other] of [
      [socket, node],
      [node, socket],
    ] as const) {
      this.#sockets.add(one);
      one.on('error', () => undefined); // `close` follows
      one.on('close', () => {
        this.#sockets.delete(one);
        other.end();
      });
    }
    socket.on('data', (data) => node.write(data));
    node.on('data', (data) => {
      socket.write(data.subarray(0, this.#room));
      if (data.length > this.#room) {
        this.#onFull();
      }
      this.#room -= Math.min(this.#room, data.length);
    });
  }
}
