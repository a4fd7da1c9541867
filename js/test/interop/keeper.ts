// The process that ends what a test has started if the test cannot: whatever
// kills the test, also SIGKILL, closes the channel between the two.

import { rmSync } from 'node:fs';
import type { Kept } from './processes.js';

const processes = new Set<number>();
const folders = new Set<string>();

process.on('message', ({ process: id, folder, done }: Kept) => {
  if (id !== undefined) {
    processes[done ? 'delete' : 'add'](id);
  }
  if (folder !== undefined) {
    folders[done ? 'delete' : 'add'](folder);
  }
});

process.on('disconnect', () => {
  for (const id of processes) {
    try {
      process.kill(id, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
  for (const folder of folders) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
});
