import { BrontosigError, type ErrorCode } from './errors.js';
import { within } from './limits.js';

/** How a transport ended. */
export interface TransportClose {
  /** The WebSocket close code, if there was one. */
  readonly code?: number | undefined;
  /** What the other side said, or an empty string. */
  readonly reason: string;
  /** Which side ended it; the other one if that is left out. */
  readonly by?: 'local' | 'remote' | undefined;
  /** Set unless the end was orderly. */
  readonly error?: BrontosigError | undefined;
}

/**
 * A stream of bytes in both directions. How the bytes are cut into pieces means
 * nothing. The streams of a WebSocket or TCP connection are transports, and so
 * is every other pair of streams.
 */
export interface Transport {
  /** What the other side sends. Errors when the connection breaks, after what came before. */
  readonly readable: ReadableStream<Uint8Array>;
  /** What goes to the other side. A write settles when there is room for more. */
  readonly writable: WritableStream<Uint8Array>;
  /**
   * False if the other side cannot be slowed, whether or not somebody reads, as
   * it is with a WebSocket. By default it can.
   */
  readonly backpressure?: boolean | undefined;
  /** Settles when the transport has ended. */
  readonly closed?: Promise<TransportClose> | undefined;
  /** Ends the transport in both directions. Calling it again does nothing. */
  close(code?: number, reason?: string): void;
}

/** A WebSocket of the platform or of npm `ws`, as far as it is used here. */
export interface WebSocketLike {
  /** Set to `arraybuffer`. */
  binaryType: string;
  /** 0 connecting, 1 open, 2 closing, 3 closed. */
  readonly readyState: number;
  /** Bytes that have not gone to the network. */
  readonly bufferedAmount: number;
  /** Sends one binary message. That of npm `ws` calls `sent` when it has gone out; others ignore it. */
  send(data: Uint8Array<ArrayBuffer>, sent?: () => void): void;
  /** Starts the closing handshake. */
  close(code?: number, reason?: string): void;
  /** Listens to open, message, error or close. */
  addEventListener(type: string, listener: (event: never) => void): void;
}

/** Makes a WebSocket. */
export type WebSocketConstructor = new (url: string, protocols?: string[]) => WebSocketLike;

/** What a platform has beyond the WebSocket of a browser. */
export interface Network {
  /** Makes WebSockets where the platform's own will not do. */
  readonly WebSocket?: WebSocketConstructor;
  /** Tells why the server did not upgrade, where that can be known. */
  readonly watchRefusal?: (socket: WebSocketLike, refuse: (status: number, reason: string) => void) => void;
  /** Opens a TCP connection. It rejects when the signal aborts. */
  readonly openTcp?: (host: string, port: number, options: TcpOptions) => Promise<Transport>;
}

/** What bounds a TCP connection. */
export interface TcpOptions {
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  /** The most bytes that wait for a slow reader. */
  readonly maxQueuedBytes: number;
}

let network: Network = {};

/** Adds what a platform has. The entries for Node call it. */
export function useNetwork(other: Network): void {
  network = other;
}

/** What the platform has. */
export function currentNetwork(): Network {
  return network;
}

/** The codes of the bridge's HTTP statuses and, from 4000 on, close codes. */
const refusals: Readonly<Record<number, ErrorCode>> = {
  400: 'PROTOCOL_ERROR',
  403: 'BRIDGE_REFUSED',
  408: 'TIMEOUT',
  429: 'RATE_LIMITED',
  502: 'NODE_UNREACHABLE',
  503: 'BRIDGE_BUSY',
  504: 'NODE_TIMEOUT',
};

/** The error for an HTTP answer instead of an upgrade. */
export function refusalError(status: number, reason: string): BrontosigError {
  const code = refusals[status] ?? 'CONNECTION_FAILED';
  return new BrontosigError(code, `the server answered with HTTP status ${status}${said(reason)}`);
}

/** The error for a close code, or undefined for an orderly end. */
export function closeError(code: number, reason: string): BrontosigError | undefined {
  if (code === 1000 || code === 1001 || code === 1005) {
    return undefined;
  }
  const kind = code > 4000 ? refusals[code - 4000] : undefined;
  return new BrontosigError(
    kind ?? 'CONNECTION_CLOSED',
    `the WebSocket was closed with code ${code}${said(reason)}`,
  );
}

/** Characters of a text from outside that are kept. */
const MAX_TEXT = 2000;

/** Makes a text from outside fit for logs and screens. */
export function printable(text: string): string {
  return text.slice(0, MAX_TEXT).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD');
}

function said(reason: string): string {
  return reason === '' ? '' : `: ${reason}`;
}

/** Turns anything that was thrown into an error of this package. */
export function asError(code: ErrorCode, text: string, cause: unknown): BrontosigError {
  return cause instanceof BrontosigError ? cause : new BrontosigError(code, text, { cause });
}

/** Milliseconds in which a transport whose streams have ended says how it ended. */
export const SAY_TIMEOUT = 2_000;

/** Waits for the end of a transport whose streams have ended. It may say nothing of it. */
export async function endOf(transport: Transport): Promise<TransportClose | undefined> {
  try {
    return await within({}, 'the end of the transport', SAY_TIMEOUT, async () => closedOf(transport));
  } catch {
    return undefined;
  }
}

/** How a transport will have ended, put in form; it never rejects. Undefined if the transport does not say. */
export function closedOf(transport: Transport): Promise<TransportClose | undefined> | undefined {
  if (transport.closed === undefined) {
    return undefined;
  }
  return Promise.resolve(transport.closed as Promise<Partial<TransportClose> | undefined>).then(
    (close) => ({ ...close, reason: close?.reason ?? '' }),
    (cause: unknown) => ({ reason: '', error: asError('CONNECTION_CLOSED', 'the connection broke', cause) }),
  );
}

/** Closes a transport that is given up. */
export function closeQuietly(transport: Transport): void {
  try {
    transport.close();
  } catch {
    // There is nothing more that could be done to end it.
  }
}
