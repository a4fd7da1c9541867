// Prints the memory of the process and of the module over many messages and over
// many connections, and fails if it grows. `make bench-memory` runs it with
// --expose-gc.

import { createServer } from 'node:net';
import { setImmediate } from 'node:timers';
import { Duplex } from 'node:stream';

import { init } from 'brontosig';
import { accept, connect, publicKey } from 'brontosig/brontide';
import { header, row } from './measure.mjs';

const MESSAGES = 100_000;
const CONNECTIONS = 1_000;
/** What counts as flat: engines keep some of what they once had. */
const SLACK = 8e6;

let memory;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...args) => {
  const instance = await instantiate(...args);
  memory = instance.exports.mem;
  return instance;
};
await init();

const secretKey = new Uint8Array(32).fill(2);
const nodeId = publicKey(secretKey);
const server = createServer(async (socket) => {
  const transport = { ...Duplex.toWeb(socket), close: () => socket.end() };
  const connection = await accept(transport, { secretKey });
  for await (const message of connection) {
    await connection.send(message);
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const address = `tcp://127.0.0.1:${server.address().port}`;

async function settle() {
  for (let i = 0; i < 20; i++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function figures(name) {
  await settle();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const all = { module: memory.buffer.byteLength, heap: heapUsed, buffers: arrayBuffers };
  row(name, ...Object.values(all).map((bytes) => (bytes / 1e6).toFixed(1)));
  return all.module + all.heap + all.buffers;
}

async function messages(count) {
  const connection = await connect(address, { nodeId });
  const message = new Uint8Array(1000);
  const iterator = connection[Symbol.asyncIterator]();
  for (let i = 0; i < count; i++) {
    await connection.send(message);
    await iterator.next();
  }
  await connection.close();
}

async function connections(count) {
  for (let i = 0; i < count; i++) {
    const connection = await connect(address, { nodeId });
    await connection.close();
  }
}

header('MB of memory', 'module', 'JavaScript heap', 'buffers');
let grew = false;
for (const [work, warmUp, count, name] of [
  [messages, 5_000, MESSAGES, 'messages there and back'],
  [connections, 100, CONNECTIONS, 'connections opened and closed'],
]) {
  await work(warmUp);
  const before = await figures(`after ${warmUp} ${name}`);
  await work(count);
  const after = await figures(`after ${count} more`);
  grew ||= after > before + SLACK;
}
server.close();
if (grew) {
  console.error('memory has grown');
}
process.exit(grew ? 1 : 0);
