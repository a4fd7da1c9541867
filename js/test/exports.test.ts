import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { init } from 'brontosig';
import ts from 'typescript';

import { captureInstance } from './raw.js';

/** What the toolchain itself exports from every program. */
const TOOLCHAIN = ['getsp', 'resume', 'run'];

/** Reads the members of the generated interface and their numbers of parameters. */
function declaredExports(): Record<string, number> {
  const file = new URL('../../js/src/generated.ts', import.meta.url);
  const source = ts.createSourceFile('', readFileSync(file, 'utf8'), ts.ScriptTarget.Latest);
  const declared: Record<string, number> = {};
  ts.forEachChild(source, (node) => {
    if (!ts.isInterfaceDeclaration(node) || node.name.text !== 'Exports') {
      return;
    }
    for (const member of node.members) {
      assert.ok(ts.isPropertySignature(member) && ts.isIdentifier(member.name));
      assert.ok(member.type !== undefined && ts.isFunctionTypeNode(member.type));
      declared[member.name.text] = member.type.parameters.length;
    }
  });
  return declared;
}

test('the module exports what the TypeScript interface declares', async () => {
  const instance = await captureInstance(init);
  const exported: Record<string, number> = {};
  for (const [name, value] of Object.entries(instance.exports)) {
    if (typeof value === 'function' && !TOOLCHAIN.includes(name)) {
      exported[name] = value.length;
    }
  }
  const declared = declaredExports();
  assert.ok(Object.keys(declared).length > 0);
  assert.deepEqual(exported, declared);
});
