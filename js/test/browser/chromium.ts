import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { chromium, type Browser } from 'playwright-core';

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
  const executablePath = findChromium();
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
