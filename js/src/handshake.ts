import { object } from './check.js';
import { Connection, established } from './connection.js';
import { BrontosigError, type ErrorCode } from './errors.js';
import { abortError, within } from './limits.js';
import type { Machine } from './machine.js';
import { asError, closeQuietly, endOf, type Transport } from './transport.js';

/** What {@link establish} needs to know beside the transport. */
interface Terms {
  /** The own static public key. */
  readonly localKey: Uint8Array;
  /** Ends the handshake, and later the connection. */
  readonly signal: AbortSignal | undefined;
  /** Milliseconds for the handshake. */
  readonly timeoutMs: number;
  /** Milliseconds for closing the connection. */
  readonly closeTimeoutMs: number;
}

/**
 * Does the handshake over a transport. On failure the transport is closed.
 *
 * @param machine - which has done nothing yet. The connection takes it over; on
 * failure it is the caller's to dispose.
 */
export async function establish(transport: Transport, machine: Machine, terms: Terms): Promise<Connection> {
  const reader = locked('transport.readable', transport, () => transport.readable.getReader());
  let writer: WritableStreamDefaultWriter<Uint8Array> | undefined;
  try {
    const output = locked('transport.writable', transport, () => transport.writable.getWriter());
    writer = output;
    // The writer's failure is met where something is written.
    output.closed.catch(() => undefined);
    const early = await within(terms, 'the handshake', terms.timeoutMs, async (ended) => {
      ended.addEventListener('abort', () => {
        reader.cancel().catch(() => undefined);
      });
      return handshake(machine, transport, reader, output, ended);
    });
    const remoteKey = machine.remoteKey ?? new Uint8Array();
    return new Connection({ guard: established, machine, transport, reader, writer, remoteKey, early, ...terms });
  } catch (error) {
    // A transport that is just a pair of streams can end them only through
    // their locks. What has failed already fails here again, and was told then.
    reader.cancel().catch(() => undefined);
    writer?.close().catch(() => undefined);
    closeQuietly(transport);
    throw error;
  }
}

/** Takes the lock of a stream. */
function locked<T>(name: string, transport: Transport, lock: () => T): T {
  object('transport', transport);
  try {
    return lock();
  } catch (cause) {
    closeQuietly(transport);
    throw new TypeError(`${name}: a stream that nobody uses expected`, { cause });
  }
}

/** Runs the acts and returns the messages that came right behind them. */
async function handshake(
  machine: Machine,
  transport: Transport,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  writer: WritableStreamDefaultWriter<Uint8Array>,
  ended: AbortSignal,
): Promise<readonly Uint8Array[]> {
  let unanswered = false;
  try {
    const act = machine.start();
    if (act.length > 0) {
      await writer.write(act);
      unanswered = true;
    }
    for (;;) {
      const { done, value } = await reader.read();
      if (ended.aborted) {
        throw abortError(ended);
      }
      if (done) {
        machine.end();
        throw new BrontosigError('CONNECTION_CLOSED', 'the connection ended in the handshake');
      }
      unanswered &&= value.length === 0;
      const { send, messages } = machine.receive(value);
      if (send !== undefined) {
        await writer.write(send);
        ended.throwIfAborted();
      }
      if (machine.state === 'ready') {
        return messages;
      }
    }
  } catch (cause) {
    const error = asError('CONNECTION_CLOSED', 'the connection broke in the handshake', cause);
    // A node may hang up on act one without ceremony.
    const code = unanswered && (await wasDropped(transport, error)) ? 'NOT_ANSWERED' : error.code;
    const known = handshakeCodes[code];
    throw known === undefined ? error : new BrontosigError(...known, { cause });
  }
}

/** The close code of a WebSocket that ended without one. */
const NO_CLOSE_FRAME = 1006;

/**
 * Tells whether the other side dropped the connection: TCP's reset, which only
 * Node shows, or a WebSocket that ended without a close, as it does on servers
 * that send none.
 */
async function wasDropped(transport: Transport, error: BrontosigError): Promise<boolean> {
  if (error.code !== 'CONNECTION_CLOSED') {
    return false;
  }
  if ((error.cause as { code?: unknown } | undefined)?.code === 'ECONNRESET') {
    return true;
  }
  return (await endOf(transport))?.code === NO_CLOSE_FRAME;
}

const handshakeCodes: Readonly<Partial<Record<ErrorCode, readonly [ErrorCode, string]>>> = {
  NOT_ANSWERED: [
    'AUTHENTICATION_FAILED',
    'authentication failed: the node hung up on act one, most likely because its key is not the expected one',
  ],
  MAC_FAILED: ['AUTHENTICATION_FAILED', 'authentication failed: an act of the handshake is not authentic'],
  TRUNCATED: ['CONNECTION_CLOSED', 'the other side hung up in the middle of the handshake'],
  UNSUPPORTED_VERSION: ['PROTOCOL_ERROR', 'the other side speaks another version of the handshake'],
  INVALID_PUBLIC_KEY: ['PROTOCOL_ERROR', 'an act of the handshake holds no public key'],
};
