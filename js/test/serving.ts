import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves HTTP on loopback while `body` runs with the origin. */
export async function serving(
  answer: (path: string, response: ServerResponse, request: IncomingMessage) => void,
  body: (origin: string) => Promise<void>,
): Promise<void> {
  const server = createServer((request, response) => {
    answer(request.url ?? '/', response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
}
