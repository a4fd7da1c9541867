// Starts a program that connects to a port, and waits to be killed. The test of
// the keeper runs it.

import { makeFolder, Program } from './processes.js';

const [port = ''] = process.argv.slice(2);
const folder = makeFolder();
const idle = `require('node:net').connect(${port}, '127.0.0.1', () => console.log('up'))`;
await new Program('idle', process.execPath, ['-e', idle], folder).line(/up/);
console.log(folder);
