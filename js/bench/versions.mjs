// The versions of what is compared, as the lock files have them.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url)));

/** An npm package with its version. */
export const npm = (name) => `${name} ${lock.packages[`node_modules/${name}`].version}`;

/** A Go module with its version. */
export const goModule = (path, name) =>
  `${name} ${execFileSync('go', ['list', '-m', '-f', '{{.Version}}', path], { encoding: 'utf8' }).trim()}`;
