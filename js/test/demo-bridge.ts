import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../build/brontosig-bridge', import.meta.url));

/** A running bridge with its embedded peer. */
export interface DemoBridge {
  /** Where the bridge listens, `ws://…`. */
  readonly bridge: string;
  /** The public key of the peer, in hexadecimal. */
  readonly nodeId: string;
  /** Where the peer listens, host:port. */
  readonly address: string;
  /** What allows commando calls. */
  readonly rune: string;
  /** The process, for tests that kill it. */
  readonly child: ChildProcess;
}

/** Starts a bridge with its embedded peer and perhaps other arguments. */
export async function startDemoBridge(args: readonly string[] = []): Promise<DemoBridge & { stop(): Promise<void> }> {
  const child = spawn(program, ['--listen', '127.0.0.1:0', '--demo', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
  const ended = once(child, 'close');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [unknown];
    assert.equal(typeof line, 'string', 'the bridge ended at once');
    const { bridge, demoPeer } = JSON.parse(line as string) as { bridge: string; demoPeer: Omit<DemoBridge, 'bridge' | 'child'> };
    return { bridge, ...demoPeer, child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs something beside a bridge with its embedded peer, which end with it. */
export async function withDemoBridge(body: (demo: DemoBridge) => Promise<void>): Promise<void> {
  const demo = await startDemoBridge();
  try {
    await body(demo);
  } finally {
    await demo.stop();
  }
}
