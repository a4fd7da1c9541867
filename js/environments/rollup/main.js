import { outcome } from './outcome.js';
import { show } from './show.js';

show('page', outcome());
