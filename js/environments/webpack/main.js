import { outcome } from './outcome.js';
import { fromServiceWorker, fromWorker, show } from './show.js';

show('page', outcome());
show('worker', fromWorker(new Worker(new URL('./worker.js', import.meta.url), { type: 'module' })));
show('service-worker', fromServiceWorker(navigator.serviceWorker.register(new URL('./service-worker.js', import.meta.url))));
