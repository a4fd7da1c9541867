import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serving } from '../serving.js';

const root = new URL('../../../', import.meta.url);
const environments = fileURLToPath(new URL('js/environments/', root));
/** Milliseconds that a command may take. */
const LIMIT = 300_000;

const env = { ...process.env, NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1' };

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.wasm': 'application/wasm',
};

/** A project outside of the repository that has installed the packed package. */
export class Project {
  /** Its place. */
  readonly folder: string;
  /** How long installing took, in milliseconds. */
  readonly installMs: number;

  private constructor(folder: string, installMs: number) {
    this.folder = folder;
    this.installMs = installMs;
  }

  /** Copies an environment, installs what its lock file says, and removes it all when `body` has run. */
  static async with(name: string, body: (project: Project) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), `brontosig-${name}-`));
    try {
      await cp(join(environments, 'shared'), folder, { recursive: true });
      await cp(join(environments, name), folder, { recursive: true });
      await cp(fileURLToPath(new URL('build/brontosig.tgz', root)), join(folder, 'brontosig.tgz'));
      const started = Date.now();
      await run(folder, 'npm', 'ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error');
      await body(new Project(folder, Date.now() - started));
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Runs a command in the project and returns what it prints. */
  async run(command: string, ...args: string[]): Promise<string> {
    return run(this.folder, command, ...args);
  }

  /** Runs a script of the project that serves, until `body` has run with the URL that it prints. */
  async serve(script: string, body: (url: string) => Promise<void>): Promise<void> {
    // A process group, so that the server behind npm ends too.
    const server = spawn('npm', ['run', script], {
      cwd: this.folder, env, detached: true, stdio: ['ignore', 'pipe', 'inherit'], timeout: LIMIT,
    });
    const ended = once(server, 'close');
    try {
      let url: string | undefined;
      for await (const line of createInterface({ input: server.stdout })) {
        url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
        if (url !== undefined) {
          break;
        }
      }
      if (url === undefined) {
        throw new Error(`npm run ${script} ended at once`);
      }
      server.stdout.resume();
      await body(url);
    } finally {
      if (server.exitCode === null && server.pid !== undefined) {
        process.kill(-server.pid);
      }
      await ended;
    }
  }

  /** Serves a folder of the project as a careful host does, while `body` runs with the origin. */
  async served(folder: string, body: (origin: string) => Promise<void>): Promise<void> {
    await serving((path, response) => {
      const file = join(this.folder, folder, path === '/' ? 'index.html' : path);
      readFile(file).then(
        (content) => response.writeHead(200, {
          'content-security-policy': "script-src 'self' 'wasm-unsafe-eval'",
          'content-type': types[extname(file)] ?? 'application/octet-stream',
        }).end(content),
        () => response.writeHead(404).end(),
      );
    }, body);
  }

  /** The names of the scripts in a folder that hold code for Node: an import of its modules, or npm `ws`. */
  async nodeCode(folder: string): Promise<string[]> {
    const names = (await readdir(join(this.folder, folder), { recursive: true })).filter((name) => name.endsWith('.js')).sort();
    const texts = await Promise.all(names.map(async (name) => readFile(join(this.folder, folder, name), 'utf8')));
    return names.filter((_, i) => /\b(?:from|import|require)\s*\(?\s*["'](?:node:|ws["'])|Sec-WebSocket-Extensions/.test(texts[i]!));
  }
}

async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  try {
    return (await promisify(execFile)(command, args, { cwd, env, maxBuffer: 1 << 24, timeout: LIMIT })).stdout;
  } catch (cause) {
    const { stdout = '', stderr = '' } = cause as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`, { cause });
  }
}
