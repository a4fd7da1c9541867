/** What other tabs of a room say. */
export interface TabEvents {
  /** A tab has opened, and has heard nothing yet. */
  readonly onHello: () => void;
  /** The line of a packet. */
  readonly onLine: (line: string) => void;
  /** A signer has closed its tab or left. */
  readonly onBye: (key: string) => void;
}

/** Carries lines between the tabs of a browser that are in the same room. */
export class Tabs {
  readonly #channel: BroadcastChannel;

  /** Opens the channel of a room. */
  constructor(room: string, { onHello, onLine, onBye }: TabEvents) {
    this.#channel = new BroadcastChannel(`brontosig:${room}`);
    this.#channel.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
      if (typeof data !== 'string') {
        return;
      }
      if (data === 'hello') {
        onHello();
      } else if (data.startsWith('bye:')) {
        onBye(data.slice('bye:'.length));
      } else {
        onLine(data);
      }
    });
  }

  /** Asks the others to say again what they have said. */
  hello(): void {
    this.#channel.postMessage('hello');
  }

  /** Sends a packet. */
  send(line: string): void {
    this.#channel.postMessage(line);
  }

  /** Leaves, and says so. */
  close(key: string): void {
    this.#channel.postMessage(`bye:${key}`);
    this.#channel.close();
  }
}
