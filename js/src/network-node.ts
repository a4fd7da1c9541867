import type { ClientRequest, IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';
import { BrontosigError } from './errors.js';
import { abortError } from './limits.js';
import {
  useNetwork,
  type Transport,
  type TransportClose,
  type WebSocketConstructor,
  type WebSocketLike,
} from './transport.js';

/** Bytes of a refusal that are read. */
const MAX_REFUSAL = 4096;

/** Bytes of the longest WebSocket message that is taken. */
const MAX_PAYLOAD = 1 << 20;

/** The WebSocket of npm `ws`. Node's own is refused by Core Lightning's server. */
class NodeWebSocket extends WebSocket {
  constructor(url: string, protocols: string[] = []) {
    super(url, protocols, { perMessageDeflate: false, maxPayload: MAX_PAYLOAD });
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
    return typeof reason === 'string' ? reason : '';
  } catch {
    return '';
  }
}

async function openTcp(host: string, port: number, signal: AbortSignal): Promise<Transport> {
  const socket = connect({ host: host.replace(/^\[|\]$/g, ''), port, noDelay: true });
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
      resolve(tcpTransport(socket));
    });
  });
}

/** Milliseconds after which a socket that the other side does not end is destroyed. */
const LINGER = 5_000;

function tcpTransport(socket: Socket): Transport {
  let failure: BrontosigError | undefined;
  let reading: ReadableStreamDefaultController<Uint8Array>;
  let ended = false;
  let linger: ReturnType<typeof setTimeout> | undefined;
  let closing = false;
  const giveUpLater = (): void => {
    linger ??= setTimeout(() => socket.destroy(), LINGER);
  };
  const close = (): void => {
    if (socket.closed || closing) {
      return;
    }
    closing = true;
    giveUpLater();
    socket.end();
    // What still arrives has no reader. Read it away, so that the end is seen.
    socket.removeAllListeners('data');
    socket.resume();
  };
  const readable = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        reading = controller;
        socket.on('data', (data: Buffer) => {
          controller.enqueue(new Uint8Array(data));
          if ((controller.desiredSize ?? 0) <= 0) {
            socket.pause();
          }
        });
        socket.on('end', () => {
          ended = true;
          if (!closing) {
            controller.close();
          }
          // A peer that sends no more may read no more either: what is still to
          // be written must not keep the socket for ever.
          giveUpLater();
        });
      },
      pull() {
        socket.resume();
      },
      cancel: close,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 65_536 }),
  );
  const writable = new WritableStream<Uint8Array>({
    start(controller) {
      socket.on('error', (cause) => {
        failure ??= new BrontosigError('CONNECTION_CLOSED', 'the TCP connection broke', { cause });
        controller.error(failure);
        if (!ended && !closing) {
          reading.error(failure);
        }
      });
    },
    // Settles when the socket has handed the bytes to the system.
    write: async (chunk) =>
      new Promise((resolve, reject) => {
        socket.write(new Uint8Array(chunk), (error) => {
          if (error) {
            reject(new BrontosigError('CONNECTION_CLOSED', 'the TCP connection broke', { cause: error }));
          } else {
            resolve();
          }
        });
      }),
    close,
    abort: close,
  });
  const closed = new Promise<TransportClose>((resolve) => {
    socket.once('close', () => {
      clearTimeout(linger);
      resolve({ reason: '', error: failure });
    });
  });
  return { readable, writable, closed, close };
}

useNetwork({ WebSocket: NodeWebSocket as unknown as WebSocketConstructor, watchRefusal, openTcp });
