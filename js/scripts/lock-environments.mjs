// Writes the lock files of js/environments again, when a package.json there has
// changed. They say nothing of the tarball but where it is: it changes with
// every change of the sources.

import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const environments = fileURLToPath(new URL('../environments/', import.meta.url));
const tarball = fileURLToPath(new URL('../../build/brontosig.tgz', import.meta.url));

for (const name of readdirSync(environments).filter((name) => existsSync(join(environments, name, 'package.json')))) {
  const folder = mkdtempSync(join(tmpdir(), 'brontosig-lock-'));
  cpSync(join(environments, name), folder, { recursive: true });
  cpSync(tarball, join(folder, 'brontosig.tgz'));
  execFileSync('npm', ['install', '--package-lock-only', '--omit-lockfile-registry-resolved'], { cwd: folder, stdio: 'inherit' });
  const lock = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
  delete lock.packages['node_modules/brontosig'].version;
  delete lock.packages['node_modules/brontosig'].integrity;
  writeFileSync(join(environments, name, 'package-lock.json'), `${JSON.stringify(lock, null, 2)}\n`);
  rmSync(folder, { recursive: true });
}
