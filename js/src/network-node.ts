import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { BrontosigError } from './errors.js';
import { Inbox } from './inbox.js';
import { abortError, READER_PATIENCE } from './limits.js';
import {
  printable,
  useNetwork,
  type TcpOptions,
  type Transport,
  type TransportClose,
  type WebSocketConstructor,
  type WebSocketLike,
} from './transport.js';
import { MAX_RECEIVED_FRAME } from './websocket.js';

/** Bytes of a refusal that are read. */
const MAX_REFUSAL = 4096;

/** The WebSocket of npm `ws`. Node's own is refused by Core Lightning's server. */
class NodeWebSocket extends WebSocket {
  constructor(url: string, protocols: string[] = []) {
    super(url, protocols, { perMessageDeflate: false, maxPayload: MAX_RECEIVED_FRAME });
  }
}

/** Reads the status and the reason of a server that did not upgrade. */
function watchRefusal(socket: WebSocketLike, refuse: (status: number, reason: string) => void): void {
  if (!(socket instanceof WebSocket)) {
    return;
  }
  socket.on('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
    let body = '';
    const done = (): void => {
      request.destroy();
      refuse(response.statusCode ?? 0, reasonOf(body));
    };
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      body += text;
      if (body.length > MAX_REFUSAL) {
        done();
      }
    });
    response.on('end', done);
    response.on('error', done);
  });
}

/** The reason in a bridge's answer, or an empty string in any other. */
function reasonOf(body: string): string {
  try {
    const { reason } = JSON.parse(body) as { reason?: unknown };
    return typeof reason === 'string' ? printable(reason) : '';
  } catch {
    return '';
  }
}

async function openTcp(host: string, port: number, { signal, maxQueuedBytes }: TcpOptions): Promise<Transport> {
  const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port, noDelay: true, ...keepAlive });
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      socket.destroy();
      reject(abortError(signal));
    };
    const onError = (cause: Error): void => {
      signal.removeEventListener('abort', onAbort);
      reject(new BrontosigError('CONNECTION_FAILED', 'the node cannot be reached', { cause }));
    };
    signal.addEventListener('abort', onAbort);
    socket.once('error', onError);
    socket.once('connect', () => {
      signal.removeEventListener('abort', onAbort);
      socket.removeListener('error', onError);
      resolve(tcpTransport(socket, { maxQueuedBytes, patienceMs: READER_PATIENCE }));
    });
  });
}

/** Has the system find out that the other side is gone, also while nothing is sent. */
const keepAlive = { keepAlive: true, keepAliveInitialDelay: 30_000 };

/** Milliseconds after which a socket that the other side does not end is destroyed. */
const LINGER = 5_000;

/** Bytes of the longest chunk that Node reads at a time. */
const LONGEST_CHUNK = 65_536;

/** How much a transport over TCP holds for its reader, and for how long. */
export interface TcpLimits {
  /** The most bytes that wait for the reader; then the other side has to. */
  readonly maxQueuedBytes: number;
  /** Milliseconds that the other side waits for a reader that takes nothing. */
  readonly patienceMs: number;
}

/** Makes a transport of a connected socket. */
export function tcpTransport(socket: Socket, { maxQueuedBytes, patienceMs }: TcpLimits): Transport {
  let failure: BrontosigError | undefined;
  let by: 'local' | undefined;
  let linger: ReturnType<typeof setTimeout> | undefined;
  let patience: ReturnType<typeof setTimeout> | undefined;
  let writing!: WritableStreamDefaultController;
  // What a write waits for.
  let wake = (): void => undefined;
  const giveUpLater = (): void => {
    linger ??= setTimeout(() => socket.destroy(), LINGER);
  };
  const close = (): void => {
    if (socket.closed || by !== undefined) {
      return;
    }
    by = 'local';
    clearTimeout(patience);
    giveUpLater();
    socket.end();
    // What still arrives has no reader. Read it away, so that the end is seen.
    socket.removeAllListeners('data');
    socket.resume();
  };
  const fail = (error: BrontosigError): void => {
    failure ??= error;
    writing.error(failure);
    inbox.end(failure);
    wake();
  };
  const inbox = new Inbox({
    onTaken() {
      clearTimeout(patience);
      if (by === undefined) {
        flow();
      }
    },
    onCancel: close,
  });
  /** Reads on if there is room for what may come, and else waits for the reader. */
  const flow = (): void => {
    if (inbox.size + Inbox.cost(LONGEST_CHUNK) <= maxQueuedBytes) {
      socket.resume();
      return;
    }
    socket.pause();
    patience = setTimeout(() => {
      fail(new BrontosigError('QUEUE_FULL', `the reader took nothing of what had arrived for ${patienceMs} ms`));
      close();
    }, patienceMs);
  };
  socket.on('data', (data: Buffer) => {
    inbox.push(new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.length));
    if (inbox.size + Inbox.cost(LONGEST_CHUNK) > maxQueuedBytes) {
      flow();
    }
  });
  socket.on('end', () => {
    inbox.end();
    // A peer that sends no more may read no more either: what is still to be
    // written must not keep the socket for ever.
    giveUpLater();
  });
  socket.on('error', (cause) => {
    if (by !== undefined) {
      return; // It was ended before.
    }
    fail(new BrontosigError('CONNECTION_CLOSED', 'the TCP connection broke', { cause }));
  });
  socket.on('drain', () => {
    wake();
  });
  const writable = new WritableStream<Uint8Array>({
    start(controller) {
      writing = controller;
    },
    // Settles when the socket has the bytes and is below its high-water mark.
    async write(chunk) {
      // A copy: the socket may send the bytes later.
      if (!socket.write(new Uint8Array(chunk)) && !socket.destroyed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (socket.destroyed) {
        throw failure ?? new BrontosigError('CONNECTION_CLOSED', 'the TCP connection was closed');
      }
    },
    close,
    abort: close,
  });
  const closed = new Promise<TransportClose>((resolve) => {
    socket.once('close', () => {
      clearTimeout(linger);
      clearTimeout(patience);
      wake();
      inbox.end(failure);
      writing.error(failure ?? new BrontosigError('CONNECTION_CLOSED', 'the TCP connection was closed'));
      resolve({ by, reason: '', error: failure });
    });
  });
  return { readable: inbox.readable, writable, closed, close };
}

useNetwork({ WebSocket: NodeWebSocket as unknown as WebSocketConstructor, watchRefusal, openTcp });
