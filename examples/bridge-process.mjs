import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../build/brontosig-bridge', import.meta.url));

/**
 * Starts the built bridge with its embedded Lightning peer, on a free port.
 *
 * @param args - more arguments for the bridge.
 * @returns where they are, and functions to wait for the bridge and to stop it.
 */
export async function startBridge(args = []) {
  const child = spawn(program, ['--listen', '127.0.0.1:0', '--demo', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Its log is shown only if it fails: a healthy demo has nothing to say there.
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => {
    log += text;
  });
  const ended = new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new Error(`${program} cannot be started; \`make demo\` builds it`, { cause })),
    );
    child.once('close', (code, signal) => resolve({ code, signal, log }));
  });
  // Whoever waits for it hears of the failure; if nobody does, it is no crash.
  ended.catch(() => {});

  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([once(lines, 'line').then(([text]) => text), ended]);
  if (typeof line !== 'string') {
    throw new Error(`the bridge ended with ${line.signal ?? line.code}:\n${line.log}`);
  }
  const { bridge, demoPeer } = JSON.parse(line);
  return {
    bridge,
    node: `${demoPeer.nodeId}@${demoPeer.address}`,
    rune: demoPeer.rune,
    ended,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
