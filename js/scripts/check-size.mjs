// Fails if the module has outgrown budget.json by more than a 50th, or holds
// what it was built without. Whoever makes it larger on purpose changes the
// budget with it.

import { readFileSync } from 'node:fs';

import { readModule, sizes } from '../bench/size.mjs';

const SLACK = 1.02;

const wasm = readModule('dist/brontosig.wasm');
const budget = JSON.parse(readFileSync(new URL('budget.json', import.meta.url)));
const actual = sizes(wasm);
for (const [form, bytes] of Object.entries(budget)) {
  console.log(`${form}: ${actual[form]} bytes, ${bytes} in the budget`);
  if (!(actual[form] <= bytes * SLACK)) {
    process.exitCode = 1;
    console.error(`the module has outgrown its budget: see js/scripts/budget.json`);
  }
}

// The text is that of a panic in wasm/slim/secp256k1.go.txt. It is linked only
// if something that an export reaches reads the table.
if (wasm.includes('built without the table of the base point')) {
  process.exitCode = 1;
  console.error('an export reaches the table that was left out: see wasm/slim');
}
