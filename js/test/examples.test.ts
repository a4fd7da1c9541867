import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const root = new URL('../../', import.meta.url);
const run = promisify(execFile);

interface Example {
  readonly name: string;
  readonly code: string;
}

/** Finds the blocks of JavaScript in a text that runs as it stands. */
function blocks(name: string, text: string): Example[] {
  return [...text.matchAll(/```js\n(.*?)```/gs)].map(([, code = ''], i) => ({ name: `${name}, block ${i + 1}`, code }));
}

async function examples(): Promise<Example[]> {
  const found = blocks('README.md', await readFile(new URL('README.md', root), 'utf8'));
  const sources = new URL('js/src/', root);
  for (const file of (await readdir(sources)).sort()) {
    const text = await readFile(new URL(file, sources), 'utf8');
    found.push(...blocks(file, text.replaceAll(/^ *\* ?/gm, '')));
  }
  return found;
}

/**
 * Runs a block in a process of its own, inside the repository so that the
 * package is found by its name. Where a line says `console.log(…); // x`, it must
 * print x.
 */
async function check({ code }: Example): Promise<void> {
  const folder = await mkdtemp(fileURLToPath(new URL('build/example-', root)));
  try {
    const file = `${folder}/example.mjs`;
    await writeFile(file, code);
    const { stdout } = await run(process.execPath, [file], { timeout: 60_000 });
    const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, output]) => output);
    if (expected.length > 0) {
      assert.deepEqual(stdout.trimEnd().split('\n'), expected);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

const all = await examples();

void test('there are examples', () => {
  assert.ok(all.some(({ name }) => name.startsWith('README')));
  assert.ok(all.length >= 5);
});

for (const example of all) {
  void test(example.name, async () => check(example));
}
