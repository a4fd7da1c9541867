import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { accept, publicKey, type Connection } from 'brontosig/brontide';
import type { Message, Peer, PeerOptions } from 'brontosig/lightning';
import { connectPeerWith } from '../../dist/connect-peer.js';
import { tcpTransport } from '../../dist/network-node.js';
import { systemTiming, type Timing } from '../../dist/timing.js';
import { transportPair } from './connections.js';

/** The secret key of the node. */
export const bob: Uint8Array = new Uint8Array(32).fill(2);

/** A limit for waits that should be short. */
export const limit = { timeoutMs: 10_000 };

/** An init with no features but one even one that is known. */
export const plainInit: Uint8Array = Uint8Array.of(0, 16, 0, 0, 0, 1, 0b01);

/** A peer and the node that it is connected with, whose side the test plays. */
export interface Meeting {
  readonly peer: Peer;
  readonly node: Connection;
  readonly ourInit: Uint8Array;
}

/** Connects to a node whose side the test plays message by message. */
export async function meet(
  options: PeerOptions = {},
  theirInit: Uint8Array = plainInit,
  timing: Timing = systemTiming,
): Promise<Meeting> {
  const [near, far] = transportPair();
  const met = accept(far, { secretKey: bob, ...limit }).then(async (node) => {
    const ourInit = await next(node);
    await node.send(theirInit);
    return { node, ourInit };
  });
  // If the peer refuses, that error is the one that counts.
  met.catch(() => undefined);
  const peer = await connectPeerWith(timing, near, { nodeId: publicKey(bob), ...limit, ...options });
  return { peer, ...(await met) };
}

/** Does the node's handshake on a socket that a server of the test's own accepted. */
export async function accepted(socket: Socket, secretKey: Uint8Array = bob): Promise<Connection> {
  const transport = tcpTransport(socket, { maxQueuedBytes: 1 << 24, patienceMs: 60_000 });
  return accept(transport, { secretKey, ...limit });
}

/** Serves one connection of a node: exchanges init and returns it. */
export async function welcome(connected: Promise<Connection>): Promise<Connection> {
  const node = await connected;
  await next(node);
  await node.send(plainInit);
  return node;
}

/** The next message that the peer sends. */
export async function next(node: Connection): Promise<Uint8Array> {
  const reader = node.readable.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  assert.ok(value, 'the connection has ended');
  return value;
}

/** The next message that the application of a peer gets. */
export async function take(messages: AsyncIterator<Message>): Promise<Message> {
  const result = await messages.next();
  assert.ok(result.done !== true, 'the messages have ended');
  return result.value;
}

/** The pong that a ping asks for. */
export function pongTo(ping: Uint8Array): Uint8Array {
  assert.deepEqual([...ping.subarray(0, 2)], [0, 18], 'no ping');
  const length = new DataView(ping.buffer, ping.byteOffset).getUint16(2);
  const pong = new Uint8Array(4 + length);
  pong.set([0, 19, length >> 8, length & 255]);
  return pong;
}

/** A message as an array of numbers. */
export const numbers = (message: Uint8Array): number[] => [...message];
