import { outcome } from './outcome.js';
import { fromWorker, show } from './show.js';

show('page', outcome());
show('worker', fromWorker(new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })));
