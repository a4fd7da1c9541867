import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { access, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { startDemoBridge, type DemoBridge } from './demo-bridge.js';
import { blocks, documents, root, sources, type Block } from './documents.js';

// Every block of code in a document or a doc comment runs, or is checked as far
// as it can be without the machine that it is for. One that is marked `no-run:`
// says why it is not.

const run = promisify(execFile);
const limit = { cwd: root, timeout: 120_000 };

/** Stands for what the examples connect to. */
let demo: DemoBridge & { stop(): Promise<void> };

before(async () => {
  demo = await startDemoBridge();
});

after(async () => {
  await demo.stop();
});

/** Calls something with a file of the given text, in a folder where the package is found by its name. */
async function withFile<T>(name: string, text: string, body: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(`${root}build/example-`);
  try {
    await writeFile(`${folder}/${name}`, text);
    return await body(`${folder}/${name}`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Puts the demo's bridge and peer in the place of those that an example names. */
function withDemo(code: string): string {
  const known = { nodeId: demo.nodeId, rune: demo.rune };
  const given = Object.entries(known).filter(
    ([name]) => new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`\\bconst ${name}\\b`).test(code),
  );
  const text = code.replaceAll('wss://bridge.example', demo.bridge).replaceAll('node.example:9735', demo.address);
  return given.map(([name, value]) => `const ${name} = ${JSON.stringify(value)};\n`).join('') + text;
}

/**
 * Runs JavaScript in a process of its own. Where a line says
 * `console.log(…); // x`, it must print x.
 */
async function runJavaScript(code: string): Promise<void> {
  const { stdout } = await withFile('example.mjs', withDemo(code), async (path) => run(process.execPath, [path], limit));
  const expected = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, output]) => output);
  if (expected.length > 0) {
    assert.deepEqual(stdout.trimEnd().split('\n'), expected);
  }
}

/** Starts a bridge and sees it become ready. */
async function tryBridge(args: readonly string[]): Promise<void> {
  const bridge = await startDemoBridge([...args, '--status-listen', '127.0.0.1:0']);
  await bridge.stop();
}

/** Checks a line of a shell. */
async function checkCommand(line: string): Promise<void> {
  const [program = '', ...args] = line.split(/\s+/);
  switch (program) {
    case 'make': {
      const makefile = await readFile(`${root}Makefile`, 'utf8');
      const targets = args.filter((arg) => !arg.includes('='));
      for (const target of targets) {
        assert.ok(makefile.includes(`\n${target}:`), `make has no target ${target}`);
      }
      return;
    }
    case 'node':
      await run(process.execPath, ['--check', args[0] ?? ''], limit);
      return;
    case 'npm':
      await checkNpm(args);
      return;
    case 'go':
      // Packages by path; `go doc` takes a path and prints what is there.
      assert.ok(['doc', 'test'].includes(args[0] ?? ''), `${line}: not known here`);
      await run('go', ['list', ...args.filter((arg) => arg.startsWith('./'))], limit);
      return;
    case 'build/brontosig-bridge':
      // A port that is free, in place of the one that the example names.
      await tryBridge(line.replace(/ --listen \S+/, '').replaceAll('02…', demo.nodeId).split(/\s+/).slice(1));
      return;
    default:
      assert.fail(`${line}: not known here`);
  }
}

/** Checks that npm has such a command, and that the repository has what it names. */
async function checkNpm([command = '', ...args]: readonly string[]): Promise<void> {
  const { name, dependencies, devDependencies } = JSON.parse(await readFile(`${root}package.json`, 'utf8')) as {
    name: string;
    dependencies: object;
    devDependencies: object;
  };
  assert.ok(['install', 'ci', 'pack', 'publish'].includes(command), `npm ${command}: not known here`);
  for (const arg of command === 'install' ? args : []) {
    const file = /^\.*\/(.*\/)?(.*)-[^-]*\.tgz$/.exec(arg)?.[2];
    assert.ok((file ?? arg) in { [name]: 0, ...dependencies, ...devDependencies }, `${arg}: not known here`);
  }
}

const checks: Readonly<Record<string, (code: string) => Promise<void>>> = {
  js: runJavaScript,
  // A program that serves does not end, so it is only compiled, and looked at.
  go: async (code) => {
    await withFile('main.go', code, async (path) => run('go', ['vet', path], limit));
  },
  sh: async (code) => {
    const lines = code.replaceAll('\\\n', ' ').split('\n');
    for (const line of lines.map((text) => text.replace(/(^|\s+)#.*/, '').trim()).filter(Boolean)) {
      await checkCommand(line);
    }
  },
  toml: async (code) => withFile('bridge.toml', code, async (path) => tryBridge(['--config', path])),
  json: async (code) => {
    JSON.parse(code);
    return Promise.resolve();
  },
  // A picture, or what a program prints.
  '': async () => Promise.resolve(),
};

/** Puts what a block continues before it. */
function joined(found: readonly Block[]): Block[] {
  let last = '';
  return found.map((block) => {
    last = block.mark === 'continues' ? last + block.code : block.code;
    return { ...block, code: last };
  });
}

const examples: Block[] = [];
for (const [path, text] of await documents()) {
  examples.push(...joined(blocks(path, text)));
}
for (const [path, text] of await sources()) {
  examples.push(...blocks(path, text.replaceAll(/^ *\* ?/gm, '')));
}

void test('there are examples', async () => {
  await access(`${root}docs`);
  for (const language of ['go', 'js', 'sh', 'toml']) {
    assert.ok(examples.some((example) => example.language === language), language);
  }
  assert.ok(examples.some(({ name }) => name.startsWith('js/src/')));
});

for (const { name, language, mark, code } of examples) {
  void test(name, async () => {
    if (mark.startsWith('no-run')) {
      assert.match(mark, /^no-run: \S.{9}/, 'says why it does not run');
      return;
    }
    assert.ok(mark === '' || mark === 'continues', `${mark}: an unknown mark`);
    const check = checks[language];
    assert.ok(check, `${language}: nothing here runs that`);
    await check(code);
  });
}
