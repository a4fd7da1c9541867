import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startNodes } from '../everywhere/nodes.js';
import type { Outcome } from '../everywhere/places.js';
import { brontideSuite } from '../everywhere/suite-brontide.js';
import { musig2Suite } from '../everywhere/suite-musig2.js';
import { browserTest } from './chromium.js';

const root = new URL('../../../', import.meta.url);

/** What a careful page allows: its own scripts, and WebAssembly. */
const policy = "script-src 'self' 'wasm-unsafe-eval'";

/** A page for each place, each of which loads one script. */
const scripts: Readonly<Record<string, string>> = {
  page: 'worker.js',
  worker: 'start-worker.js',
  'service-worker': 'start-service-worker.js',
};

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const text of request.setEncoding('utf8')) {
    body += text as string;
  }
  return body;
}

/** A script as it is served. A worker has no import map, so the names of the package become paths. */
async function script(path: string): Promise<string> {
  const text = await readFile(new URL(path, root), 'utf8');
  return text.replace(/(from\s+)'brontosig(?:\/([a-z0-9]+))?'/g, (_, from: string, name = 'index') => `${from}'/dist/${String(name)}.js'`);
}

browserTest('the same tests pass in a page, a module worker and a service worker, under a strict policy', async (browser, t) => {
  const reports = new Map<string, (outcomes: Outcome[]) => void>();
  let place = '';
  const answer = async (request: IncomingMessage): Promise<[type: string, body: string | Uint8Array] | undefined> => {
    const { pathname, search } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname === '/place') {
      return ['application/json', place];
    }
    if (pathname === '/report') {
      reports.get(search.slice(1))?.(JSON.parse(await bodyOf(request)) as Outcome[]);
      return ['text/plain', ''];
    }
    if (pathname === '/dist/brontosig.wasm') {
      return ['application/wasm', await readFile(new URL('.' + pathname, root))];
    }
    if (/^\/(dist|build\/js-test\/everywhere)\/[a-z0-9-]+\.js$/.test(pathname)) {
      return ['text/javascript', await script('.' + pathname)];
    }
    const entry = scripts[pathname.slice(1)];
    if (entry === undefined) {
      return undefined;
    }
    const tag = `<script type="module" src="/build/js-test/everywhere/${entry}"></script>`;
    return ['text/html', `<!doctype html><meta charset="utf-8"><title>test</title><link rel="icon" href="data:,">${tag}`];
  };
  const server = createServer((request, response) => {
    void answer(request).then((found) => {
      const headers = {
        'content-security-policy': policy,
        'content-type': found?.[0] ?? 'text/plain',
        'service-worker-allowed': '/',
      };
      response.writeHead(found === undefined ? 404 : 200, headers).end(found?.[1]);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const running = await startNodes({ origin });
  const { carriers } = running.place;
  place = JSON.stringify({ ...running.place, carriers: carriers.filter(({ name }) => name !== 'tcp') });
  try {
    const names = Object.keys(musig2Suite);
    const expected = { page: [...names, ...Object.keys(brontideSuite)], worker: [...names, ...Object.keys(brontideSuite)], 'service-worker': names };
    for (const [where, tests] of Object.entries(expected)) {
      const page = await browser.newPage();
      const said: string[] = [];
      page.on('console', (message) => said.push(message.text()));
      const reported = new Promise<Outcome[]>((resolve, reject) => {
        reports.set(where, resolve);
        page.on('pageerror', reject);
      });
      const started = performance.now();
      await page.goto(`${origin}/${where}`);
      const outcomes = await reported.catch((cause: unknown) => {
        throw new Error(`the ${where} broke: ${said.join('\n')}`, { cause });
      });
      await page.close();
      t.diagnostic(`${where}: ${outcomes.length} tests in ${((performance.now() - started) / 1000).toFixed(1)} s`);
      assert.deepEqual(outcomes.filter(({ error }) => error !== ''), [], where);
      assert.deepEqual(outcomes.map(({ test }) => test).sort(), [...tests, 'nothing is left'].sort());
    }
  } finally {
    server.closeAllConnections();
    server.close();
    await running.stop();
  }
});
