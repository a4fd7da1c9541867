// A process that waits for one TCP connection, does the handshake, and sends
// messages as fast as the connection takes them. Its memory is its own, so that
// a test can measure that of the reader.

import { createServer, type AddressInfo } from 'node:net';
import { init } from 'brontosig';
import { Machine } from 'brontosig/brontide';
import { bob } from './echo.js';

const count = Number(process.argv[2]);

await init();
const server = createServer((socket) => {
  server.close();
  socket.on('error', () => socket.destroy());
  const machine = new Machine({ role: 'responder', secretKey: bob });
  let sent = 0;
  const more = (): void => {
    while (sent < count) {
      const message = new Uint8Array(65_535);
      new DataView(message.buffer).setUint32(0, sent++);
      if (!socket.write(machine.encrypt(message))) {
        socket.once('drain', more);
        return;
      }
    }
    socket.end();
  };
  socket.on('data', (data) => {
    const { send } = machine.receive(data);
    if (send !== undefined) {
      socket.write(send);
    } else if (machine.state === 'ready') {
      more();
    }
  });
  // The test asks how far it has come.
  process.on('message', () => process.send?.(socket.bytesWritten));
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
