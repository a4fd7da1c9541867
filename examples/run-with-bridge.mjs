// Runs a program beside a bridge with its embedded Lightning peer:
//
//   node examples/run-with-bridge.mjs PROGRAM [ARGUMENT...]
//
// The program finds them in BRONTOSIG_BRIDGE and BRONTOSIG_NODE, and in
// BRONTOSIG_RUNE what allows commando calls. Its exit code is this one's. Whatever
// happens, nothing that was started is left behind.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { startBridge } from './bridge-process.mjs';

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error('usage: node examples/run-with-bridge.mjs PROGRAM [ARGUMENT...]');
  process.exit(2);
}

// A signal that comes before the program runs is for it all the same.
let child;
let early;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    early = signal;
    child?.kill(signal);
  });
}

const bridge = await startBridge();
// Without the bridge, the program would wait in vain.
const bridgeEnded = bridge.ended.then(({ log }) => {
  child?.kill('SIGTERM');
  return log;
});
try {
  child = spawn(command, args, {
    stdio: 'inherit',
    env: { ...process.env, BRONTOSIG_BRIDGE: bridge.bridge, BRONTOSIG_NODE: bridge.node, BRONTOSIG_RUNE: bridge.rune },
  });
  if (early) {
    child.kill(early);
  }
  const [code, signal] = await once(child, 'close');
  if (signal !== null) {
    console.error(`${command} was ended by ${signal}`);
  }
  process.exitCode = code ?? 1;
} catch (error) {
  console.error(`${command} cannot be run: ${error.message}`);
  process.exitCode = 1;
} finally {
  await bridge.stop();
}
if (process.exitCode !== 0) {
  console.error(`the bridge's log:\n${await bridgeEnded}`);
}
