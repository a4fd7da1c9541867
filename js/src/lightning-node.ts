import './network-node.js';

export * from './lightning.js';
