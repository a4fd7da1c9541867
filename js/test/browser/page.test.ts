import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { unusedPort } from '../connections.js';
import { browserTest } from './chromium.js';

const root = new URL('../../../', import.meta.url);
const screenshots = fileURLToPath(new URL('build/screenshots/', root));

/** Serves the example page beside a bridge with its peer while `body` runs. */
async function served(body: (url: URL) => Promise<void>): Promise<void> {
  const server = spawn(process.execPath, [fileURLToPath(new URL('examples/web/serve.mjs', root))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'close');
  try {
    const [line] = (await Promise.race([once(createInterface({ input: server.stdout }), 'line'), ended])) as [unknown];
    assert.equal(typeof line, 'string', 'the server ended at once');
    await body(new URL(line as string));
  } finally {
    server.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    assert.equal(code, 0, 'the server did not end well');
  }
}

/** Opens a page that must report no error, and closes it in the end. */
async function opened(
  browser: Browser,
  url: URL,
  options: BrowserContextOptions,
  body: (page: Page) => Promise<void>,
): Promise<void> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(url.href);
  await page.getByText('Ready', { exact: true }).waitFor();
  await body(page);
  assert.deepEqual(errors, []);
  await context.close();
}

async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}${name}.png`, fullPage: true });
}

browserTest('the example page co-signs and reaches a node through the bridge', async (browser) => {
  await served(async (url) => {
    await opened(browser, url, {}, async (page) => {
      await page.getByRole('textbox', { name: 'Message' }).fill('a message of a person');
      await page.getByRole('button', { name: 'Sign' }).click();
      const signed = page.getByRole('status', { name: 'Result of signing' });
      await signed.getByText(/Valid for BIP-340/).waitFor();
      assert.match(await signed.innerText(), /[0-9a-f]{64}\s+Signature\s+[0-9a-f]{128}/i);
      await signed.getByText('What signer 3 told the others').click();

      await page.getByRole('button', { name: 'Connect' }).click();
      const connected = page.getByRole('status', { name: 'Result of connecting' });
      await connected.getByText('the node has proved its key').waitFor();
      const text = await connected.innerText();
      const [nodeId = ''] = (url.searchParams.get('node') ?? '').split('@');
      assert.ok(text.includes(nodeId), text);
      assert.match(text, /Features\s+02\s/);
      assert.match(text, /Round trip\s+\d+\.\d ms/);
      await screenshot(page, 'example-light');
    });
    await opened(browser, url, { colorScheme: 'dark', viewport: { width: 390, height: 844 } }, async (page) => {
      // By keyboard alone.
      await page.getByRole('textbox', { name: 'Node' }).press('Enter');
      await page.getByText('the node has proved its key').waitFor();
      await screenshot(page, 'example-dark-phone');
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      assert.equal(overflow, false, 'the page is wider than a phone');
    });
  });
});

browserTest('the example page explains what went wrong next to the field', async (browser) => {
  await served(async (url) => {
    await opened(browser, url, {}, async (page) => {
      const node = page.getByRole('textbox', { name: 'Node' });
      const bridge = page.getByRole('textbox', { name: 'Bridge' });
      const good = { node: await node.inputValue(), bridge: await bridge.inputValue() };
      const attempt = async (values: Partial<typeof good>, field: 'node' | 'bridge', message: RegExp): Promise<void> => {
        await node.fill(values.node ?? good.node);
        await bridge.fill(values.bridge ?? good.bridge);
        await page.getByRole('button', { name: 'Connect' }).click();
        await page.locator(`#${field}-error`).getByText(message).waitFor();
        assert.equal(await page.locator(`#${field}`).getAttribute('aria-invalid'), 'true');
      };
      await page.getByRole('textbox', { name: 'Message' }).fill('');
      await page.getByRole('button', { name: 'Sign' }).click();
      await page.locator('#message-error').getByText(/Type the message/).waitFor();
      await attempt({ node: 'nonsense' }, 'node', /66 hex digits/);
      await attempt({ bridge: 'http://example.com' }, 'bridge', /ws:\/\//);
      // The right address with the key of somebody else. 02…01 is a point.
      const [, address = ''] = good.node.split('@');
      const wrong = `02${'0'.repeat(63)}1@${address}`;
      await attempt({ node: wrong, bridge: good.bridge }, 'node', /authentication failed/);
      await screenshot(page, 'example-wrong-key');
      await attempt({ node: `${good.node.split('@')[0] ?? ''}@192.0.2.1:9735` }, 'node', /not on the bridge's allow-list/);
      await attempt({ bridge: `ws://127.0.0.1:${await unusedPort()}` }, 'bridge', /no WebSocket server/);
      // And then it works.
      await node.fill(good.node);
      await bridge.fill(good.bridge);
      await page.getByRole('button', { name: 'Connect' }).click();
      await page.getByText('the node has proved its key').waitFor();
      assert.equal(await node.getAttribute('aria-invalid'), 'false');
    });
  });
});
