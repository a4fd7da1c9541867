import { usePlatform } from './load.js';
import * as node from './platform-node.js';

usePlatform(node);

export * from './index.js';
