import { Duplex } from 'node:stream';
import type { Transport } from 'brontosig/brontide';
import { createWebSocketStream, WebSocket } from 'ws';

/** Makes a transport of a connection that a server of the test's own accepted. */
export function openTransport(connection: Duplex | WebSocket): Transport {
  const duplex = connection instanceof WebSocket ? createWebSocketStream(connection) : connection;
  duplex.on('error', () => duplex.destroy());
  const { readable, writable } = Duplex.toWeb(duplex);
  return {
    readable: readable as ReadableStream<Uint8Array>,
    writable: writable as WritableStream<Uint8Array>,
    close() {
      duplex.end();
    },
  };
}
