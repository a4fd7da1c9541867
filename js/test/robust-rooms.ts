import { readFileSync } from 'node:fs';

import { MAX_MESSAGE_SIZE, MAX_SIGNERS } from '../../dist/generated.js';
import type { Random } from './random.js';
import { join, type Raw } from './raw.js';

/** No bytes. */
export const NONE = new Uint8Array(0);
/** The order of the group. */
export const ORDER = Uint8Array.from(
  Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex'),
);
/** The number of a plain tweak at the boundary. */
export const PLAIN = 0;
const TWEAK_KINDS = 4;

/** Reads the figures of a key and a plain tweak that add up to nothing. */
function cancellingTweak(): { key: Uint8Array; tweak: Uint8Array } {
  const file = new URL('../../testdata/bip327.json', import.meta.url);
  const { cases } = JSON.parse(readFileSync(file, 'utf8')) as {
    cases: { name: string; publicKeys?: string[]; tweaks?: { tweak: string }[] }[];
  };
  const found = cases.find(({ name }) => name === 'a tweak that cancels the only key');
  const [key, tweak] = [found?.publicKeys?.[0], found?.tweaks?.[0]?.tweak];
  if (key === undefined || tweak === undefined) {
    throw new Error('bip327.json has no tweak that cancels a key');
  }
  return { key: Buffer.from(key, 'hex'), tweak: Buffer.from(tweak, 'hex') };
}

/** A signer of a room: what its own device would know. */
interface Signer {
  readonly secret: Uint8Array;
  readonly key: Uint8Array;
  readonly context: number;
  session?: number | undefined;
  publicNonce?: Uint8Array | undefined;
  partial?: Uint8Array | undefined;
}

/** Some signers and a coordinator who sign one message together. */
interface Room {
  readonly signers: Signer[];
  readonly message: Uint8Array;
  /** Whether the sessions know the message from the start. */
  readonly messageAtStart: boolean;
  coordinator?: number | undefined;
  aggregate?: Uint8Array | undefined;
  encoded?: Uint8Array | undefined;
  uses: number;
}

/** A room is left after so many uses, signed or not. */
const ROOM_USES = 60;
const ROOMS = 4;

/** The objects and bytes that calls of the MuSig2 exports are made of. */
export class Rooms {
  protected readonly raw: Raw;
  protected readonly random: Random;
  protected readonly cancelling = cancellingTweak();
  protected readonly people: { secret: Uint8Array; key: Uint8Array }[];
  readonly #rooms: Room[] = [];
  protected readonly nonces: { handle: number; key: Uint8Array }[] = [];

  constructor(raw: Raw, random: Random) {
    this.raw = raw;
    this.random = random;
    this.people = Array.from({ length: 5 }, () => {
      const secret = random.bytes(32);
      const key = raw.bytes('public_key', secret);
      if (key === undefined) {
        throw new Error('a secret key was refused');
      }
      return { secret, key };
    });
  }

  /** The handles that are alive. */
  handles(): number[] {
    const found = this.nonces.map((nonce) => nonce.handle);
    for (const room of this.#rooms) {
      found.push(...this.#collectors(room));
      found.push(...room.signers.map((signer) => signer.context));
    }
    return found;
  }

  /** Disposes everything. */
  dispose(): void {
    for (const handle of this.handles()) {
      this.raw.call('handle_dispose', NONE, handle);
    }
    this.#rooms.length = 0;
    this.nonces.length = 0;
  }

  /** Makes nonces until there is no room, and returns their handles. */
  fill(): number[] {
    const made: number[] = [];
    for (;;) {
      const handle = this.raw.call('musig2_nonce_new', this.person().key, 0, 0, 0, 0);
      if (handle < 0) {
        return made;
      }
      made.push(handle);
    }
  }

  /** Returns a function that makes good calls of every export that makes an object, but for those of {@link fill}. */
  makeOneMore(): () => void {
    const raw = this.raw;
    const room = this.room();
    const { context } = room.signers[0]!;
    const keyless = this.keylessContext();
    const encoded = raw.bytes('musig2_context_bytes', NONE, keyless) ?? NONE;
    raw.call('handle_dispose', NONE, keyless);
    return () => {
      this.keylessContext();
      raw.call('musig2_context_parse', encoded, 0, -1);
      raw.call('musig2_session_new', NONE, context, 0, 0, 0);
      raw.call('musig2_coordinator_new', NONE, context);
    };
  }

  protected person(): { secret: Uint8Array; key: Uint8Array } {
    return this.random.pick(this.people);
  }

  /** Makes a context of two signers without a secret key. */
  protected keylessContext(): number {
    const keys = this.people.slice(0, 2).map(({ key }) => key);
    return this.raw.call('musig2_context_new', join(keys), keys.length, 1, 0, 0, -1);
  }

  /** Gives a message, seldom (one in `seldom` times) one that is too long. */
  protected message(seldom = 200): Uint8Array {
    if (this.random.oneIn(seldom)) {
      return new Uint8Array(MAX_MESSAGE_SIZE + 1);
    }
    return this.random.bytes(this.random.pick([0, 1, 32, 100]));
  }

  /** Changes, cuts or lengthens an input now and then. */
  protected nearly(input: Uint8Array): Uint8Array {
    if (!this.random.oneIn(8)) {
      return input;
    }
    switch (this.random.below(3)) {
      case 0: {
        const changed = input.slice();
        if (changed.length > 0) {
          changed[this.random.below(changed.length)] = this.random.uint32();
        }
        return changed;
      }
      case 1:
        return input.slice(0, this.random.below(input.length + 1));
      default:
        return join([input, this.random.bytes(1)]);
    }
  }

  /** A handle, seldom a wrong one. */
  protected handle(handle: number): number {
    if (!this.random.oneIn(20)) {
      return handle;
    }
    return this.random.pick([0, handle + (1 << 16), ...this.handles()]);
  }

  protected index(signer: number): number {
    return this.random.oneIn(20) ? this.random.pick([9, -1, MAX_SIGNERS]) : signer;
  }

  #collectors(room: Room): number[] {
    return [...room.signers.map((signer) => signer.session), room.coordinator].filter(
      (handle) => handle !== undefined,
    );
  }

  protected tweak(): Uint8Array {
    const value = this.random.oneIn(20) ? ORDER : this.random.bytes(32);
    const kind = this.random.oneIn(20) ? TWEAK_KINDS : this.random.below(TWEAK_KINDS);
    return join([Uint8Array.of(kind), value]);
  }

  /** A room with something left to do. */
  protected room(): Room {
    const random = this.random;
    if (this.#rooms.length < ROOMS) {
      const people = this.people.slice(random.below(3)).slice(0, 1 + random.below(3));
      const keys = join(people.map(({ key }) => key));
      const signers = people.map(({ secret, key }, index) => ({
        secret,
        key,
        context: this.raw.call('musig2_context_new', join([keys, secret]), people.length, 0, 0, 1, index),
      }));
      this.#rooms.push({
        signers,
        message: random.bytes(32),
        messageAtStart: random.oneIn(2),
        uses: 0,
      });
    }
    const room = random.pick(this.#rooms);
    if (++room.uses > ROOM_USES) {
      for (const handle of [...this.#collectors(room), ...room.signers.map((s) => s.context)]) {
        this.raw.call('handle_dispose', NONE, handle);
      }
      this.#rooms.splice(this.#rooms.indexOf(room), 1);
      return this.room();
    }
    return room;
  }

  /** A session or coordinator of a room, made if there is none. */
  protected collector(room: Room): number {
    const found = this.#collectors(room);
    return found.length === 0 ? this.coordinator(room) : this.random.pick(found);
  }

  protected coordinator(room: Room): number {
    room.coordinator ??= this.raw.call(
      'musig2_coordinator_new',
      room.message,
      (room.signers[0]!).context,
    );
    return room.coordinator;
  }

  protected session(room: Room): Signer & { session: number } {
    const signer = this.random.pick(room.signers);
    if (signer.session === undefined) {
      const input = room.messageAtStart ? room.message : NONE;
      // A nonce that is made beforehand is bound to the message, or to none.
      const bound = this.random.below(2);
      const nonceInput = join([signer.key, bound ? room.message : NONE]);
      const nonce = this.random.oneIn(2)
        ? this.raw.call('musig2_nonce_new', nonceInput, 0, 0, 0, bound)
        : 0;
      signer.session = this.raw.call('musig2_session_new', input, signer.context, nonce, 0, input.length);
      if (nonce !== 0) {
        this.raw.call('handle_dispose', NONE, nonce);
      }
      signer.publicNonce = this.raw.bytes('musig2_session_public_nonce', NONE, signer.session);
    }
    return signer as Signer & { session: number };
  }

  /** Gives a collector all nonces, or a session the aggregate, so that it can go on. */
  protected hurry(room: Room, collector: number): void {
    for (const [index, signer] of room.signers.entries()) {
      if (signer.publicNonce === undefined) {
        return;
      }
      this.raw.call('musig2_add_nonce', signer.publicNonce, collector, index);
    }
    room.aggregate = this.raw.bytes('musig2_aggregate_nonce', NONE, collector) ?? room.aggregate;
  }
}
