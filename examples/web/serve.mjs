// Serves the page on loopback, beside a bridge with its embedded Lightning peer,
// and prints the URL that leads to them:
//
//   node examples/web/serve.mjs [PORT]
//
// It ends, and the bridge with it, on SIGINT or SIGTERM.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { startBridge } from '../bridge-process.mjs';

const HOST = '127.0.0.1';

const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  map: 'application/json',
  wasm: 'application/wasm',
};

const PAGE_FILES = {
  '/': 'index.html',
  '/app.js': 'app.js',
  '/style.css': 'style.css',
  '/cosign.js': '../cosign.js',
};

/** Finds the file of a path, or nothing: only what the page needs is served. */
function fileOf(path) {
  if (Object.hasOwn(PAGE_FILES, path)) {
    return new URL(PAGE_FILES[path], import.meta.url);
  }
  const [, name] = /^\/dist\/([a-z0-9-]+\.(?:js|js\.map|wasm))$/.exec(path) ?? [];
  return name === undefined ? undefined : new URL(`../../dist/${name}`, import.meta.url);
}

const page = await readFile(fileOf('/'), 'utf8');
const [, importMap] = /<script type="importmap">(.*?)<\/script>/s.exec(page);
const importMapHash = createHash('sha256').update(importMap).digest('base64');

const HEADERS = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' 'sha256-${importMapHash}'`,
    "style-src 'self'",
    "img-src data:",
    "connect-src 'self' ws: wss:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

async function answer(request, response) {
  const file = fileOf(new URL(request.url, 'http://host').pathname);
  if (file === undefined || request.method !== 'GET') {
    response.writeHead(404, HEADERS).end();
    return;
  }
  let body;
  try {
    body = await readFile(file);
  } catch (error) {
    if (error.code !== 'ENOENT') {
      throw error;
    }
    response.writeHead(404, HEADERS).end();
    return;
  }
  const type = TYPES[file.pathname.split('.').at(-1)];
  response.writeHead(200, { ...HEADERS, 'Content-Type': type }).end(body);
}

const server = createServer((request, response) => {
  answer(request, response).catch((error) => {
    console.error(error);
    response.writeHead(500, HEADERS).end();
  });
});
server.listen(Number(process.argv[2] ?? 0), HOST);
await once(server, 'listening');
const origin = `http://${HOST}:${server.address().port}`;

const starting = startBridge(['--origin', origin]);
const stop = async () => {
  server.closeAllConnections();
  server.close();
  await (await starting).stop();
};
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, stop);
}
const bridge = await starting;
bridge.ended.then(({ code, log }) => {
  if (code !== 0) {
    console.error(`the bridge ended:\n${log}`);
    process.exitCode = 1;
    server.closeAllConnections();
    server.close();
  }
});

console.log(`${origin}/?${new URLSearchParams({ node: bridge.node, bridge: bridge.bridge })}`);
