import assert from 'node:assert/strict';
import type { Peer } from 'brontosig/lightning';
import { fromBase64, toBase64, type LndClient } from './examples.js';

/** The type of the messages: odd, and of the range that lnd leaves to applications. */
export const CUSTOM_TYPE = 40_001;

/** Makes the content of a message: of many lengths, up to the longest, and different each time. */
export type Pattern = (stream: number, index: number) => Uint8Array;

/** The type of messages that mean nothing. */
export const PROBE_TYPE = 40_003;

/** The streams of messages, each with contents of its own. */
export const FROM_US = 1;
export const FROM_LND = 2;

/** Refers to nothing outside of it, so that a page can have it too. */
export const pattern: Pattern = (stream, index) => {
  const length = index % 500 === 7 ? 65_533 : (index * 37) % 1_000;
  const bytes = new Uint8Array(length);
  let state = stream * 1_000_003 + index;
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
};

/**
 * Our half of an exchange: sends messages and checks those that arrive, both at
 * once. It refers to nothing outside of it either.
 */
export async function exchange(
  peer: Pick<Peer, 'send'>,
  incoming: AsyncIterator<{ type: number; payload: Uint8Array }>,
  make: Pattern,
  { type, count, from, out }: { type: number; count: number; from: number; out: number },
): Promise<void> {
  const sendAll = async (): Promise<void> => {
    for (let i = 0; i < count; i++) {
      await peer.send(type, make(out, i));
    }
  };
  const checkAll = async (): Promise<void> => {
    for (let i = 0; i < count; i++) {
      const next = await incoming.next();
      if (next.done === true) {
        throw new Error(`the connection ended after ${i} messages`);
      }
      const expected = make(from, i);
      const { type: found, payload } = next.value;
      if (found !== type || payload.length !== expected.length || payload.some((byte, at) => byte !== expected[at])) {
        throw new Error(`message ${i} is not what was sent`);
      }
    }
  };
  await Promise.all([sendAll(), checkAll()]);
}

/**
 * Subscribes to the messages of a peer that come to lnd, all of one type.
 *
 * @param probe - makes the peer send a message of another type, so that it can be
 * known when lnd has taken the subscription.
 */
export async function subscribe(
  lnd: LndClient,
  peer: string,
  signal: AbortSignal,
  probe: () => Promise<void>,
): Promise<AsyncIterableIterator<Uint8Array>> {
  const key = Buffer.from(peer, 'hex').toString('base64');
  const all = lnd.subscribe('/v1/custommessage/subscribe', signal);
  const first = all.next();
  const isPending = async (): Promise<boolean> => {
    await probe();
    return Promise.race([first.then(() => false), lnd.call('/v1/getinfo').then(() => true)]);
  };
  while (await isPending());
  return (async function* () {
    for await (const message of all) {
      if (message['peer'] === key && message['type'] === CUSTOM_TYPE) {
        yield fromBase64(message['data'] as string);
      }
    }
  })();
}

/** Lets lnd send a message to a peer. */
export async function sendByLnd(lnd: LndClient, peer: string, payload: Uint8Array): Promise<void> {
  const key = Buffer.from(peer, 'hex').toString('base64');
  await lnd.call('/v1/custommessage', { peer: key, type: CUSTOM_TYPE, data: toBase64(payload) });
}

/** lnd's half of an exchange with a peer, done while ours is. */
export async function exchangeByLnd(
  lnd: LndClient,
  peer: string,
  count: number,
  probe: () => Promise<void>,
  ours: () => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const messages = await subscribe(lnd, peer, ended.signal, probe);
  const sendAll = async (): Promise<void> => {
    for (let i = 0; i < count; i++) {
      await sendByLnd(lnd, peer, pattern(FROM_LND, i));
    }
  };
  const checkAll = async (): Promise<void> => {
    for (let i = 0; i < count; i++) {
      assert.deepEqual((await messages.next()).value, pattern(FROM_US, i));
    }
  };
  try {
    await Promise.all([ours(), sendAll(), checkAll()]);
  } finally {
    ended.abort();
  }
}

/** Feature bits that lnd sets as required, so that we must know them. */
export const LND_REQUIRES = [0, 8, 12, 14, 44];

/** Whether a feature bit is set in a big-endian bit map. */
export function hasFeature(map: Uint8Array, bit: number): boolean {
  return ((map.at(-1 - (bit >> 3)) ?? 0) & (1 << (bit & 7))) !== 0;
}

/** What lnd says of a peer, or undefined if it has no such peer. */
export async function listedPeer(lnd: LndClient, key: string): Promise<Record<string, unknown> | undefined> {
  const { peers } = (await lnd.call('/v1/peers')) as { peers: Record<string, unknown>[] };
  return peers.find((peer) => peer['pub_key'] === key);
}
