import { Calls, type CheckedCall } from './commando.js';
import type { CloseInfo, Connection } from './connection.js';
import { BrontosigError } from './errors.js';
import { READER_PATIENCE, within } from './limits.js';
import { Pings, type PingOptions, type PingResult } from './pings.js';
import { Protocol, type Message, type Notice, type ProtocolSettings, type Received, type RemoteInit } from './protocol.js';
import type { Timing } from './timing.js';
import { asError } from './transport.js';

/** Milliseconds from which on a message that goes out shows that the link, if slowly, takes what is sent. */
const DRAINED = 100;

/** What a {@link Session} tells its peer. */
export interface SessionEvents {
  /** A message for the application. The promise, if there is one, settles when there is room for the next. */
  readonly onMessage: (message: Message) => Promise<void> | undefined;
  /** A warning or an error. */
  readonly onNotice: (kind: 'warning' | 'error', notice: Notice) => void;
}

/** What {@link Session.open} needs to know. */
export interface SessionSettings extends ProtocolSettings {
  /** Milliseconds for the exchange of init. */
  readonly initTimeoutMs: number;
}

/** One connection on which init has been exchanged. */
export class Session {
  /** What the node said in init. */
  readonly remoteInit: RemoteInit;
  /** What carries the messages. */
  readonly connection: Connection;

  readonly #life: AbortController;
  readonly #protocol: Protocol;
  readonly #timing: Timing;
  readonly #incoming: AsyncIterator<Uint8Array, undefined>;
  readonly #pings: Pings;
  readonly #calls: Calls;
  /** The text of the last error, which may say why the node hangs up. */
  #said = '';
  #failure: BrontosigError | undefined;
  #stopPolling = (): void => undefined;
  /** Set while a full queue keeps messages from being read. */
  #paused = false;
  #pollDue = false;
  /** Set when the connection has ended, though something may be left to read. */
  #over = false;
  #onClosed = (): void => undefined;
  #ended: BrontosigError | undefined;

  private constructor(
    connection: Connection,
    life: AbortController,
    protocol: Protocol,
    timing: Timing,
    incoming: AsyncIterator<Uint8Array, undefined>,
    remoteInit: RemoteInit,
  ) {
    this.connection = connection;
    this.#life = life;
    this.remoteInit = remoteInit;
    this.#protocol = protocol;
    this.#timing = timing;
    this.#incoming = incoming;
    const send = async (message: Uint8Array): Promise<void> => this.#send(message);
    this.#pings = new Pings({ protocol, timing, send });
    this.#calls = new Calls({ protocol, send });
  }

  /**
   * Exchanges init over a connection. On failure the connection is closed.
   *
   * @param life - whose signal the connection was made with. It ends the exchange too.
   */
  static async open(
    connection: Connection,
    life: AbortController,
    settings: SessionSettings,
    timing: Timing,
  ): Promise<Session> {
    let protocol: Protocol | undefined;
    try {
      const made = new Protocol(settings, timing);
      protocol = made;
      const limits = { signal: life.signal, timeoutMs: settings.initTimeoutMs };
      return await within(limits, 'the exchange of init', settings.initTimeoutMs, async () => {
        await connection.send(made.start());
        const incoming = connection[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
        const { done, value } = await incoming.next();
        if (done === true) {
          throw new BrontosigError('CONNECTION_CLOSED', 'the node hung up before it sent init');
        }
        const received = made.receive(value);
        throwFailure(connection, made, received);
        if (received.event.name !== 'init') {
          throw new BrontosigError('NO_INIT', 'the first message is no init');
        }
        return new Session(connection, life, made, timing, incoming, received.event.init);
      });
    } catch (error) {
      // It has its time to bring a last warning out, which nobody waits for.
      void connection.close();
      protocol?.dispose();
      throw asError('CONNECTION_CLOSED', 'the connection broke before init', error);
    }
  }

  /** Ends the connection at once. */
  abort(reason: BrontosigError): void {
    this.#life.abort(reason);
  }

  /** Ends a connection that has not been run. */
  async abandon(): Promise<void> {
    await this.connection.close();
    this.#protocol.dispose();
  }

  /** Takes messages until the connection ends, and says how it did. */
  async run(events: SessionEvents): Promise<CloseInfo> {
    this.#poll();
    void this.connection.closed.then(() => {
      this.#over = true;
      this.#onClosed();
    });
    let replied: Promise<void> | undefined;
    try {
      for (;;) {
        const { done, value } = await this.#incoming.next();
        if (done === true) {
          break;
        }
        const received = this.#protocol.receive(value);
        const room = this.#deliver(received, events);
        throwFailure(this.connection, this.#protocol, received);
        if (received.reply.length > 0) {
          // A pong may wait behind what the application sends. Reading goes on
          // meanwhile, up to the next one. Whatever keeps it from being sent
          // ends the reading too.
          await replied;
          replied = this.#send(received.reply).catch(() => undefined);
        }
        if (room !== undefined && !this.#isOver()) {
          await this.#pause(room);
        }
      }
    } catch (cause) {
      this.#failure ??= asError('CONNECTION_CLOSED', 'the connection broke', cause);
    }
    return this.#end();
  }

  /** Whether the connection has ended, which may happen during any wait. */
  #isOver(): boolean {
    return this.#over;
  }

  /** Sends a message of the application. */
  async send(type: number, payload: Uint8Array): Promise<void> {
    this.#requireOpen();
    await this.#send(this.#protocol.message(type, payload));
  }

  /** Measures the time until the node answers. */
  async ping(options: PingOptions): Promise<PingResult> {
    this.#requireOpen();
    return this.#pings.ping(options);
  }

  /** Calls a commando method. */
  async commando(call: CheckedCall): Promise<unknown> {
    this.#requireOpen();
    return this.#calls.call(call);
  }

  async #send(message: Uint8Array): Promise<void> {
    const started = this.#timing.now();
    await this.connection.send(message);
    if (this.#timing.now() - started > DRAINED && this.#ended === undefined) {
      this.#protocol.drained();
    }
  }

  #requireOpen(): void {
    if (this.#ended !== undefined) {
      throw this.#ended;
    }
  }

  #deliver({ event }: Received, events: SessionEvents): Promise<void> | undefined {
    switch (event.name) {
      case 'message':
        return events.onMessage(event.message);
      case 'pong':
        this.#pings.answered(event.ping);
        break;
      case 'reply':
        this.#calls.part(event.call, event.last, event.part);
        break;
      case 'replyTooLong':
        this.#calls.tooLong(event.call);
        break;
      case 'warning':
      case 'error':
        this.#said = event.name === 'error' ? event.notice.text : this.#said;
        events.onNotice(event.name, event.notice);
        break;
      case 'init':
      case 'failure':
      case 'none':
    }
    return undefined;
  }

  /**
   * Reads nothing until there is room. The transport slows the node meanwhile, or
   * ends the connection if it cannot. So does this, in the end: pongs are not read either.
   */
  async #pause(room: Promise<void>): Promise<void> {
    this.#paused = true;
    let cancel = (): void => undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        void room.then(resolve);
        // The connection's end is noticed too, though nothing is read. What is
        // left then is bounded.
        this.#onClosed = resolve;
        cancel = this.#timing.after(READER_PATIENCE, () => {
          reject(new BrontosigError('QUEUE_FULL', 'more messages arrived than the application took'));
        });
      });
    } finally {
      cancel();
      this.#paused = false;
    }
    if (this.#pollDue) {
      this.#poll();
    }
  }

  /** Does what the keepalive asks for, and comes back when it wants to. */
  readonly #poll = (): void => {
    this.#pollDue = this.#paused;
    if (this.#paused || this.#ended !== undefined) {
      return;
    }
    try {
      const { wait, ping } = this.#protocol.poll();
      if (ping.length > 0) {
        // If it cannot be sent, the connection has ended.
        this.connection.send(ping).catch(() => undefined);
      }
      if (wait > 0) {
        this.#stopPolling = this.#timing.after(wait, this.#poll);
      }
    } catch (cause) {
      const known = asError('CONNECTION_CLOSED', 'the keepalive failed', cause);
      this.#failure ??=
        known.code === 'PEER_SILENT'
          ? new BrontosigError('TIMEOUT', 'the node did not answer the keepalive', { cause })
          : known;
      this.#settle(this.#failure);
      // There is nobody for whom what is still to be sent would be brought out.
      this.abort(this.#failure);
    }
  };

  async #end(): Promise<CloseInfo> {
    this.#stopPolling();
    const closing = this.connection.close();
    if (this.#failure !== undefined) {
      this.#settle(this.#failure);
    }
    await closing;
    const info = await this.connection.closed;
    this.#settle(info.error ?? new BrontosigError('CONNECTION_CLOSED', 'the connection is closed'));
    this.#protocol.dispose();
    return {
      ...info,
      reason: info.reason === '' ? this.#said : info.reason,
      // What this side objected to is the cause, not the close that followed.
      error: this.#failure ?? info.error,
    };
  }

  /** Ends everything that waits. */
  #settle(error: BrontosigError): void {
    this.#ended ??= error;
    this.#pings.end(this.#ended);
    this.#calls.end(this.#ended);
  }
}

/** Throws what the other side did wrong, if it did, after a word to it. */
function throwFailure(connection: Connection, protocol: Protocol, { event, reply }: Received): void {
  if (event.name === 'failure') {
    // The warning is a courtesy: the error does not wait for it.
    connection.send(reply).catch(() => undefined);
    protocol.receive(new Uint8Array());
  }
}
