import assert from 'node:assert/strict';

import { init, type BrontosigError } from 'brontosig';
import { accept, connect, type TransportClose } from 'brontosig/brontide';
import { Context, Nonce, publicKey, verify } from 'brontosig/musig2';

import { transportPair } from './connections.js';
import { isolated } from './isolated.js';
import { meet } from './meet.js';
import { captureInstance } from './raw.js';

const SECRET = new Uint8Array(32).fill(7);

/** Signs alone, with everything that signing needs. */
function sign(): void {
  const context = new Context({ publicKeys: [publicKey(SECRET)], sort: false, secretKey: SECRET });
  const message = new Uint8Array(32);
  const session = context.newSession({ message });
  session.sign();
  assert.ok(verify(session.finish(), message, context.outputKey));
  session.dispose();
  context.dispose();
}

/** Makes one object of each class. */
function makeObjects(): { context: Context; nonce: Nonce } {
  const key = publicKey(SECRET);
  return {
    context: new Context({ publicKeys: [key], sort: false, secretKey: SECRET }),
    nonce: new Nonce({ publicKey: key }),
  };
}

/** Has the instance end in the middle of a call. */
function loseInstance(): void {
  const { context } = makeObjects();
  const real = crypto.getRandomValues.bind(crypto);
  const broken = new Error('no entropy');
  // The source gives the wrapper too few bytes, and fails when the module itself asks.
  crypto.getRandomValues = <T extends ArrayBufferView>(array: T): T => {
    if (array.byteLength < array.buffer.byteLength) {
      throw broken;
    }
    return real(new Uint8Array(1)) as never;
  };
  assert.throws(
    () => context.newSession(),
    (error: BrontosigError) => error.code === 'INSTANCE_LOST' && error.cause === broken,
  );
  crypto.getRandomValues = real;
}

/** Checks that nothing works, and that it does again after another init(). */
async function recovers(old: { context: Context; nonce: Nonce }): Promise<void> {
  const lost = { name: 'BrontosigError', code: 'INSTANCE_LOST' };
  assert.throws(() => old.context.newSession(), lost);
  assert.throws(() => old.nonce.publicNonce, lost);
  assert.throws(() => publicKey(SECRET), lost);
  old.nonce.dispose();

  await init();
  // Handles start again from the first, so the new context has the old one's.
  const { context } = makeObjects();
  assert.throws(() => old.context.newSession(), lost);
  assert.throws(() => old.nonce.publicNonce, { code: 'DISPOSED' });
  old.context.dispose();
  context.newSession().dispose();
  sign();
}

isolated(import.meta.url, {
  'an exception of the host that leaves an export ends the instance': async () => {
    await init();
    const old = makeObjects();
    loseInstance();
    await recovers(old);
  },

  'connections of an instance that ended end without a rejection that nobody handles': async () => {
    await init();
    const [near, far] = transportPair();
    let close: ((how: TransportClose) => void) | undefined;
    const closed = new Promise<TransportClose>((resolve) => {
      close = resolve;
    });
    const accepting = accept(far, { secretKey: SECRET });
    const connection = await connect({ ...near, closed }, { nodeId: publicKey(SECRET) });
    const other = await accepting;
    const { peer } = await meet();
    loseInstance();
    close?.({ reason: 'over' });
    assert.equal((await connection.closed).reason, 'over');
    await assert.rejects(connection[Symbol.asyncIterator]().next(), { code: 'INSTANCE_LOST' });
    await assert.rejects(other.send(new Uint8Array(1)), { code: 'INSTANCE_LOST' });
    await other.close();
    await assert.rejects(peer.ping(), { code: 'INSTANCE_LOST' });
    await peer.close();
    assert.equal((await peer.closed).error?.code, undefined);
    await init();
    sign();
  },

  'a stack that overflows inside the module ends the instance': async () => {
    await init();
    const old = makeObjects();
    const found = { lost: false };
    /** Calls itself until the stack is full, then signs from ever less deep. */
    function descend(): boolean {
      try {
        if (descend()) {
          return true;
        }
      } catch {
        // Here is the bottom, or a level above it where nothing fits either.
      }
      try {
        sign();
        return true;
      } catch (error) {
        found.lost = (error as { code?: unknown }).code === 'INSTANCE_LOST';
        if (!found.lost && !(error instanceof RangeError)) {
          throw error;
        }
        return found.lost;
      }
    }
    // Where the stack ends depends on what the engine has compiled so far. An
    // overflow in the wrapper's own code must do no harm, so the search goes on.
    for (let attempt = 0; !found.lost && attempt < 100; attempt++) {
      sign();
      assert.ok(descend());
    }
    assert.ok(found.lost, 'no overflow happened inside the module');
    await recovers(old);
  },

  'a program that runs out of memory ends the instance': async () => {
    const { error } = console;
    const written: unknown[] = [];
    console.error = (line: unknown) => written.push(line);
    const { exports } = await captureInstance(init);
    const old = makeObjects();
    const memory = exports['mem'] as WebAssembly.Memory;
    // What the page has taken, Go cannot have. It gets a last piece, in one
    // call, because only then does its runtime notice that memory has moved.
    memory.grow(65536 - memory.buffer.byteLength / 65536 - 512);
    const message = new Uint8Array(16 << 20);
    assert.equal(verify(new Uint8Array(64), message, new Uint8Array(32)), false);
    assert.throws(() => {
      for (;;) {
        new Nonce({ publicKey: publicKey(SECRET), message });
      }
    }, { code: 'INSTANCE_LOST' });
    console.error = error;
    assert.match(written.join('\n'), /out of memory/);
    await recovers(old);
  },
});
