import assert from 'node:assert/strict';
import { connectPeer, type CloseInfo, type Message, type Peer, type PeerEvents } from 'brontosig/lightning';
import { publicKey } from 'brontosig/musig2';
import type { Page } from 'playwright-core';
import { toHex } from './examples.js';
import { CUSTOM_TYPE, exchange, FROM_LND, FROM_US, pattern, PROBE_TYPE } from './traffic.js';

/** How a connection ended, as a test compares it. */
export interface End {
  readonly by: string;
  readonly code: string | undefined;
}

/** Our end of a connection to a node: in this process, or in a page. */
export interface Side {
  /** The public key that the node knows us by, as hexadecimal digits. */
  readonly key: string;
  /** Connects, and returns the features of the node. It rejects with `code`. */
  connect(uri: string): Promise<Uint8Array>;
  /** Measures a round trip in milliseconds. */
  ping(): Promise<number>;
  /** Sends a message that means nothing. */
  probe(): Promise<void>;
  /** Does our half of an exchange of messages. */
  exchange(count: number): Promise<void>;
  /** Waits for the end of the present connection, after which it connects again. */
  disconnected(): Promise<End>;
  /** Waits until it is connected again. */
  reopened(): Promise<void>;
  /** Waits for the end of it all. */
  closed(): Promise<End>;
  /** Closes the connection for good, if there is one. */
  close(): Promise<void>;
}

/** How soon to connect again: at once, for a node on the same machine. */
const reconnect = { minDelayMs: 100, maxDelayMs: 1_000 };

const endOf = ({ by, error }: CloseInfo): End => ({ by, code: error?.code });

/** Waits for an event. */
async function next<K extends keyof PeerEvents>(peer: Peer, type: K): Promise<PeerEvents[K]> {
  return new Promise((resolve) => {
    const stop = peer.on(type, (detail) => {
      stop();
      resolve(detail);
    });
  });
}

const exchangeOptions = (count: number): Parameters<typeof exchange>[3] => ({
  type: CUSTOM_TYPE,
  count,
  from: FROM_LND,
  out: FROM_US,
});

/** Our end in Node, straight over TCP or through a bridge. */
export class NodeSide implements Side {
  readonly key: string;
  readonly #secretKey = crypto.getRandomValues(new Uint8Array(32));
  readonly #bridge: string | undefined;
  #peer: Peer | undefined;
  #messages: AsyncIterator<Message> | undefined;

  /** How it gets to the node. */
  get way(): string {
    return this.#bridge === undefined ? 'tcp' : 'bridge';
  }

  constructor(bridge?: string) {
    this.#bridge = bridge;
    this.key = toHex(publicKey(this.#secretKey));
  }

  async connect(uri: string): Promise<Uint8Array> {
    this.#peer = await connectPeer(uri, {
      bridge: this.#bridge,
      secretKey: this.#secretKey,
      timeoutMs: 20_000,
      reconnect,
    });
    this.#messages = this.#peer.messages();
    assert.equal(toHex(this.#peer.localKey), this.key);
    return this.#peer.remoteInit.features;
  }

  async ping(): Promise<number> {
    return (await this.#peer!.ping()).rttMs;
  }

  async probe(): Promise<void> {
    await this.#peer!.send(PROBE_TYPE, new Uint8Array());
  }

  async exchange(count: number): Promise<void> {
    await exchange(this.#peer!, this.#messages!, pattern, exchangeOptions(count));
  }

  async disconnected(): Promise<End> {
    return endOf((await next(this.#peer!, 'disconnect')).info);
  }

  async reopened(): Promise<void> {
    assert.equal(await next(this.#peer!, 'state'), 'open');
  }

  async closed(): Promise<End> {
    return endOf(await this.#peer!.closed);
  }

  async close(): Promise<void> {
    await this.#peer?.close();
  }
}

/** Our end in a page of a browser, through a bridge. */
export class PageSide implements Side {
  readonly key: string;
  readonly #secretKey = crypto.getRandomValues(new Uint8Array(32));
  readonly #page: Page;
  readonly #bridge: string;

  /** @param page - one that can import the package by name. */
  constructor(page: Page, bridge: string) {
    this.#page = page;
    this.#bridge = bridge;
    this.key = toHex(publicKey(this.#secretKey));
  }

  async connect(uri: string): Promise<Uint8Array> {
    const options = JSON.stringify({ bridge: this.#bridge, timeoutMs: 20_000, reconnect });
    return Uint8Array.from(
      await this.#run<number[]>(`
        const { init } = await import('brontosig');
        const { connectPeer } = await import('brontosig/lightning');
        await init();
        const secretKey = Uint8Array.of(${this.#secretKey.join()});
        globalThis.peer = await connectPeer('${uri}', { ...${options}, secretKey });
        globalThis.messages = peer.messages();
        return [...peer.remoteInit.features];`),
    );
  }

  async ping(): Promise<number> {
    return this.#run('return (await peer.ping()).rttMs;');
  }

  async probe(): Promise<void> {
    await this.#run(`await peer.send(${PROBE_TYPE}, new Uint8Array());`);
  }

  async exchange(count: number): Promise<void> {
    const options = JSON.stringify(exchangeOptions(count));
    await this.#run(`await (${exchange.toString()})(peer, messages, ${pattern.toString()}, ${options});`);
  }

  async disconnected(): Promise<End> {
    return this.#run(`return (${endOf.toString()})((await (${next.toString()})(peer, 'disconnect')).info);`);
  }

  async reopened(): Promise<void> {
    assert.equal(await this.#run(`return (${next.toString()})(peer, 'state');`), 'open');
  }

  async closed(): Promise<End> {
    return this.#run(`return (${endOf.toString()})(await peer.closed);`);
  }

  async close(): Promise<void> {
    await this.#run('await globalThis.peer?.close();');
  }

  /** Runs the body of an async function in the page. Its error keeps its code. */
  async #run<T>(body: string): Promise<T> {
    const outcome = await this.#page.evaluate<{ value: T } | { message: string; code: string | undefined }>(
      `(async () => { ${body} })().then((value) => ({ value }), ({ message, code }) => ({ message, code }))`,
    );
    if ('message' in outcome) {
      throw Object.assign(new Error(`in the page: ${outcome.message}`), { code: outcome.code });
    }
    return outcome.value;
  }
}
