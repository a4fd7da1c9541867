// All benchmarks from JavaScript. `make bench` runs them.

import { init } from 'brontosig';

import { boundary } from './boundary.mjs';
import { brontide } from './brontide.mjs';
import { machine } from './measure.mjs';
import { musig2 } from './musig2.mjs';
import { readModule, size } from './size.mjs';
import { start } from './start.mjs';

console.log(machine());
await init();
musig2();
boundary();
brontide();
await start();
size(readModule('dist/brontosig.wasm'), readModule('build/named.wasm'));
process.exit(0);
