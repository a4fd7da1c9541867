import './network-node.js';

export * from './brontide.js';
