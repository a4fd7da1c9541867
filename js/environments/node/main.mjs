import { outcome } from './outcome.js';

console.log(await outcome());
