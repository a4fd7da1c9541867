import { readFile } from 'node:fs/promises';
import { serving } from '../serving.js';

const dist = new URL('../../../dist/', import.meta.url);

const html = `<!doctype html><meta charset="utf-8"><title>test</title><link rel="icon" href="data:,">
<script>
  globalThis.Go = 'the page has a Go';
  globalThis.process = { of: 'the page' };
  globalThis.fs = { of: 'the page' };
</script>
<script type="importmap">{ "imports": {
  "brontosig": "/dist/index.js",
  "brontosig/brontide": "/dist/brontide.js",
  "brontosig/lightning": "/dist/lightning.js",
  "brontosig/musig2": "/dist/musig2.js"
} }</script>`;

/**
 * Serves a page that can import the package by its names, while `body` runs.
 *
 * @param wasmType - the MIME type of the module; an empty string for none.
 */
export async function served(wasmType: string, body: (origin: string) => Promise<void>): Promise<void> {
  await serving((path, response) => {
    const name = /^\/dist\/([a-z0-9.-]+)$/.exec(path)?.[1];
    if (path === '/') {
      response.setHeader('content-type', 'text/html').end(html);
    } else if (name === undefined) {
      response.writeHead(404).end();
    } else {
      const type = name.endsWith('.wasm') ? wasmType : 'text/javascript';
      readFile(new URL(name, dist)).then(
        (content) => response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(content),
        () => response.writeHead(404).end(),
      );
    }
  }, body);
}
