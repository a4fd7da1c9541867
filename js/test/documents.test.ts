import assert from 'node:assert/strict';
import { access } from 'node:fs/promises';
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
});
