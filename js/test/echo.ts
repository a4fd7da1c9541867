import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Machine } from 'brontosig/brontide';
import type { WebSocket } from 'ws';

/** The secret key of the responder. */
export const bob: Uint8Array = new Uint8Array(32).fill(2);

/** Answers every message with itself, as a responder with the key of `bob`. */
function echo(send: (bytes: Uint8Array) => void, onBytes: (take: (bytes: Uint8Array) => void) => void): void {
  const machine = new Machine({ role: 'responder', secretKey: bob });
  onBytes((bytes) => {
    const { send: act, messages } = machine.receive(bytes);
    if (act !== undefined) {
      send(act);
    }
    for (const message of messages) {
      send(machine.encrypt(message));
    }
  });
}

/** Echoes over TCP. */
export const tcpEcho = (socket: Socket): void => {
  echo(
    (bytes) => socket.write(bytes),
    (take) => socket.on('data', take),
  );
};

/** Echoes over WebSockets, in pieces that have nothing to do with messages. */
export const webSocketEcho = (socket: WebSocket): void => {
  echo(
    (bytes) => {
      // One byte at a time where it is short: a WebSocket message means nothing.
      const size = bytes.length < 200 ? 1 : 5000;
      for (let at = 0; at < bytes.length; at += size) {
        socket.send(bytes.subarray(at, at + size));
      }
    },
    (take) =>
      socket.on('message', (data: Buffer) => {
        assert.ok(data.length <= 16_384, 'a WebSocket message of more than 16 KiB');
        take(data);
      }),
  );
};
