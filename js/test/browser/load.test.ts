import assert from 'node:assert/strict';
import type { Browser, Page, Route } from 'playwright-core';
import { browserTest } from './chromium.js';
import { served } from './served.js';

/**
 * Runs the body of an async function in a new page, where `use` tells whether the module works.
 *
 * @param serve - answers in the server's place when the page asks for the module.
 */
async function run(browser: Browser, origin: string, body: string, serve?: (route: Route) => Promise<void>): Promise<unknown> {
  const page: Page = await browser.newPage();
  if (serve !== undefined) {
    await page.route('**/brontosig.wasm', serve);
  }
  await page.goto(origin);
  const result: unknown = await page.evaluate(`(async () => {
    const { init } = await import('brontosig');
    const { verify } = await import('brontosig/musig2');
    const use = () => verify(new Uint8Array(64), new Uint8Array(), new Uint8Array(32)) === false;
    const url = '/dist/brontosig.wasm';
    ${body}
  })()`);
  await page.close();
  return result;
}

browserTest('init() loads the module however it is served and given', async (browser) => {
  for (const type of ['application/wasm', 'text/plain', '']) {
    await served(type, async (origin) => {
      for (const wasm of [
        'undefined',
        'url',
        'new URL(url, location.href)',
        'await fetch(url)',
        'await (await fetch(url)).arrayBuffer()',
        'new Uint8Array(await (await fetch(url)).arrayBuffer())',
        'await WebAssembly.compile(await (await fetch(url)).arrayBuffer())',
      ]) {
        assert.equal(await run(browser, origin, `await init({ wasm: ${wasm} }); return use();`), true, `${wasm}, served as ${type}`);
      }
    });
  }
});

browserTest('init() twice is one instance, and works again after a failure', async (browser) => {
  await served('application/wasm', async (origin) => {
    const instances = await run(
      browser,
      origin,
      `let count = 0;
      const instantiate = WebAssembly.instantiate;
      WebAssembly.instantiate = (...args) => { count++; return instantiate(...args); };
      await Promise.all([init(), init()]);
      await init();
      return use() && count;`,
    );
    assert.equal(instances, 1);
    const again = await run(
      browser,
      origin,
      `const codes = [];
      for (const wasm of ['/dist/absent.wasm', '/dist/index.js', new Uint8Array(3)]) {
        await init({ wasm }).catch((error) => codes.push(error.code));
      }
      await init();
      return use() && codes;`,
    );
    assert.deepEqual(again, ['LOAD_FAILED', 'LOAD_FAILED', 'LOAD_FAILED']);
  });
});

browserTest('init() says what to do where the module is not served', async (browser) => {
  const cases: [serve: (route: Route) => Promise<void>, message: RegExp][] = [
    [(route) => route.fulfill({ status: 404, contentType: 'text/plain' }), /\/dist\/brontosig\.wasm \(text\/plain\): the server answered with status 404\. /],
    [(route) => route.fulfill({ contentType: 'text/html', body: '<!doctype html>' }), /\/dist\/brontosig\.wasm \(text\/html\): this is no WebAssembly module/],
    [(route) => route.abort(), /\/dist\/brontosig\.wasm could not be read: /],
  ];
  await served('application/wasm', async (origin) => {
    for (const [serve, message] of cases) {
      const said = String(await run(browser, origin, 'return init().catch(String);', serve));
      assert.match(said, message);
      assert.match(said, /Serve the file brontosig\.wasm of the package there, or give its place as init\(\{ wasm \}\); .*docs\/bundlers\.md/);
    }
  });
});

browserTest('init() leaves the page as it was', async (browser) => {
  await served('application/wasm', async (origin) => {
    const [before, after, own] = (await run(
      browser,
      origin,
      `const names = () => Object.getOwnPropertyNames(globalThis).sort();
      const before = names();
      await init();
      use();
      return [before, names(), [Go, process.of, Object.keys(process).length, fs.of, Object.keys(fs).length]];`,
    )) as [string[], string[], unknown[]];
    assert.deepEqual(after, before);
    assert.deepEqual(own, ['the page has a Go', 'the page', 1, 'the page', 1]);
  });
});
