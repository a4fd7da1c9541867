import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { unusedPort } from './connections.js';

const root = new URL('../../', import.meta.url);
const runner = fileURLToPath(new URL('examples/run-with-bridge.mjs', root));
const demo = fileURLToPath(new URL('examples/node/demo.mjs', root));

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs a program under Node to its end.
 *
 * @param onLine - gets each line of its output, with a function that signals it.
 */
async function run(
  args: readonly string[],
  onLine: (line: string, kill: (signal: NodeJS.Signals) => void) => void = () => undefined,
): Promise<Ended> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  createInterface({ input: child.stdout }).on('line', (line) => {
    stdout += `${line}\n`;
    onLine(line, (signal) => child.kill(signal));
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** Runs a script beside a bridge; its own output starts with where the bridge is. */
async function runBeside(
  script: string,
  onLine?: (line: string, kill: (signal: NodeJS.Signals) => void) => void,
): Promise<Ended> {
  const ended = await run([runner, process.execPath, '-e', `console.log(process.env.BRONTOSIG_BRIDGE);${script}`], onLine);
  await assertGone(/^ws:.*$/m.exec(ended.stdout)?.[0] ?? '');
  return ended;
}

/** Makes sure that nothing listens where the bridge was. */
async function assertGone(bridge: string): Promise<void> {
  const { hostname, port } = new URL(bridge);
  const socket = connect(Number(port), hostname);
  await assert.rejects(once(socket, 'connect'), { code: 'ECONNREFUSED' });
}

test('the demo co-signs and reaches the peer through the bridge', async () => {
  const { code, stdout, stderr } = await run([runner, process.execPath, demo]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout.match(/^ {2}signer \d +0[23][0-9a-f]{64}$/gm)?.length, 3);
  assert.equal(stdout.match(/^ {4}nonce +[0-9a-f]{132}$/gm)?.length, 3);
  assert.match(stdout, /^ {2}aggregate key +[0-9a-f]{64}$/m);
  assert.match(stdout, /^ {2}signature +[0-9a-f]{128}$/m);
  const [, node] = /^Lightning: (0[23][0-9a-f]{64})@/m.exec(stdout) ?? [];
  const [, peer] = /^ {2}peer +([0-9a-f]{66})$/m.exec(stdout) ?? [];
  assert.equal(peer, node);
  assert.match(stdout, /^ {2}features +02$/m);
  assert.match(stdout, /^ {2}round trip +\d+\.\d\d ms\ndone$/m);
});

test('the demo fails where there is no bridge', async () => {
  const node = `02${'0'.repeat(63)}1@127.0.0.1:9735`;
  const { code, stdout, stderr } = await run([demo, `ws://127.0.0.1:${await unusedPort()}`, node]);
  assert.equal(code, 1);
  assert.match(stderr, /CONNECTION_FAILED/);
  assert.doesNotMatch(stdout, /done/);
});

test('the demo says what it needs', async () => {
  const { code, stderr } = await run([demo]);
  assert.equal(code, 2);
  assert.match(stderr, /usage: .*BRIDGE NODE/);
});

test('the runner passes the exit code on and stops the bridge', async () => {
  for (const code of [0, 7]) {
    assert.equal((await runBeside(`process.exitCode = ${code}`)).code, code);
  }
});

test('the runner passes signals on and stops the bridge', async () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { code, stderr } = await runBeside('setInterval(() => {}, 1000)', (_, kill) => {
      kill(signal);
    });
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`was ended by ${signal}`));
  }
});

test('the runner stops the bridge if the program cannot be run', async () => {
  const { code, stderr } = await run([runner, '/no/such/program']);
  assert.equal(code, 1);
  assert.match(stderr, /\/no\/such\/program cannot be run/);
});
