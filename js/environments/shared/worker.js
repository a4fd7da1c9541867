import { outcome } from './outcome.js';

outcome().then((text) => self.postMessage(text));
