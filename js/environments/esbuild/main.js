import { outcome } from './outcome.js';
import { fromServiceWorker, fromWorker, show } from './show.js';

show('page', outcome());
show('worker', fromWorker(new Worker('worker.js', { type: 'module' })));
show('service-worker', fromServiceWorker(navigator.serviceWorker.register('service-worker.js', { type: 'module' })));
