import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { chromium, type Browser, type BrowserContext } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const flags = [
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Where Chromium is: in the variable CHROMIUM or on the path. */
function findChromium(): string | undefined {
  const named = process.env['CHROMIUM'];
  const folders = ['/usr/bin', ...(process.env['PATH'] ?? '').split(delimiter)];
  const places = named === undefined ? folders.flatMap((folder) => names.map((name) => join(folder, name))) : [named];
  return places.find((place) => {
    try {
      accessSync(place, constants.X_OK);
      return existsSync(place);
    } catch {
      return false;
    }
  });
}

const executablePath = findChromium();

const advice =
  'no Chromium was found: install one (Debian: apt-get install chromium), or name it in the variable CHROMIUM';

/**
 * Defines a test that drives Chromium. Where there is none, the test is skipped
 * and says how to get one; with `CI=true` it fails.
 *
 * @param timeout - milliseconds that the test may take.
 */
export function browserTest(
  name: string,
  body: (browser: Browser, t: TestContext) => Promise<void>,
  timeout = 120_000,
): void {
  const skip = executablePath === undefined && process.env['CI'] !== 'true' ? advice : false;
  void test(name, { skip, timeout }, async (t) => {
    if (executablePath === undefined) {
      throw new Error(advice);
    }
    const browser = await chromium.launch({ executablePath, args: flags });
    try {
      t.diagnostic(`Chromium ${browser.version()}`);
      await body(browser, t);
    } finally {
      await browser.close();
    }
  });
}

/**
 * Runs Chromium with an extension, inside of a {@link browserTest}.
 *
 * @param folder - the absolute path of the unpacked extension.
 * @param body - is given the origin of the extension's pages.
 */
export async function withExtension(
  folder: string,
  body: (context: BrowserContext, origin: string) => Promise<void>,
): Promise<void> {
  if (executablePath === undefined) {
    throw new Error(advice);
  }
  const args = [...flags, `--disable-extensions-except=${folder}`, `--load-extension=${folder}`];
  const context = await chromium.launchPersistentContext('', { executablePath, args });
  try {
    // Chromium names an unpacked extension after its path, with the letters a to p for digits.
    const digits = createHash('sha256').update(folder).digest('hex').slice(0, 32);
    const id = digits.replace(/./g, (digit) => String.fromCharCode(97 + parseInt(digit, 16)));
    await body(context, `chrome-extension://${id}`);
  } finally {
    await context.close();
  }
}
