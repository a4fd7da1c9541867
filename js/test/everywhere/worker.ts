import { report } from './inside.js';
import { brontideSuite } from './suite-brontide.js';
import { musig2Suite } from './suite-musig2.js';

// A page and a module worker load this alike.
void report('document' in globalThis ? 'page' : 'worker', [musig2Suite, brontideSuite]);
