import assert from 'node:assert/strict';
import { schnorr } from '@noble/curves/secp256k1.js';
import { hexToBytes } from '@noble/curves/utils.js';
import { OutScript, RawWitness, Transaction } from '@scure/btc-signer';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import decodeQR from 'qr/decode.js';
import { browserTest } from './chromium.js';
import { accessible, example, inContext, open, phone, picture, refused, screenshot, served, tabTo } from './wallet.js';

const { messageHash } = await example<{ messageHash: (text: string, script: Uint8Array) => Uint8Array }>('bip322.js');

/** What a test does with one signer's page. */
class SignerPage {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  static async join(context: BrowserContext, origin: string, room: string, signers: number, secret?: string): Promise<SignerPage> {
    const parameters = new URLSearchParams({ view: 'room', room, signers: String(signers) });
    const signer = new SignerPage(await open(context, `${origin}/#${parameters.toString()}`));
    await signer.enter(secret);
    return signer;
  }

  async enter(secret?: string): Promise<void> {
    if (secret !== undefined) {
      await this.page.getByText('Use a secret key that you keep').click();
      await this.page.getByLabel('Secret key').fill(secret);
    }
    await this.click('Open the room');
    await this.page.getByRole('heading', { name: 'Public keys' }).waitFor();
  }

  async click(name: string): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).click();
  }

  /** Waits until the page says something: what has happened, or what it waits for. */
  async hears(text: string | RegExp): Promise<void> {
    await this.page.locator('#room-status, #history li').filter({ hasText: text }).last().waitFor({ state: 'attached' });
  }

  /** The value of a fact of a step. */
  async fact(step: string, name: string): Promise<string> {
    const entry = this.page.locator(`#step-${step} dl > div`).filter({ has: this.page.getByText(name, { exact: true }) });
    return entry.locator('code').innerText();
  }

  /** The line that a step offers for copying. */
  async line(step: string): Promise<string> {
    const { value } = await this.page.locator(`#${step}-exchange-line`).evaluate((area) => ({ value: (area as HTMLTextAreaElement).value }));
    return value;
  }

  paste(step: string): [field: ReturnType<Page['locator']>, button: ReturnType<Page['locator']>] {
    const form = this.page.locator(`#${step}-exchange form`);
    return [form.getByLabel('What another signer sent'), form.getByRole('button', { name: 'Take it' })];
  }

  /** Pastes the line of another signer. */
  async take(step: string, line: string): Promise<void> {
    const [field, button] = this.paste(step);
    await field.fill(line);
    await button.click();
  }

  async refuses(step: string, line: string, error: RegExp): Promise<void> {
    const [field, button] = this.paste(step);
    await refused(field, line, button, error);
  }

  async proposeMessage(text: string): Promise<void> {
    await this.page.getByLabel('Message', { exact: true }).fill(text);
    await this.click('Propose and agree');
  }

  /** Proposes the PSBT that the page makes up. */
  async proposeExample(): Promise<string> {
    await this.page.getByLabel('a transaction').check();
    await this.click('Fill in an example');
    const psbt = await this.page.getByLabel('PSBT', { exact: true }).inputValue();
    await this.click('Propose and agree');
    return psbt;
  }
}

/** Lets several tabs of a browser join a room and make the address. */
async function joined(context: BrowserContext, origin: string, room: string, count: number): Promise<SignerPage[]> {
  const signers: SignerPage[] = [];
  for (let i = 0; i < count; i++) {
    signers.push(await SignerPage.join(context, origin, room, count));
  }
  for (const signer of signers) {
    await signer.hears('All keys are here');
    await signer.click('Make the address');
  }
  const addresses = await Promise.all(signers.map(async (signer) => signer.fact('address', 'Address')));
  assert.match(addresses[0]!, /^tb1p[0-9a-z]{58}$/);
  assert.equal(new Set(addresses).size, 1);
  return signers;
}

/** Has everybody sign, one after the other, and waits for the end. */
async function sign(signers: readonly SignerPage[]): Promise<void> {
  for (const signer of signers) {
    await signer.click('Sign with your key');
  }
  for (const signer of signers) {
    await signer.hears('Done: the signature is complete');
  }
}

/** Verifies what a page shows after a message was signed, with other code. */
async function verifyMessage(signer: SignerPage, text: string): Promise<void> {
  const outputKey = hexToBytes(await signer.fact('address', 'Output key (BIP-86)'));
  const [signature, ...rest] = RawWitness.decode(Buffer.from(await signer.fact('done', 'Signature, BIP-322'), 'base64'));
  assert.deepEqual(rest, []);
  const hash = messageHash(text, OutScript.encode({ type: 'tr', pubkey: outputKey }));
  assert.ok(schnorr.verify(signature!, hash, outputKey));
}

/** Two signers on machines of their own, who exchange lines. */
async function apart(browser: Browser, origin: string, body: (a: SignerPage, b: SignerPage) => Promise<void>): Promise<void> {
  await inContext(browser, {}, async (one) => {
    await inContext(browser, {}, async (other) => {
      await body(await SignerPage.join(one, origin, 'apart', 2), await SignerPage.join(other, origin, 'apart', 2));
    });
  });
}

async function exchange(step: string, a: SignerPage, b: SignerPage): Promise<void> {
  const [ofA, ofB] = [await a.line(step), await b.line(step)];
  await a.take(step, ofB);
  await b.take(step, ofA);
}

browserTest('a room of two tabs signs a message', async (browser) => {
  await served(async ({ origin }) => {
    await inContext(browser, {}, async (context) => {
      const [a, b] = (await joined(context, origin, 'two', 2)) as [SignerPage, SignerPage];
      const text = 'a message of two people, with ünïcödé';
      await a.proposeMessage(text);
      await b.hears('proposes a message');
      assert.equal(await b.page.locator('#proposal-facts code').innerText(), text);
      await b.click('Agree to sign this');
      await sign([a, b]);
      await verifyMessage(a, text);
      await verifyMessage(b, text);

      // And once more, with the same keys and fresh nonces.
      const nonce = await a.line('nonces');
      await b.click('Sign something else');
      await b.proposeMessage(text);
      await a.click('Agree to sign this');
      await sign([b, a]);
      await verifyMessage(a, text);
      assert.notEqual(await a.line('nonces'), nonce);
    });
  });
});

browserTest('a room of three tabs signs a PSBT and shows the final transaction', async (browser) => {
  await served(async ({ origin }) => {
    await inContext(browser, {}, async (context) => {
      const signers = await joined(context, origin, 'three', 3);
      const [a, b, c] = signers as [SignerPage, SignerPage, SignerPage];
      const psbt = Transaction.fromPSBT(Buffer.from(await b.proposeExample(), 'base64'));
      for (const signer of [a, c]) {
        await signer.hears('proposes a PSBT');
        assert.match(await signer.page.locator('#proposal-facts').innerText(), /100\s000 sat to tb1qw508d[^]*Fee\s+1\s000 sat/);
        await signer.click('Agree to sign this');
      }
      await sign(signers);
      const shown = await Promise.all(signers.map(async (signer) => signer.fact('done', 'Transaction')));
      assert.equal(new Set(shown).size, 1);
      const final = Transaction.fromRaw(hexToBytes(shown[0]!));
      assert.equal(final.id, psbt.id);
      const outputKey = hexToBytes(await a.fact('address', 'Output key (BIP-86)'));
      const script = OutScript.encode({ type: 'tr', pubkey: outputKey });
      const amounts = [60_000n, 50_000n];
      amounts.forEach((_, i) => {
        const [signature, ...rest] = final.getInput(i).finalScriptWitness!;
        assert.deepEqual(rest, []);
        const hash = psbt.preimageWitnessV1(i, amounts.map(() => script), 0, amounts);
        assert.ok(schnorr.verify(signature!, hash, outputKey), `input ${i}`);
      });
      await screenshot(a.page, 'room-done');
    });
  });
});

browserTest('signers on separate machines exchange lines by copy and paste', async (browser) => {
  await served(async ({ origin }) => {
    await apart(browser, origin, async (a, b) => {
      // The bare key will do too.
      const [keyA, keyB] = [(await a.line('keys')).slice(-66), (await b.line('keys')).slice(-66)];
      await a.take('keys', keyB);
      await b.take('keys', await a.line('keys'));
      for (const signer of [a, b]) {
        await signer.hears('All keys are here');
        await signer.click('Make the address');
      }
      await a.proposeMessage('apart');
      await b.take('task', await a.line('task'));
      await b.hears('proposes a message');
      await b.click('Agree to sign this');
      await exchange('nonces', a, b);
      for (const signer of [a, b]) {
        await signer.click('Sign with your key');
      }
      await exchange('partials', a, b);
      for (const signer of [a, b]) {
        await signer.hears('Done: the signature is complete');
        await verifyMessage(signer, 'apart');
      }
      const keys = await a.page.locator('#keys-list code').allInnerTexts();
      assert.deepEqual(keys, [keyA, keyB].sort());
    });
  });
});

browserTest('the room explains wrong input next to the field, and says whose it is', async (browser) => {
  await served(async ({ origin }) => {
    await inContext(browser, {}, async (context) => {
      const page = await open(context, `${origin}/#view=room`);
      const button = page.getByRole('button', { name: 'Open the room' });
      await refused(page.getByRole('spinbutton', { name: 'Signers' }), '1', button, /Two to 15/);
      await page.getByRole('spinbutton', { name: 'Signers' }).fill('2');
      await refused(page.getByLabel('Name of the room'), 'a b', button, /A name has letters/);
      await page.getByLabel('Name of the room').fill('ab');
      await page.getByText('Use a secret key that you keep').click();
      await refused(page.getByLabel('Secret key'), '12', button, /2 hexadecimal digits instead of 64: 62 missing/);
      await refused(page.getByLabel('Secret key'), '0'.repeat(64), button, /no secret key/);
    });
    await apart(browser, origin, async (a, b) => {
      const key = (await b.line('keys')).slice(-66);
      await a.refuses('keys', '', /nothing here/);
      await a.refuses('keys', key.slice(1), /65 hexadecimal digits instead of 66: 1 missing/);
      await a.refuses('keys', `${key}00`, /2 too many/);
      await a.refuses('keys', key.replace(/.$/, 'g'), /not hexadecimal: “g” at place 66/);
      await a.refuses('keys', `05${key.slice(2)}`, /begins with 02 or 03, and this one with 05/);
      // No point of the curve has this x.
      await a.refuses('keys', `02${'0'.repeat(63)}5`, /names? no point of the curve/);
      await a.refuses('keys', await a.line('keys'), /your own public key/);
      await a.refuses('keys', 'https://example.com', /not a line of this page/);
      await a.refuses('keys', 'brontosig:secret:00', /cut off or damaged/);
      await a.refuses('keys', 'brontosig:nonce:00', /nonce is cut off: it has 1 of 4 parts/);
      await a.click('Make the address');
      await a.page.locator('#agree-error').getByText('1 of 2 keys is here').waitFor();

      await exchange('keys', a, b);
      for (const signer of [a, b]) {
        await signer.click('Make the address');
      }
      const message = a.page.getByLabel('Message', { exact: true });
      const propose = a.page.getByRole('button', { name: 'Propose and agree' });
      await refused(message, ' ', propose, /Type the message/);
      await a.page.getByLabel('a transaction').check();
      const psbt = a.page.getByLabel('PSBT', { exact: true });
      await refused(psbt, 'a PSBT!', propose, /neither base64 nor hexadecimal/);
      await refused(psbt, 'cHNidP8BA', propose, /base64 is cut off/);
      const foreign = new Transaction();
      const script = OutScript.encode({ type: 'tr', pubkey: schnorr.getPublicKey(new Uint8Array(32).fill(9)) });
      foreign.addInput({ txid: '11'.repeat(32), index: 0, witnessUtxo: { script, amount: 10_000n } });
      foreign.addOutput({ script, amount: 9_000n });
      await refused(psbt, Buffer.from(foreign.toPSBT()).toString('base64'), propose, /No unsigned input of this PSBT spends a coin of the address/);

      await a.page.getByLabel('a message').check();
      await a.proposeMessage('first');
      const task = await a.line('task');
      const [, , from, address] = task.split(':') as [string, string, string, string];
      await b.refuses('task', task.replace(address, '1'.repeat(64)), /for another address/);
      await b.refuses('task', task.replace(from, key.replace(/^0./, key.startsWith('02') ? '03' : '02')), /not among the signers/);
      await b.refuses('task', `${task}0`, /odd number/);
      await b.take('task', task);
      await b.click('Agree to sign this');

      const nonce = await a.line('nonces');
      const flipped = key.replace(/^0./, key.startsWith('02') ? '03' : '02');
      await b.refuses('nonces', await b.line('nonces'), /your own nonce/);
      await b.refuses('nonces', nonce.replace(from, flipped), /not among the signers/);
      await b.refuses('nonces', nonce.slice(0, -2), /nonce has 130 hexadecimal digits instead of 132: 2 missing/);
      await b.refuses('nonces', nonce.slice(-132), /Copy the whole line/);
      await b.refuses('nonces', nonce.replace(/.{130}$/, '0'.repeat(130)), /nonce of signer \d .*no points of the curve/);
      await b.refuses('nonces', nonce.replace(/nonce:(\w+):\w{16}/, 'nonce:$1:0123456789abcdef'), /another message or transaction/);
      await exchange('nonces', a, b);
      await a.click('Sign with your key');
      await b.click('Sign with your key');

      const partial = await b.line('partials');
      const wrong = partial.replace(/.$/, (digit) => (digit === '0' ? '1' : '0'));
      const [index] = /(\d) \(/.exec(await a.page.locator('#room-status').innerText()) ?? [];
      assert.ok(index);
      await a.refuses('partials', await a.line('partials'), /your own partial signature/);
      await a.refuses('partials', wrong, new RegExp(`signer ${index.slice(0, 1)} \\(${key.slice(0, 6)}….*does not verify`));
      await screenshot(a.page, 'room-wrong-partial');
      await a.take('partials', partial);
      await a.hears('Done');
      await verifyMessage(a, 'first');
    });
  });
});

browserTest('a tab that is loaded again comes back with the key that it kept', async (browser) => {
  await served(async ({ origin }) => {
    await inContext(browser, {}, async (context) => {
      const kept = '7'.repeat(64);
      const a = await SignerPage.join(context, origin, 'again', 2);
      const b = await SignerPage.join(context, origin, 'again', 2, kept);
      for (const signer of [a, b]) {
        await signer.hears('All keys are here');
        await signer.click('Make the address');
      }
      const address = await a.fact('address', 'Address');
      await b.proposeMessage('again');
      await a.hears('proposes a message');
      await a.click('Agree to sign this');
      await a.hears('All nonces are here');
      await a.click('Sign with your key');

      await b.page.reload();
      await a.hears('has left');
      await a.page.getByText('has closed its tab').waitFor();
      await b.page.getByText('Ready', { exact: true }).waitFor();
      await b.enter(kept);
      await b.hears('All keys are here');
      await b.click('Make the address');
      assert.equal(await b.fact('address', 'Address'), address);
      await b.click('Agree to sign this');
      // The nonce of before the reload is gone, so that all start over.
      await a.hears('has started over, so this is attempt 2');
      await sign([a, b]);
      await verifyMessage(a, 'again');
      await verifyMessage(b, 'again');
    });
  });
});

browserTest('a tab that is loaded again without its key is a new signer', async (browser) => {
  await served(async ({ origin }) => {
    await inContext(browser, {}, async (context) => {
      const [a, b] = (await joined(context, origin, 'lost', 2)) as [SignerPage, SignerPage];
      const address = await a.fact('address', 'Address');
      await b.page.reload();
      await b.page.getByText('Ready', { exact: true }).waitFor();
      await b.enter();
      await a.page.getByText('wants to join').waitFor();
      await a.click('Back to the keys');
      for (const signer of [a, b]) {
        await signer.hears('All keys are here');
        await signer.click('Make the address');
      }
      assert.notEqual(await a.fact('address', 'Address'), address);
      assert.equal(await b.fact('address', 'Address'), await a.fact('address', 'Address'));

      // A third tab is one too many, and says so.
      const c = await SignerPage.join(context, origin, 'lost', 2);
      await c.hears('3 keys are here, and 2 are to sign');
      await c.click('Make the address');
      await c.page.locator('#agree-error').getByText('3 keys are here, and 2 are to sign').waitFor();
      await c.page.getByRole('button', { name: /^Remove/ }).first().click();
      await c.hears('All keys are here');
      await c.click('Leave the room');
      await c.page.getByRole('heading', { name: 'Open a room' }).waitFor();
    });
  });
});

browserTest('a line is shown as a QR code, and a camera reads it', async (browser) => {
  await served(async ({ origin }) => {
    await inContext(browser, {}, async (one) => {
      const a = await SignerPage.join(one, origin, 'qr', 2);
      await a.click('QR code');
      const code = a.page.getByRole('img', { name: 'QR code of your public key' });
      const png = (await code.screenshot()).toString('base64');
      await inContext(browser, {}, async (other) => {
        // Chromium on Linux has no reader of its own. This one sees what the camera
        // sees, which is the picture of the other signer's screen.
        await other.exposeFunction('readCode', (width: number, height: number, data: number[]) => {
          try {
            return decodeQR({ width, height, data: Uint8Array.from(data) });
          } catch {
            return undefined;
          }
        });
        await other.addInitScript((picture) => {
          const canvas = document.createElement('canvas');
          canvas.width = canvas.height = 400;
          const context = canvas.getContext('2d')!;
          void createImageBitmap(new Blob([Uint8Array.from(atob(picture), (c) => c.charCodeAt(0))])).then((bitmap) => {
            setInterval(() => {
              context.fillStyle = '#fff';
              context.fillRect(0, 0, 400, 400);
              context.drawImage(bitmap, 40, 40);
            }, 50);
          });
          if (!('mediaDevices' in navigator)) {
            return; // the empty page that every tab begins with
          }
          navigator.mediaDevices.getUserMedia = async () => Promise.resolve(canvas.captureStream());
          const { readCode } = globalThis as unknown as {
            readCode: (width: number, height: number, data: number[]) => Promise<string | undefined>;
          };
          Object.assign(globalThis, {
            BarcodeDetector: class {
              async detect(video: HTMLVideoElement): Promise<{ rawValue: string }[]> {
                const seen = new OffscreenCanvas(video.videoWidth, video.videoHeight);
                const pen = seen.getContext('2d')!;
                pen.drawImage(video, 0, 0);
                const { data } = pen.getImageData(0, 0, seen.width, seen.height);
                const rawValue = await readCode(seen.width, seen.height, [...data]);
                return rawValue === undefined ? [] : [{ rawValue }];
              }
            },
          });
        }, png);
        const b = await SignerPage.join(other, origin, 'qr', 2);
        await b.click('Scan a QR code');
        await b.hears('All keys are here');
        const key = (await a.line('keys')).slice(-66);
        await b.page.locator('#keys-list').getByText(key).waitFor();

        // Without a camera it says so, and the field is still there.
        await b.page.evaluate(() => {
          navigator.mediaDevices.getUserMedia = async () => Promise.reject(new DOMException('Permission denied', 'NotAllowedError'));
        });
        await b.click('Scan a QR code');
        await b.page.getByText('The camera cannot be used (Permission denied). Paste the line instead.').waitFor();
        await b.click('Cancel');
        await b.page.getByRole('dialog').waitFor({ state: 'hidden' });
      });
    });
  });
});

browserTest('a signer gets through the room with the keyboard alone', async (browser) => {
  await served(async ({ origin }) => {
    await inContext(browser, {}, async (context) => {
      const other = await SignerPage.join(context, origin, 'keyboard', 2);
      const page = await open(context, `${origin}/#view=room&room=keyboard&signers=2`);
      const { keyboard } = page;
      const press = async (name: string): Promise<void> => {
        await tabTo(page.getByRole('button', { name, exact: true }));
        await keyboard.press('Enter');
      };
      const heading = async (name: string): Promise<void> => {
        const title = page.getByRole('heading', { name, exact: true });
        await title.waitFor();
        assert.equal(await title.evaluate((element) => element === document.activeElement), true, `the focus is on ${name}`);
      };
      // The first stop leads past the bar at the top.
      await keyboard.press('Tab');
      assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Skip to the content');
      await tabTo(page.getByLabel('Name of the room'));
      await keyboard.press('Enter');
      await heading('Public keys');
      await other.hears('All keys are here');
      await press('Make the address');
      await heading('Address');
      await other.click('Make the address');
      await tabTo(page.getByLabel('a message'));
      await keyboard.press('ArrowDown');
      assert.equal(await page.getByLabel('PSBT', { exact: true }).isVisible(), true);
      await press('Fill in an example');
      await press('Propose and agree');
      await heading('Nonces');
      await other.hears('proposes a PSBT');
      await other.click('Agree to sign this');
      await other.click('Sign with your key');
      await press('Sign with your key');
      await heading('Signature');
      await other.hears('Done');
      await press('Sign something else');
      await heading('What to sign');
    });
  });
});

browserTest('the room has no barrier that axe finds, in light and dark, on a desk and on a phone', async (browser) => {
  await served(async ({ origin }) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of [{ width: 1200, height: 800 }, phone]) {
        await inContext(browser, { colorScheme, viewport, reducedMotion: 'reduce' }, async (context) => {
          const name = `room-${colorScheme}-${viewport.width}`;
          const start = await open(context, `${origin}/#view=room`);
          await accessible(start);
          await screenshot(start, `${name}-start`);
          await start.close();
          const [a, b] = (await joined(context, origin, 'axe', 2)) as [SignerPage, SignerPage];
          await accessible(a.page);
          await b.proposeExample();
          await a.hears('proposes a PSBT');
          await accessible(a.page);
          await screenshot(a.page, `${name}-proposal`);
          if (colorScheme === 'light' && viewport !== phone) {
            await picture(a.page, 'wallet-light', 915);
          }
          await a.click('Agree to sign this');
          await a.hears('All nonces are here');
          await a.refuses('partials', 'nonsense', /not a line of this page/);
          await accessible(a.page);
          await screenshot(a.page, `${name}-error`);
          await sign([a, b]);
          await accessible(a.page);
          await screenshot(a.page, `${name}-done`);
        });
      }
    }
  });
});
