import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { Transport } from 'brontosig/brontide';
import { WebSocketServer, type WebSocket } from 'ws';

/** Two transports, each of which is the other end of the other. */
export function transportPair(): [Transport, Transport] {
  // Some room, as the buffers of a network have.
  const room = { highWaterMark: 16 };
  const there = new TransformStream<Uint8Array, Uint8Array>({}, room, room);
  const back = new TransformStream<Uint8Array, Uint8Array>({}, room, room);
  const end = (readable: ReadableStream<Uint8Array>, writable: WritableStream<Uint8Array>): Transport => ({
    readable,
    writable,
    close() {
      // Both fail if the stream is closed already or in use, which is the same.
      readable.cancel().catch(() => undefined);
      writable.abort().catch(() => undefined);
    },
  });
  return [end(back.readable, there.writable), end(there.readable, back.writable)];
}

/** A server of the test's own on loopback. */
export interface TestServer {
  readonly port: number;
  stop(): Promise<void>;
}

/** Listens for TCP connections while a test runs. */
export async function tcpServer(onSocket: (socket: Socket) => void, host = '127.0.0.1'): Promise<TestServer> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    onSocket(socket);
  });
  server.listen(0, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      await once(server, 'close');
    },
  };
}

/** Listens for WebSockets while a test runs. */
export async function webSocketServer(onSocket: (socket: WebSocket) => void): Promise<TestServer> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  server.on('connection', (socket) => {
    socket.on('error', () => {
      socket.terminate();
    });
    onSocket(socket);
  });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      for (const socket of server.clients) {
        socket.terminate();
      }
      server.close();
      await once(server, 'close');
    },
  };
}

/** Runs something while a server runs. */
export async function withServer(server: Promise<TestServer>, body: (port: number) => Promise<void>): Promise<void> {
  const running = await server;
  try {
    await body(running.port);
  } finally {
    await running.stop();
  }
}

/** A port on which nothing listens. */
export async function unusedPort(): Promise<number> {
  const server = await tcpServer(() => undefined);
  await server.stop();
  return server.port;
}
