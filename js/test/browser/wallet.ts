import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core';

const root = new URL('../../../', import.meta.url);
const screenshots = fileURLToPath(new URL('build/screenshots/', root));
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The narrowest phone that the page is made for. */
export const phone = { width: 360, height: 780 };

/** What the page's server prints: where the page, the bridge and its peer are. */
export interface Wallet {
  readonly origin: string;
  readonly node: string;
  readonly bridge: string;
  readonly rune: string;
  /** The URL of the node console with its fields filled in. */
  readonly console: string;
}

/** Serves the built page beside a bridge with its peer while `body` runs. */
export async function served(body: (wallet: Wallet) => Promise<void>): Promise<void> {
  const server = spawn(process.execPath, [fileURLToPath(new URL('examples/web/serve.mjs', root))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(server, 'close');
  try {
    const [line] = (await Promise.race([once(createInterface({ input: server.stdout }), 'line'), ended])) as [unknown];
    assert.equal(typeof line, 'string', 'the server ended at once');
    const { origin, hash, href } = new URL(line as string);
    const get = (name: string): string => new URLSearchParams(hash.slice(1)).get(name) ?? '';
    await body({ origin, console: href, node: get('node'), bridge: get('bridge'), rune: get('rune') });
  } finally {
    server.kill('SIGTERM');
    await ended;
  }
  assert.equal(server.exitCode, 0, 'the server did not end well');
}

/**
 * Runs something in a context whose pages must report no error.
 *
 * @param expected - errors that the browser itself reports and that are wanted.
 */
export async function inContext(
  browser: Browser,
  options: BrowserContextOptions,
  body: (context: BrowserContext) => Promise<void>,
  expected?: RegExp,
): Promise<void> {
  const context = await browser.newContext(options);
  const errors: string[] = [];
  context.on('page', (page) => {
    page.on('pageerror', (error) => errors.push(String(error)));
    page.on('console', (message) => {
      if (message.type() !== 'info' && message.type() !== 'log') {
        errors.push(message.text());
      }
    });
  });
  try {
    await body(context);
    assert.deepEqual(errors.filter((error) => expected?.test(error) !== true), []);
  } finally {
    await context.close();
  }
}

/** Opens a page that has loaded the module. */
export async function open(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.getByText('Ready', { exact: true }).waitFor();
  return page;
}

/** Fills a field, submits with a button, and expects an error beside the field. */
export async function refused(field: Locator, text: string, button: Locator, error: RegExp): Promise<void> {
  await field.fill(text);
  await button.click();
  const id = await field.getAttribute('id');
  await field.page().locator(`#${id}-error`).filter({ hasText: error }).waitFor();
  assert.equal(await field.getAttribute('aria-invalid'), 'true');
  assert.match((await field.getAttribute('aria-describedby')) ?? '', new RegExp(`\\b${id}-error\\b`));
  assert.equal(await field.evaluate((element) => element === document.activeElement), true, 'the field has the focus');
}

/** Presses Tab until an element has the focus. It fails if no Tab leads there. */
export async function tabTo(target: Locator): Promise<void> {
  await target.waitFor();
  const page = target.page();
  for (let i = 0; i < 80; i++) {
    if (await target.evaluate((element) => element === document.activeElement)) {
      return;
    }
    await page.keyboard.press('Tab');
  }
  assert.fail(`no Tab leads to ${String(target)}`);
}

/** Holds that a page has no barrier that axe finds, and is not wider than its window. */
export async function accessible(page: Page): Promise<void> {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }> };
    };
    const { violations } = await axe.run();
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
  });
  assert.deepEqual(found, []);
  const [width, available] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth] as const);
  assert.ok(width <= available, `the page is ${width} wide in a window of ${available}`);
}

/** Keeps a picture of the page. */
export async function screenshot(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}${name}.png`, fullPage: true });
}

/** Keeps a picture of the upper part of the page, for the documents. */
export async function picture(page: Page, name: string, height: number): Promise<void> {
  const { width } = page.viewportSize() ?? { width: 0 };
  await page.setViewportSize({ width, height });
  await page.evaluate(() => {
    (document.activeElement as HTMLElement | null)?.blur();
    scrollTo(0, 0);
  });
  await page.screenshot({ path: `${screenshots}${name}.png` });
}

/** Imports a module of the examples. */
export async function example<T>(name: string): Promise<T> {
  return (await import(new URL(`examples/${name}`, root).href)) as T;
}
