import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What the keeper is told: something that has begun to exist, or is gone. */
export interface Kept {
  readonly process?: number | undefined;
  readonly folder?: string;
  readonly done: boolean;
}

/** Lines of a program's output that are shown when a test fails. */
const LAST_LINES = 60;

let keeper: ChildProcess | undefined;

/** Makes sure that something ends with this process. */
function keep(kept: Kept): void {
  if (keeper === undefined) {
    // In a group of its own, so that what a terminal sends does not reach it.
    keeper = fork(fileURLToPath(new URL('keeper.js', import.meta.url)), { detached: true });
    keeper.unref();
    keeper.channel?.unref();
  }
  keeper.send(kept);
}

/** Makes a temporary folder. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'brontosig-interop-'));
  keep({ folder, done: false });
  return folder;
}

/** Removes a temporary folder. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  keep({ folder, done: true });
}

/** How a program ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A program that runs until it is stopped. */
export class Program {
  /** Settles when the program has ended. */
  readonly ended: Promise<Ended>;

  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #lines: string[] = [];
  readonly #waiting = new Set<(line: string | undefined) => void>();

  /** @param home - becomes the program's home folder, so that it leaves the user's alone. */
  constructor(name: string, file: string, args: readonly string[], home: string) {
    this.#name = name;
    this.#child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: home } });
    const id = this.#child.pid;
    keep({ process: id, done: false });
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.#lines.push(line);
        this.#lines.splice(0, this.#lines.length - LAST_LINES);
        this.#waiting.forEach((take) => {
          take(line);
        });
      });
    }
    this.ended = new Promise((resolve, reject) => {
      this.#child.once('error', (cause) => {
        reject(new Error(`${file} cannot be started`, { cause }));
      });
      this.#child.once('close', (code, signal) => {
        keep({ process: id, done: true });
        resolve({ code, signal });
        this.#waiting.forEach((take) => {
          take(undefined);
        });
      });
    });
    this.ended.catch(() => undefined);
  }

  /** Waits for a line of output that comes from now on, and throws if the program ends before. */
  async line(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const take = (line: string | undefined): void => {
        if (line === undefined) {
          reject(new Error(`${this.#name} ended before it printed ${String(pattern)}\n${this.log()}`));
        } else if (pattern.test(line)) {
          resolve(line);
        } else {
          return;
        }
        this.#waiting.delete(take);
      };
      this.#waiting.add(take);
    });
  }

  /** The last lines of output. */
  log(): string {
    return this.#lines.join('\n');
  }

  /** Sends a signal. */
  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Sends a signal and waits for the end. */
  async stop(signal: NodeJS.Signals): Promise<Ended> {
    this.signal(signal);
    return this.ended;
  }
}

/** Runs a Node program to its end. */
export async function runNode(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended & { readonly stdout: string; readonly stderr: string }> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  keep({ process: child.pid, done: false });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (text: string) => {
      texts[name] += text;
    });
  }
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null];
  keep({ process: child.pid, done: true });
  return { code, signal, ...texts };
}
