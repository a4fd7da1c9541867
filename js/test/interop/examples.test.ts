import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Address, OutScript } from '@scure/btc-signer';
import { init } from 'brontosig';
import { unusedPort } from '../connections.js';
import { confirm, matureCoins, mineUntilTaproot } from './chain.js';
import { examples, NETWORKS, Signer, taprootOutput } from './examples.js';
import { BtcdNode, LndNode, withBridge } from './nodes.js';
import { makeFolder, removeFolder, runNode } from './processes.js';
import { CUSTOM_TYPE, sendByLnd } from './traffic.js';

await init();

const example = (name: string): string => fileURLToPath(new URL(`node/${name}`, examples));

test('each example says how it is used', async () => {
  for (const [name, ...args] of [
    ['connect.mjs'],
    ['cosign-with-lnd.mjs', 'https://127.0.0.1:8080'],
    ['spend.mjs'],
    ['spend.mjs', 'address', 'file', 'no network'],
    ['spend.mjs', 'spend', 'file', 'address', 'no fee', 'coin:0'],
  ] as const) {
    const { code, stdout, stderr } = await runNode([example(name), ...args]);
    assert.equal(code, 2, stderr);
    assert.equal(stdout, '');
    assert.match(stderr, new RegExp(`^usage: node examples/node/${name} `));
  }
});

test('connect.mjs shows what lnd sends, and comes back to it', async () => {
  await LndNode.run(async (lnd) => {
    await withBridge(lnd.address, [], async (bridge) => {
      for (const way of [[], [bridge]]) {
        const child = spawn(process.execPath, [example('connect.mjs'), lnd.uri, ...way], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const closed = once(child, 'close');
        const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
        const line = async (pattern: RegExp): Promise<RegExpExecArray> => {
          for (;;) {
            const next = await lines.next();
            assert.ok(next.done !== true, `no ${String(pattern)}`);
            const found = pattern.exec(next.value);
            if (found !== null) {
              return found;
            }
          }
        };
        try {
          const [, key = ''] = await line(new RegExp(`^connected to ${lnd.nodeId} as (0[23][0-9a-f]{64})$`));
          await line(/^features [0-9a-f]+$/);
          await line(/^round trip \d+\.\d ms$/);
          await sendByLnd(lnd.client, key, new Uint8Array(7));
          await line(new RegExp(`^message of type ${CUSTOM_TYPE}, 7 bytes$`));
          await lnd.kill();
          await line(/^disconnected \(.+\), next attempt in \d+ ms$/);
          await lnd.start();
          await line(/^state open$/);
          await sendByLnd(lnd.client, key, new Uint8Array(8));
          await line(new RegExp(`^message of type ${CUSTOM_TYPE}, 8 bytes$`));
          child.kill('SIGINT');
          await line(/^state closed$/);
          assert.deepEqual(await closed, [0, null]);
        } finally {
          child.kill('SIGKILL');
        }
      }
    });
  });
});

test('cosign-with-lnd.mjs signs with a macaroon that may do nothing else', async () => {
  const text = await readFile(example('cosign-with-lnd.mjs'), 'utf8');
  const permissions = [...text.matchAll(/uri:(\S+)/g)].map(([, action]) => ({ entity: 'uri', action }));
  assert.equal(permissions.length, 5);
  await LndNode.run(async (lnd) => {
    const { macaroon } = await lnd.client.call('/v1/macaroon', { permissions });
    const file = lnd.file('cosign.macaroon');
    await writeFile(file, Buffer.from(macaroon as string, 'hex'));
    const args = [example('cosign-with-lnd.mjs'), lnd.url, lnd.certificateFile];
    const { code, stdout, stderr } = await runNode([...args, file, 'a text']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^signature +[0-9a-f]{128}\nvalid, and the same for both\n$/m);
    const refused = await runNode([...args, lnd.file('data', 'chain', 'bitcoin', 'simnet', 'readonly.macaroon')]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /LndError: .*permission denied/);
  });
});

test('spend.mjs spends what was paid to its address', async () => {
  const folder = makeFolder();
  const file = join(folder, 'keys.json');
  const made = await runNode([example('spend.mjs'), 'address', file, 'simnet']);
  assert.equal(made.code, 0, made.stderr);
  const address = made.stdout.trim();
  assert.match(address, /^sb1p[a-z0-9]{58}$/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const again = await runNode([example('spend.mjs'), 'address', file, 'simnet']);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /EEXIST/);

  const others = taprootOutput([new Signer()], NETWORKS.simnet);
  await BtcdNode.run([address, others.address!], async (btcd) => {
    const { rpc } = btcd;
    await mineUntilTaproot(rpc);
    const coins = await matureCoins(rpc, OutScript.encode(Address(NETWORKS.simnet).decode(address)));
    const outpoints = coins.slice(0, 2).map(({ txid, index }) => `${txid}:${index}`);
    const env = { BITCOIN_RPC: btcd.url, BITCOIN_RPC_CERT: btcd.certificateFile };
    const run = async (coin: readonly string[], changed = {}): ReturnType<typeof runNode> =>
      runNode([example('spend.mjs'), 'spend', file, others.address!, '1000', ...coin], { ...env, ...changed });

    const [foreign] = await matureCoins(rpc, others.script);
    const refused = await run([`${foreign!.txid}:0`]);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /does not belong to the three keys/);

    const absent = await run(outpoints, { BITCOIN_RPC: `https://user:password@127.0.0.1:${await unusedPort()}` });
    assert.equal(absent.code, 1);
    assert.match(absent.stderr, /ECONNREFUSED/);

    const spent = await run(outpoints);
    assert.equal(spent.code, 0, spent.stderr);
    await confirm(rpc, spent.stdout.trim());
    const twice = await run(outpoints);
    assert.equal(twice.code, 1);
    assert.match(twice.stderr, /does not exist or is spent/);
  });
  removeFolder(folder);
});
