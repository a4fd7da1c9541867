import { report } from './inside.js';
import { musig2Suite } from './suite-musig2.js';

// Installed when the suite has run: a service worker that is idle is stopped.
globalThis.addEventListener('install', (event) => {
  (event as Event & { waitUntil(done: Promise<void>): void }).waitUntil(report('service-worker', [musig2Suite]));
});
