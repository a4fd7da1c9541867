import { outcome } from './outcome.js';

self.addEventListener('message', (event) => {
  event.waitUntil(outcome().then((text) => event.source.postMessage(text)));
});
