// The packed package in fresh projects, as js/environments/ has them: each
// signs, and lets a peer talk. The signature is verified here once more.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { schnorr } from '@noble/curves/secp256k1.js';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { browserTest, withExtension } from '../browser/chromium.js';
import { Project } from './project.js';

/** Milliseconds that an environment may take. */
const LIMIT = 600_000;

/** How long a new user waits, in milliseconds. */
interface Row {
  readonly environment: string;
  readonly install: number;
  readonly build: number;
  readonly sign: number;
}

const rows: Row[] = [];

/** Checks what a trial says, and notes how long it took: the building, and from `since` to the signature. */
function passed(environment: string, text: string, { installMs }: Project, buildMs: number, since: number): void {
  assert.match(text, /^\{/, environment);
  const outcome = JSON.parse(text) as { signature: number[]; outputKey: number[]; signedAt: number; received: number[] };
  const [signature, outputKey] = [Uint8Array.from(outcome.signature), Uint8Array.from(outcome.outputKey)];
  assert.ok(schnorr.verify(signature, new TextEncoder().encode('both of us agree'), outputKey), environment);
  assert.deepEqual(outcome.received, [0x80, 1, 1, 2, 3], environment);
  rows.push({ environment, install: installMs, build: buildMs, sign: outcome.signedAt - since });
}

after(() => {
  const seconds = (ms: number): string => (ms / 1000).toFixed(1).padStart(7);
  console.log('from installation to the first signature, in seconds');
  console.log(`${'environment'.padEnd(32)}install  build   sign    all`);
  for (const { environment, install, build, sign } of rows) {
    console.log(environment.padEnd(32) + [install, build, sign, install + build + sign].map(seconds).join(''));
  }
});

/** Opens a page and waits for the outcomes of its places, by their names. */
async function outcomes(browser: Browser | BrowserContext, url: string, places: readonly string[]): Promise<Map<string, string>> {
  const page: Page = await browser.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  await page.goto(url);
  const texts = new Map<string, string>();
  for (const place of places) {
    const text = await page.locator(`#${place}`).textContent({ timeout: 60_000 }).catch((cause: unknown) => {
      throw new Error(`no outcome of the ${place}: ${errors.join('; ')}`, { cause });
    });
    texts.set(place, text ?? '');
  }
  await page.close();
  return texts;
}

/** Checks the outcomes of a page. */
async function passedIn(
  browser: Browser | BrowserContext, url: string, environment: string, places: readonly string[], project: Project, buildMs: number,
): Promise<void> {
  const since = Date.now();
  for (const [place, text] of await outcomes(browser, url, places)) {
    passed(`${environment}, ${place}`, text, project, buildMs, since);
  }
}

/** Builds the page of a project and opens it. No script of it may hold code for Node. */
async function built(project: Project, browser: Browser, bundler: string, places: readonly string[]): Promise<void> {
  const started = Date.now();
  await project.run('npm', 'run', 'build');
  const buildMs = Date.now() - started;
  await project.served('dist', (origin) => passedIn(browser, origin, bundler, places, project, buildMs));
  assert.deepEqual(await project.nodeCode('dist'), []);
}

test('Node, by import and by require', { timeout: LIMIT }, async () => {
  await Project.with('node', async (project) => {
    assert.deepEqual(await project.nodeCode('node_modules/brontosig/dist'), ['network-node.js', 'platform-node.js']);
    assert.notDeepEqual(await project.nodeCode('node_modules/ws/lib'), []);
    for (const [environment, file] of [['Node, import', 'main.mjs'], ['Node, require', 'main.cjs']] as const) {
      const since = Date.now();
      passed(environment, await project.run(process.execPath, file), project, 0, since);
    }
  });
});

test('TypeScript with NodeNext and Bundler', { timeout: LIMIT }, async () => {
  await Project.with('typescript', async (project) => {
    const started = Date.now();
    await project.run('npm', 'run', 'build');
    const buildMs = Date.now() - started;
    for (const file of ['nodenext/main.js', 'nodenext/main.cjs', 'bundler/main.js']) {
      const since = Date.now();
      passed(`TypeScript, ${file}`, await project.run(process.execPath, file), project, buildMs, since);
    }
  });
});

browserTest('Vite, while developing and built', async (browser) => {
  await Project.with('vite', async (project) => {
    const started = Date.now();
    await project.serve('dev', (url) => passedIn(browser, url, 'Vite dev', ['page', 'worker'], project, Date.now() - started));
    await built(project, browser, 'Vite build', ['page', 'worker']);
  });
}, LIMIT);

browserTest('webpack', async (browser) => {
  await Project.with('webpack', (project) => built(project, browser, 'webpack', ['page', 'worker', 'service-worker']));
}, LIMIT);

browserTest('Rollup', async (browser) => {
  await Project.with('rollup', (project) => built(project, browser, 'Rollup', ['page']));
}, LIMIT);

browserTest('esbuild, and with its output an extension', async (browser) => {
  await Project.with('esbuild', async (project) => {
    await built(project, browser, 'esbuild', ['page', 'worker', 'service-worker']);
    const started = Date.now();
    await withExtension(join(project.folder, 'dist'), (context, origin) =>
      passedIn(context, `${origin}/index.html`, 'extension', ['page', 'worker', 'service-worker'], project, Date.now() - started));
  });
}, LIMIT);

browserTest('Next.js, on the server and in the page', async (browser) => {
  await Project.with('next', async (project) => {
    const started = Date.now();
    await project.run('npm', 'run', 'build');
    const buildMs = Date.now() - started;
    await project.serve('start', async (url) => {
      await passedIn(browser, `${url}/server`, 'Next.js', ['server'], project, buildMs);
      await passedIn(browser, url, 'Next.js', ['client'], project, buildMs);
    });
    assert.deepEqual(await project.nodeCode('.next/static'), []);
  });
}, LIMIT);
