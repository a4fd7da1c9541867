import assert from 'node:assert/strict';
import { access, readFile } from 'node:fs/promises';
import { posix } from 'node:path';
import { test } from 'node:test';
import { documents, root, sources } from './documents.js';

/** The names of the headings of a document, as GitHub makes them. */
function anchors(text: string): Set<string> {
  const headings = text.replaceAll(/^ *```[^]*?^ *```$/gm, '').matchAll(/^#+ (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'),
    ),
  );
}

void test('links in the documents lead somewhere', async () => {
  const texts = await documents();
  let links = 0;
  for (const [path, text] of texts) {
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) {
        continue;
      }
      links++;
      const [file = '', anchor] = target.split('#');
      const place = file === '' ? path : posix.join(posix.dirname(path), file);
      await access(root + place);
      if (anchor !== undefined) {
        assert.ok(anchors(texts.get(place) ?? '').has(anchor), `${path}: ${target}`);
      }
    }
  }
  assert.ok(links > 10);
});

void test('docs/errors.md has every code once, and no other', async () => {
  const files = await sources();
  const codes = ['generated.ts', 'errors.ts'].flatMap((file) =>
    [...(files.get(`js/src/${file}`) ?? '').matchAll(/^ {2}\| '([A-Z_]+)'/gm)].map(([, code]) => code),
  );
  assert.ok(codes.includes('INTERNAL') && codes.includes('DISPOSED') && codes.includes('INVALID_RESPONSE'));
  const text = (await documents()).get('docs/errors.md') ?? '';
  const cells = [...text.matchAll(/^\| (`[^|]*) \|/gm)].map(([, cell = '']) => cell);
  const documented = cells.flatMap((cell) => [...cell.matchAll(/`(.*?)`/g)].map(([, code]) => code));
  assert.deepEqual(documented.sort(), codes.sort());

  const [, contributions = ''] = /^export type Contribution = (.*);$/m.exec(files.get('js/src/generated.ts') ?? '') ?? [];
  assert.match(contributions, /'psig'/);
  for (const contribution of contributions.replaceAll("'", '').split(' | ')) {
    assert.ok(text.includes(`(\`${contribution}\`)`), contribution);
  }
});

void test('CONTRIBUTING.md says of every dependency why it is one, and make help of every target what it does', async () => {
  const read = async (path: string): Promise<string> => readFile(root + path, 'utf8');
  const { dependencies, devDependencies } = JSON.parse(await read('package.json')) as Record<string, object>;
  const required = [...(await read('go.mod')).matchAll(/^\t(\S+) v\S+$/gm)].map(([, path = '']) => path);
  const text = await read('CONTRIBUTING.md');
  const names = [...Object.keys({ ...dependencies, ...devDependencies }), ...required];
  assert.ok(names.includes('ws') && names.includes('golang.org/x/crypto'));
  for (const name of names) {
    assert.ok(text.includes(`\`${name.replace(/^@types\/.*/, '@types/*')}\``), name);
  }

  const makefile = await read('Makefile');
  const targets = [...makefile.matchAll(/^\.PHONY: (.*)$/gm)].flatMap(([, line = '']) => line.split(' '));
  assert.ok(targets.includes('check'));
  for (const target of targets) {
    assert.match(makefile, new RegExp(`^${target}:.* ## [A-Z]`, 'm'));
  }
});
