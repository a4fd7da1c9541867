// The time from importing the package to a first signature, in Node and in
// Chromium.

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

import { chromium } from 'playwright-core';

import { duration, header, median, row } from './measure.mjs';

const RUNS = 7;
const root = new URL('../../', import.meta.url);
const script = new URL('first-signature.mjs', import.meta.url);

function inNode() {
  const program = `import(${JSON.stringify(script.href)}).then((m) => m.firstSignature()).then((r) => console.log(JSON.stringify(r)))`;
  return JSON.parse(execFileSync(process.execPath, ['--eval', program], { encoding: 'utf8' }));
}

const html = `<!doctype html><meta charset="utf-8"><title>start</title><link rel="icon" href="data:,">
<script type="importmap">{ "imports": { "brontosig": "/dist/index.js", "brontosig/musig2": "/dist/musig2.js" } }</script>`;

/** Serves the package and runs the measurement in `RUNS` fresh profiles of Chromium. */
async function inChromium() {
  const server = createServer((request, response) => {
    if (request.url === '/') {
      response.setHeader('content-type', 'text/html').end(html);
      return;
    }
    const type = request.url.endsWith('.wasm') ? 'application/wasm' : 'text/javascript';
    readFile(new URL(`.${request.url}`, root)).then(
      (content) => response.writeHead(200, { 'content-type': type }).end(content),
      () => response.writeHead(404).end(),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const flags = ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--disable-component-update', '--disable-sync'];
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });
  try {
    const runs = [];
    for (let i = 0; i < RUNS; i++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`http://127.0.0.1:${server.address().port}/`);
      runs.push(await page.evaluate(`import('/js/bench/first-signature.mjs').then((m) => m.firstSignature())`));
      await context.close();
    }
    return { runs, version: browser.version() };
  } finally {
    await browser.close();
    server.closeAllConnections();
    server.close();
  }
}

/** Prints the table. */
export async function start() {
  header(`in a fresh process or profile, median of ${RUNS}`, 'import and init', 'first signature', 'together');
  const print = (name, runs) =>
    row(
      name,
      duration(median(runs.map(({ loadMs }) => loadMs))),
      duration(median(runs.map(({ signMs }) => signMs))),
      duration(median(runs.map(({ loadMs, signMs }) => loadMs + signMs))),
    );
  print(`Node ${process.versions.node}`, Array.from({ length: RUNS }, inNode));
  const { runs, version } = await inChromium();
  print(`Chromium ${version}`, runs);
}
