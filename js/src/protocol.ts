import {
  ANY_PONG,
  CHAIN_HASH_SIZE,
  CHANNEL_ID_SIZE,
  PEER_EVENTS,
} from './generated.js';
import { Handle, handleOf } from './handle.js';
import { pieces } from './musig2-check.js';
import { call, output } from './runtime.js';
import type { Timing } from './timing.js';

/** What the other side said in its init message (BOLT-1). */
export interface RemoteInit {
  /** The features, a big-endian bit map. */
  readonly features: Uint8Array;
  /** The chain hashes of the networks that it named, 32 bytes each. */
  readonly networks: readonly Uint8Array[];
  /** The own address as the other side sees it (BOLT-7's address descriptor); may be empty. */
  readonly remoteAddress: Uint8Array;
}

/** A message of a type that the peer layer does not handle itself. */
export interface Message {
  /** The type, 0 to 65,535. */
  readonly type: number;
  /** What follows the type. */
  readonly payload: Uint8Array;
}

/** A warning or an error of the other side. */
export interface Notice {
  /** The channel that it is about, 32 bytes; all zeros for none or all. */
  readonly channelId: Uint8Array;
  /** Its text, printable ASCII: other bytes, and the backslash, are written as \x and two digits. */
  readonly text: string;
}

/** What a {@link Protocol} is told once, checked. */
export interface ProtocolSettings {
  readonly features: readonly number[] | undefined;
  readonly knownFeatures: readonly number[];
  readonly networks: readonly Uint8Array[];
  /** Times in milliseconds; undefined for no keepalive. */
  readonly keepalive: { readonly intervalMs: number; readonly timeoutMs: number } | undefined;
}

/** What a message of the other side means. */
export type Event =
  | { readonly name: 'none' | 'failure' }
  | { readonly name: 'init'; readonly init: RemoteInit }
  | { readonly name: 'message'; readonly message: Message }
  | { readonly name: 'pong'; readonly ping: number }
  | { readonly name: 'warning' | 'error'; readonly notice: Notice }
  | { readonly name: 'reply'; readonly call: bigint; readonly last: boolean; readonly part: Uint8Array }
  | { readonly name: 'replyTooLong'; readonly call: bigint };

/** What {@link Protocol.receive} returns. */
export interface Received {
  readonly event: Event;
  /** To be sent, unless it is empty. After the event `failure` the next call throws what was wrong. */
  readonly reply: Uint8Array;
}

/** BOLT-1 and commando on one connection, in the wasm module. It does no input or output. */
export class Protocol extends Handle {
  readonly #timing: Timing;

  constructor(settings: ProtocolSettings, timing: Timing) {
    const features = settings.features === undefined ? undefined : featureBytes(settings.features);
    const known = settings.knownFeatures.map((bit) => Uint8Array.of(bit & 0xff, bit >> 8));
    super(
      call(
        'lnpeer_new',
        [features ?? new Uint8Array(), ...known, ...settings.networks],
        features === undefined ? 0 : 1,
        features?.length ?? 0,
        known.length,
        settings.networks.length,
        settings.keepalive?.intervalMs ?? 0,
        settings.keepalive?.timeoutMs ?? 0,
      ),
    );
    this.#timing = timing;
  }

  /** The lower 32 bits of the time: the module counts on. */
  #now(): number {
    return Math.floor(this.#timing.now()) % 2 ** 32;
  }

  /** The own init message. */
  start(): Uint8Array<ArrayBuffer> {
    return output(call('lnpeer_start', [], handleOf(this)));
  }

  /** Takes a message of the other side. */
  receive(message: Uint8Array): Received {
    const all = output(call('lnpeer_receive', [message], handleOf(this), this.#now()));
    const [reply, rest] = cut(all, 1);
    return { event: eventOf(PEER_EVENTS[all[0] ?? 0] ?? 'none', rest), reply };
  }

  /** Makes a message to send. */
  message(type: number, payload: Uint8Array): Uint8Array<ArrayBuffer> {
    return output(call('lnpeer_message', [payload], handleOf(this), this.#now(), type));
  }

  /** Milliseconds until a ping may be sent. */
  pingDelay(): number {
    return call('lnpeer_ping_delay', [], handleOf(this), this.#now());
  }

  /** Makes a ping. Without `pongBytes` it asks for a number of bytes that tells it apart. */
  ping(pongBytes: number | undefined, padding: number): { readonly ping: number; readonly message: Uint8Array } {
    const all = output(call('lnpeer_ping', [], handleOf(this), this.#now(), pongBytes ?? ANY_PONG, padding));
    return { ping: new DataView(all.buffer).getUint32(0, true), message: all.subarray(4) };
  }

  /** Says that nobody waits for the answer to a ping any more. */
  abandonPing(ping: number): void {
    call('lnpeer_abandon_ping', [], handleOf(this), ping);
  }

  /**
   * Says in how many milliseconds the keepalive wants to be asked again, and what to send now.
   *
   * @throws BrontosigError PEER_SILENT.
   */
  poll(): { readonly wait: number; readonly ping: Uint8Array } {
    const all = output(call('lnpeer_poll', [], handleOf(this), this.#now()));
    return { wait: new DataView(all.buffer).getUint32(0, true), ping: all.subarray(4) };
  }

  /** Notes that the link has taken a message that had to wait. */
  drained(): void {
    call('lnpeer_drained', [], handleOf(this), this.#now());
  }

  /** Begins a commando call. */
  call(request: Uint8Array, maxReply: number): { readonly call: bigint; readonly messages: readonly Uint8Array[] } {
    const all = output(call('lnpeer_call', [request], handleOf(this), this.#now(), maxReply));
    const messages: Uint8Array[] = [];
    for (let at = 8; at < all.length; ) {
      const [message] = cut(all, at);
      messages.push(message);
      at += 4 + message.length;
    }
    return { call: new DataView(all.buffer).getBigUint64(0, true), messages };
  }

  /** Gives a commando call up. */
  endCall(number: bigint): void {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, number, true);
    call('lnpeer_end_call', [bytes], handleOf(this));
  }
}

/** Takes a part that has its length before it from a place on. */
function cut(joined: Uint8Array<ArrayBuffer>, at: number): [part: Uint8Array<ArrayBuffer>, rest: Uint8Array<ArrayBuffer>] {
  const end = at + 4 + new DataView(joined.buffer, joined.byteOffset).getUint32(at, true);
  return [joined.subarray(at + 4, end), joined.subarray(end)];
}

/** Reads what an event tells. What an application gets owns its bytes. */
function eventOf(name: (typeof PEER_EVENTS)[number], rest: Uint8Array<ArrayBuffer>): Event {
  const view = new DataView(rest.buffer, rest.byteOffset);
  switch (name) {
    case 'init': {
      const [features, more] = cut(rest, 0);
      const [networks, remoteAddress] = cut(more, 0);
      return {
        name,
        init: {
          features: features.slice(),
          networks: pieces(networks, CHAIN_HASH_SIZE),
          remoteAddress: remoteAddress.slice(),
        },
      };
    }
    case 'message':
      return { name, message: { type: view.getUint16(0, true), payload: rest.slice(2) } };
    case 'pong':
      return { name, ping: view.getUint32(0, true) };
    case 'warning':
    case 'error': {
      const text = new TextDecoder().decode(rest.subarray(CHANNEL_ID_SIZE));
      return { name, notice: { channelId: rest.slice(0, CHANNEL_ID_SIZE), text } };
    }
    case 'reply':
      return { name, call: view.getBigUint64(0, true), last: rest[8] === 1, part: rest.subarray(9) };
    case 'replyTooLong':
      return { name, call: view.getBigUint64(0, true) };
    case 'failure':
    case 'none':
      return { name };
  }
}

/** Writes feature bits as the big-endian bit map of BOLT-9. */
function featureBytes(bits: readonly number[]): Uint8Array {
  const map = new Uint8Array(bits.length === 0 ? 0 : (Math.max(...bits) >> 3) + 1);
  for (const bit of bits) {
    const at = map.length - 1 - (bit >> 3);
    map[at] = (map[at] ?? 0) | (1 << (bit & 7));
  }
  return map;
}
