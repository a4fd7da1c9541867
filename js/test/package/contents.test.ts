import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = new URL('../../../', import.meta.url);
const tarball = fileURLToPath(new URL('build/brontosig.tgz', root));

async function run(command: string, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await promisify(execFile)(command, args, { cwd: root, timeout: 120_000, maxBuffer: 1 << 24 });
  return stdout + stderr;
}

async function json(path: string): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(new URL(path, root), 'utf8')) as Record<string, unknown>;
}

/** What comes of the sources, and what npm wants. */
async function expected(): Promise<string[]> {
  const names = (await readdir(new URL('js/src/', root))).filter((name) => !name.endsWith('.d.ts'));
  assert.ok(names.includes('musig2.ts'));
  const compiled = names.flatMap((name) => ['.js', '.js.map', '.d.ts'].map((end) => name.replace(/\.ts$/, end)));
  const dist = [...compiled, 'go-runtime.js', 'brontosig.wasm'];
  return ['package.json', 'README.md', 'LICENSE', ...dist.map((name) => `dist/${name}`)].sort();
}

test('the tarball holds the modules, their types and maps, the wasm module, README and LICENSE, and nothing else', async () => {
  const lines = (await run('tar', '-tvzf', tarball)).trimEnd().split('\n');
  assert.deepEqual(lines.map((line) => line.replace(/^.* package\//, '')).sort(), await expected());
  for (const line of lines) {
    assert.match(line, /^-rw-r--r-- /, 'a file that is not just a file');
  }
});

test('every source map carries the source that it names', async () => {
  const maps = (await readdir(new URL('dist/', root))).filter((name) => name.endsWith('.map'));
  assert.ok(maps.length > 0);
  for (const name of maps) {
    const { sources, sourcesContent } = await json(`dist/${name}`) as { sources: string[]; sourcesContent: string[] };
    for (const [i, source] of sources.entries()) {
      assert.equal(sourcesContent[i], await readFile(new URL(source, new URL('dist/', root)), 'utf8'), name);
    }
  }
});

test('publint finds nothing', async () => {
  assert.match(await run('npx', 'publint', '--strict', tarball), /All good!/);
});

test('Are The Types Wrong finds nothing', async () => {
  // The profile node16 leaves out Node 10, which knows no exports. That
  // require() meets ES modules is no fault: every Node that `engines` allows
  // can load them, and an environment test does. The wasm module has no types.
  const args = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--exclude-entrypoints', './brontosig.wasm'];
  await run('npx', 'attw', tarball, ...args);
});

test('npm would publish it', async () => {
  // A dry run wants no registry, so it gets none.
  const nowhere = ['--registry', 'http://127.0.0.1:9/', '--fetch-retries', '0'];
  const said = await run('npm', 'publish', '--dry-run', ...nowhere, tarball);
  assert.match(said, /^\+ brontosig@/m);
  assert.doesNotMatch(said, /corrected|npm error/);
});

test('the version stands in package.json, and everything else agrees', async () => {
  const { version } = await json('package.json');
  assert.match(String(version), /^\d+\.\d+\.\d+$/);
  const lock = await json('package-lock.json') as { version: string; packages: Record<string, { version?: string }> };
  assert.deepEqual([lock.version, lock.packages['']?.version], [version, version]);
  const released = /^## \[(\d.*?)\]/m.exec(await readFile(new URL('CHANGELOG.md', root), 'utf8'));
  if (released !== null) {
    assert.equal(released[1], version, 'the newest version of the changelog');
  }
});

test('what the document shows for bundlers is what the environments have', async () => {
  const environments = new URL('js/environments/', root);
  const names = (await readdir(environments, { recursive: true })).filter((name) => /\.(?:js|mjs|json)$/.test(name) && !name.endsWith('package-lock.json'));
  const texts = await Promise.all(names.map(async (name) => readFile(new URL(name, environments), 'utf8')));
  // What was tried by hand, and what is for others.
  const others = ['export default { optimizeDeps: { exclude: [\'brontosig\'] } };', "await init({ wasm: '/assets/brontosig.wasm' });"];
  const document = await readFile(new URL('docs/bundlers.md', root), 'utf8');
  const lines = [...document.matchAll(/^```.*\n([^]*?)```$/gm)].flatMap(([, block = '']) => block.trimEnd().split('\n'));
  assert.ok(lines.length > 8);
  const unknown = lines.filter((line) => !texts.some((text) => text.includes(line)));
  assert.deepEqual(unknown, others);
});
