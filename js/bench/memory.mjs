// Prints the memory of the process and of the module before and after many
// sessions, disposed or left to the collector. `make bench-memory` runs it with
// --expose-gc.

import { setImmediate } from 'node:timers';

import { init } from 'brontosig';
import { Context, publicKey } from 'brontosig/musig2';

const COUNT = 10_000;

// The module's memory is the only one of this process.
let memory;
const instantiate = WebAssembly.instantiate;
WebAssembly.instantiate = async (...args) => {
  const instance = await instantiate(...args);
  memory = instance.exports.mem;
  return instance;
};
await init();

const keys = [1, 2].map((n) => new Uint8Array(32).fill(n));
const publicKeys = keys.map(publicKey);
const contexts = keys.map((secretKey) => new Context({ publicKeys, sort: false, secretKey }));
const message = new Uint8Array(32);

function session(dispose) {
  const [one, two] = contexts.map((context) => context.newSession({ message }));
  one.addNonce(1, two.publicNonce);
  two.addNonce(0, one.publicNonce);
  one.addPartialSignature(1, two.sign());
  one.sign();
  one.finish();
  if (dispose) {
    one.dispose();
    two.dispose();
  }
}

/** Lets the finalizers run that a collection has made due. */
async function settle() {
  for (let i = 0; i < 10; i++) {
    globalThis.gc();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

async function row(name) {
  await settle();
  const megabytes = (n) => (n / 1e6).toFixed(1);
  const { rss, heapUsed } = process.memoryUsage();
  console.log(`| ${[name, megabytes(memory.buffer.byteLength), megabytes(heapUsed), megabytes(rss)].join(' | ')} |`);
}

async function run(count, dispose, collectEvery = Infinity) {
  for (let i = 0; i < count; i++) {
    session(dispose);
    if (i % collectEvery === collectEvery - 1) {
      await settle();
    }
    if (i % 100 === 99) {
      // As in an application that does something else in between.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

console.log('\n| MB of memory | module | JavaScript heap | process |\n| --- | --- | --- | --- |');
await run(200, true);
await row('after 200 sessions');
await run(COUNT, true);
await row(`after ${COUNT} more, disposed`);
await run(COUNT, false, 500);
await row(`after ${COUNT} more, left to a collector that runs every 500`);
await run(COUNT, false, 500);
await row('and again');
await run(COUNT, false);
await row(`after ${COUNT} more, left to the collector as it runs by itself`);
process.exit(0);
