import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import type { Page } from 'playwright-core';
import { unusedPort } from '../connections.js';
import { browserTest } from './chromium.js';
import { accessible, inContext, open, phone, picture, refused, screenshot, served, tabTo } from './wallet.js';

/** What Chromium itself logs when no WebSocket comes about. */
const noWebSocket = /WebSocket connection to .* failed/;

async function click(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name, exact: true }).click();
}

async function connected(page: Page): Promise<void> {
  await page.locator('#connection').getByText('Connected.', { exact: true }).waitFor();
}

/** Carries connections to a bridge, and can break them. */
class Proxy {
  readonly #sockets = new Set<Socket>();
  readonly #server;

  constructor(bridge: string) {
    const { hostname, port, host } = new URL(bridge);
    this.#server = createServer((socket) => {
      const onward = connect(Number(port), hostname);
      for (const [one, other] of [[socket, onward], [onward, socket]] as const) {
        this.#sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      }
      onward.pipe(socket);
      // The bridge refuses requests that name another host than it is.
      socket.once('data', (request: Buffer) => {
        onward.write(request.toString('latin1').replace(/^Host: .*$/im, `Host: ${host}`), 'latin1');
        socket.pipe(onward);
      });
    });
  }

  /** Listens on a port, by default any, and says on which. */
  async listen(port = 0): Promise<number> {
    this.#server.listen(port, '127.0.0.1');
    await once(this.#server, 'listening');
    return (this.#server.address() as AddressInfo).port;
  }

  /** Breaks every connection, and takes no more. */
  async stop(): Promise<void> {
    this.#server.close();
    this.#sockets.forEach((socket) => socket.destroy());
    await once(this.#server, 'close');
  }
}

browserTest('the console shows a node: handshake, features, pings, messages, commando', async (browser) => {
  await served(async (wallet) => {
    await inContext(browser, {}, async (context) => {
      const page = await open(context, wallet.console);
      const [nodeId = ''] = wallet.node.split('@');
      await click(page, 'Connect');
      await connected(page);
      const handshake = page.locator('#handshake li');
      for (const act of ['Act one sent, 50 bytes', 'Act two came, 50 bytes', 'Act three sent, 66 bytes', 'The node has proved its key']) {
        await handshake.filter({ hasText: act }).waitFor();
      }
      await page.locator('#peer-facts').getByText(nodeId).waitFor();
      await page.getByRole('row', { name: '1 option_data_loss_protect optional' }).waitFor();
      // It pings by itself, every two seconds, and on demand.
      await page.getByRole('img', { name: /last [2-9] of [2-9] pings\. Last: \d+\.\d ms, Median: .*Lost: 0 of/ }).waitFor();
      await page.getByLabel('Ping every two seconds').uncheck();
      const graph = page.getByRole('img', { name: /^Graph/ });
      const [, before = ''] = /of (\d+) pings/.exec((await graph.getAttribute('aria-label')) ?? '') ?? [];
      await click(page, 'Ping now');
      await page.getByRole('img', { name: new RegExp(`of ${Number(before) + 1} pings`) }).waitFor();

      // The peer of --demo sends a message of the custom range back.
      const log = page.getByRole('log');
      await page.getByLabel('Type', { exact: true }).fill('0x9001');
      await page.getByLabel('Payload', { exact: true }).fill('good day');
      await click(page, 'Send');
      for (const way of ['sent', 'came']) {
        await log.locator(`.${way}`).filter({ hasText: 'type 36865' }).filter({ hasText: '8 bytes: 676f6f6420646179 “good day”' }).waitFor();
      }
      await page.getByLabel('hexadecimal', { exact: true }).check();
      await page.getByLabel('Payload', { exact: true }).fill('00 ff');
      await click(page, 'Send');
      await log.locator('.came').filter({ hasText: '2 bytes: 00ff' }).waitFor();

      await click(page, 'Call');
      await page.getByText(/^getinfo was answered in \d+ ms/).waitFor();
      const reply = JSON.parse(await page.locator('#reply').innerText()) as { id: string };
      assert.equal(reply.id, nodeId);
      await screenshot(page, 'console');
      await click(page, 'Disconnect');
      await page.locator('#connection').getByText('Disconnected.').waitFor();
      await refused(page.getByLabel('Payload', { exact: true }), '00', page.getByRole('button', { name: 'Send' }), /Connect to a node first/);
    });
  });
});

browserTest('the console explains what is wrong next to the field', async (browser) => {
  await served(async (wallet) => {
    await inContext(
      browser,
      {},
      async (context) => {
        const page = await open(context, wallet.console);
        const [node, bridge] = [page.getByLabel('Node', { exact: true }), page.getByLabel('Bridge', { exact: true })];
        const button = page.getByRole('button', { name: 'Connect', exact: true });
        const [nodeId = '', address = ''] = wallet.node.split('@');
        await refused(node, 'nonsense', button, /key of 66 hexadecimal digits, an @/);
        await refused(node, `${nodeId.slice(2)}@${address}`, button, /has 64 digits; 66 are needed/);
        await refused(node, `${nodeId.slice(1)}x@${address}`, button, /not hexadecimal/);
        await refused(node, `${nodeId}@host:port`, button, /a host name or an IP address/);
        // 02…01 is a point of the curve, and not this node's key.
        await refused(node, `02${'0'.repeat(63)}1@${address}`, button, /uthentication failed.*key of another node/);
        await screenshot(page, 'console-wrong-key');
        await refused(node, `${nodeId}@192.0.2.1:9735`, button, /allow-list.*operator has to allow/);
        await node.fill(wallet.node);
        await refused(bridge, 'http://example.com', button, /begins with wss/);
        await refused(bridge, `ws://127.0.0.1:${await unusedPort()}`, button, /no WebSocket server.*Does the bridge run/i);
        await bridge.fill(wallet.bridge);
        await button.click();
        await connected(page);

        const send = page.getByRole('button', { name: 'Send' });
        const type = page.getByLabel('Type', { exact: true });
        await refused(type, '65536', send, /from 0 to 65535/);
        await refused(type, '18', send, /not sent/);
        await type.fill('32769');
        await page.getByLabel('hexadecimal', { exact: true }).check();
        const payload = page.getByLabel('Payload', { exact: true });
        await refused(payload, '0g', send, /not hexadecimal: “g” at place 2/);
        await refused(payload, '000', send, /odd number/);

        const call = page.getByRole('button', { name: 'Call' });
        const [method, params, rune] = [page.getByLabel('Method'), page.getByLabel('Parameters'), page.getByLabel('Rune')];
        await refused(method, '', call, /Name a method/);
        await refused(method, 'nothing', call, /Unknown command 'nothing' \(-32601\)/);
        await refused(method, 'fail', call, /this always fails \(205\)/);
        await method.fill('pattern');
        await refused(params, '{', call, /This is no JSON/);
        await refused(params, '3', call, /an object .* or a list/);
        await refused(params, '{"bytes":-1}', call, /a number up to/);
        await params.fill('{"bytes":5}');
        await refused(rune, '', call, /A rune is needed/);
        await refused(rune, 'wrong', call, /Invalid rune \(19537\)/);
        await rune.fill(wallet.rune);
        await call.click();
        await page.locator('#reply').getByText('"pattern": "00011"').waitFor();

        // An unknown even type makes the node hang up, and say so.
        await type.fill('32770');
        await payload.fill('');
        await send.click();
        await page.getByRole('log').locator('.came').filter({ hasText: 'warning' }).waitFor();
        await page.locator('#handshake').getByText(/The node has hung up|The connection broke/).waitFor();
        await page.locator('#notice, #connection[data-state="open"]').filter({ hasText: /\w/, visible: true }).waitFor();
      },
      noWebSocket,
    );
  });
});

browserTest('the console connects again when the bridge comes back', async (browser) => {
  await served(async (wallet) => {
    await inContext(
      browser,
      {},
      async (context) => {
        const first = new Proxy(wallet.bridge);
        const port = await first.listen();
        const page = await open(context, wallet.console);
        await page.getByLabel('Bridge', { exact: true }).fill(`ws://127.0.0.1:${port}`);
        await click(page, 'Connect');
        await connected(page);
        await first.stop();
        const connection = page.locator('#connection');
        await connection.getByText(/Attempt [1-9] to connect again follows in/).waitFor();
        await refused(page.getByLabel('Payload', { exact: true }), 'x', page.getByRole('button', { name: 'Send' }), /Wait until the connection/);
        await connection.getByText(/Attempt [2-9]/).waitFor();
        await page.locator('#handshake').getByText('The connection broke').first().waitFor();
        const second = new Proxy(wallet.bridge);
        await second.listen(port);
        await connected(page);
        await click(page, 'Call');
        await page.getByText(/^getinfo was answered/).waitFor();

        // Without the option, that is the end.
        await click(page, 'Disconnect');
        await page.getByLabel('Connect again').uncheck();
        await click(page, 'Connect');
        await connected(page);
        await second.stop();
        await page.locator('#connection').getByText('The connection has ended.').waitFor();
        await page.locator('#notice').filter({ hasText: /\w/ }).waitFor();
        await page.getByRole('button', { name: 'Connect', exact: true }).waitFor();
      },
      noWebSocket,
    );
  });
});

browserTest('the console is used with the keyboard alone', async (browser) => {
  await served(async (wallet) => {
    await inContext(browser, {}, async (context) => {
      const page = await open(context, wallet.origin);
      await tabTo(page.getByRole('link', { name: 'Node' }));
      await page.keyboard.press('Enter');
      const title = page.getByRole('heading', { name: 'Node console' });
      await title.waitFor();
      assert.equal(await title.evaluate((element) => element === document.activeElement), true, 'the focus is on the title');
      for (const [name, value] of [['Node', wallet.node], ['Bridge', wallet.bridge]] as const) {
        await tabTo(page.getByLabel(name, { exact: true }));
        await page.keyboard.insertText(value);
      }
      await page.keyboard.press('Enter');
      await connected(page);
      await tabTo(page.getByRole('button', { name: 'Send' }));
      await page.keyboard.press('Enter');
      await page.getByRole('log').locator('.came').waitFor();
      await tabTo(page.getByLabel('Rune'));
      await page.keyboard.insertText(wallet.rune);
      await page.keyboard.press('Enter');
      await page.getByText(/^getinfo was answered/).waitFor();
      await tabTo(page.getByRole('button', { name: 'Disconnect' }));
      await page.keyboard.press('Enter');
      await page.locator('#connection').getByText('Disconnected.').waitFor();
      const connect = page.getByRole('button', { name: 'Connect', exact: true });
      assert.equal(await connect.evaluate((element) => element === document.activeElement), true, 'the focus is on Connect');
    });
  });
});

browserTest('the console has no barrier that axe finds, in light and dark, on a desk and on a phone', async (browser) => {
  await served(async (wallet) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      for (const viewport of [{ width: 1200, height: 800 }, phone]) {
        await inContext(browser, { colorScheme, viewport, reducedMotion: 'reduce' }, async (context) => {
          const page = await open(context, wallet.console);
          await accessible(page);
          await click(page, 'Connect');
          await connected(page);
          await click(page, 'Send');
          await page.getByRole('log').locator('.came').waitFor();
          await click(page, 'Call');
          await page.getByText(/^getinfo was answered/).waitFor();
          await refused(page.getByLabel('Parameters'), '{', page.getByRole('button', { name: 'Call' }), /no JSON/);
          await accessible(page);
          await screenshot(page, `console-${colorScheme}-${viewport.width}`);
          if (colorScheme === 'dark' && viewport !== phone) {
            // A curve, where the picture is for the documents.
            const pings = process.env['PICTURES'] === undefined ? 2 : 15;
            await page.getByRole('img', { name: new RegExp(`last ${pings} of`) }).waitFor({ timeout: 60_000 });
            await picture(page, 'console-dark', 1000);
          }
        });
      }
    }
  });
});
