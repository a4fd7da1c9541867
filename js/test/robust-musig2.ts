import { readFileSync } from 'node:fs';

import { MAX_MESSAGE_SIZE, MAX_SIGNERS } from '../../dist/generated.js';
import type { Random } from './random.js';
import { join, type ExportName, type Raw } from './raw.js';

const NONE = new Uint8Array(0);
const ORDER = Uint8Array.from(
  Buffer.from('fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141', 'hex'),
);
/** The tweaks by their numbers at the boundary. */
const PLAIN = 0;
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

/** Makes calls of the MuSig2 exports, mostly good or nearly so. */
export class MuSig2World {
  readonly #raw: Raw;
  readonly #random: Random;
  readonly #cancelling = cancellingTweak();
  readonly #people: { secret: Uint8Array; key: Uint8Array }[];
  readonly #rooms: Room[] = [];
  readonly #nonces: { handle: number; key: Uint8Array }[] = [];

  constructor(raw: Raw, random: Random) {
    this.#raw = raw;
    this.#random = random;
    this.#people = Array.from({ length: 5 }, () => {
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
    const found = this.#nonces.map((nonce) => nonce.handle);
    for (const room of this.#rooms) {
      found.push(...this.#collectors(room));
      found.push(...room.signers.map((signer) => signer.context));
    }
    return found;
  }

  /** Disposes everything. */
  dispose(): void {
    for (const handle of this.handles()) {
      this.#raw.call('handle_dispose', NONE, handle);
    }
    this.#rooms.length = 0;
    this.#nonces.length = 0;
  }

  /** Makes nonces until there is no room, and returns their handles. */
  fill(): number[] {
    const made: number[] = [];
    for (;;) {
      const handle = this.#raw.call('musig2_nonce_new', this.#person().key, 0, 0, 0, 0);
      if (handle < 0) {
        return made;
      }
      made.push(handle);
    }
  }

  /** Returns a function that makes good calls of every export that makes an object, but for those of {@link fill}. */
  makeOneMore(): () => void {
    const raw = this.#raw;
    const room = this.#room();
    const { context } = room.signers[0]!;
    const keyless = this.#keylessContext();
    const encoded = raw.bytes('musig2_context_bytes', NONE, keyless) ?? NONE;
    raw.call('handle_dispose', NONE, keyless);
    return () => {
      this.#keylessContext();
      raw.call('musig2_context_parse', encoded, 0, -1);
      raw.call('musig2_session_new', NONE, context, 0, 0, 0);
      raw.call('musig2_coordinator_new', NONE, context);
    };
  }

  #person(): { secret: Uint8Array; key: Uint8Array } {
    return this.#random.pick(this.#people);
  }

  /** Makes a context of two signers without a secret key. */
  #keylessContext(): number {
    const keys = this.#people.slice(0, 2).map(({ key }) => key);
    return this.#raw.call('musig2_context_new', join(keys), keys.length, 1, 0, 0, -1);
  }

  /** Gives a message, seldom (one in `seldom` times) one that is too long. */
  #message(seldom = 200): Uint8Array {
    if (this.#random.oneIn(seldom)) {
      return new Uint8Array(MAX_MESSAGE_SIZE + 1);
    }
    return this.#random.bytes(this.#random.pick([0, 1, 32, 100]));
  }

  /** Changes, cuts or lengthens an input now and then. */
  #nearly(input: Uint8Array): Uint8Array {
    if (!this.#random.oneIn(8)) {
      return input;
    }
    switch (this.#random.below(3)) {
      case 0: {
        const changed = input.slice();
        if (changed.length > 0) {
          changed[this.#random.below(changed.length)] = this.#random.uint32();
        }
        return changed;
      }
      case 1:
        return input.slice(0, this.#random.below(input.length + 1));
      default:
        return join([input, this.#random.bytes(1)]);
    }
  }

  /** A handle, seldom a wrong one. */
  #handle(handle: number): number {
    if (!this.#random.oneIn(20)) {
      return handle;
    }
    return this.#random.pick([0, handle + (1 << 16), ...this.handles()]);
  }

  #index(signer: number): number {
    return this.#random.oneIn(20) ? this.#random.pick([9, -1, MAX_SIGNERS]) : signer;
  }

  #collectors(room: Room): number[] {
    return [...room.signers.map((signer) => signer.session), room.coordinator].filter(
      (handle) => handle !== undefined,
    );
  }

  #tweak(): Uint8Array {
    const value = this.#random.oneIn(20) ? ORDER : this.#random.bytes(32);
    const kind = this.#random.oneIn(20) ? TWEAK_KINDS : this.#random.below(TWEAK_KINDS);
    return join([Uint8Array.of(kind), value]);
  }

  /** A room with something left to do. */
  #room(): Room {
    const random = this.#random;
    if (this.#rooms.length < ROOMS) {
      const people = this.#people.slice(random.below(3)).slice(0, 1 + random.below(3));
      const keys = join(people.map(({ key }) => key));
      const signers = people.map(({ secret, key }, index) => ({
        secret,
        key,
        context: this.#raw.call('musig2_context_new', join([keys, secret]), people.length, 0, 0, 1, index),
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
        this.#raw.call('handle_dispose', NONE, handle);
      }
      this.#rooms.splice(this.#rooms.indexOf(room), 1);
      return this.#room();
    }
    return room;
  }

  /** A session or coordinator of a room, made if there is none. */
  #collector(room: Room): number {
    const found = this.#collectors(room);
    return found.length === 0 ? this.#coordinator(room) : this.#random.pick(found);
  }

  #coordinator(room: Room): number {
    room.coordinator ??= this.#raw.call(
      'musig2_coordinator_new',
      room.message,
      (room.signers[0]!).context,
    );
    return room.coordinator;
  }

  #session(room: Room): Signer & { session: number } {
    const signer = this.#random.pick(room.signers);
    if (signer.session === undefined) {
      const input = room.messageAtStart ? room.message : NONE;
      // A nonce that is made beforehand is not bound to a message.
      const nonce = this.#random.oneIn(2)
        ? this.#raw.call('musig2_nonce_new', signer.key, 0, 0, 0, 0)
        : 0;
      signer.session = this.#raw.call('musig2_session_new', input, signer.context, nonce, 0, input.length);
      if (nonce !== 0) {
        this.#raw.call('handle_dispose', NONE, nonce);
      }
      signer.publicNonce = this.#raw.bytes('musig2_session_public_nonce', NONE, signer.session);
    }
    return signer as Signer & { session: number };
  }

  /** Gives a collector all nonces, or a session the aggregate, so that it can go on. */
  #hurry(room: Room, collector: number): void {
    for (const [index, signer] of room.signers.entries()) {
      if (signer.publicNonce === undefined) {
        return;
      }
      this.#raw.call('musig2_add_nonce', signer.publicNonce, collector, index);
    }
    room.aggregate = this.#raw.bytes('musig2_aggregate_nonce', NONE, collector) ?? room.aggregate;
  }

  /** The exports of this area, each with a function that calls it at least once. */
  readonly exports = {
    public_key: (): void => {
      const secret = this.#random.oneIn(8) ? ORDER : this.#random.bytes(32);
      this.#raw.call('public_key', this.#nearly(secret));
    },
    musig2_sort_keys: (): void => {
      const keys = this.#people.map(({ key }) => key);
      const count = this.#random.oneIn(20) ? MAX_SIGNERS + 1 : keys.length;
      this.#raw.call('musig2_sort_keys', this.#nearly(join(keys)), count);
    },
    musig2_verify: (): void => {
      const input = join([this.#random.bytes(96), this.#message()]);
      this.#raw.call('musig2_verify', this.#nearly(input));
    },
    musig2_context_new: (): void => {
      const random = this.#random;
      let people = this.#people.slice(0, random.below(4));
      const tweaks = Array.from({ length: random.below(3) }, () => this.#tweak());
      let own = random.pick(this.#people.slice(0, 3));
      if (random.oneIn(10)) {
        const { key, tweak } = this.#cancelling;
        people = [{ key, secret: NONE }];
        tweaks.unshift(join([Uint8Array.of(PLAIN), tweak]));
      }
      const count = random.oneIn(20) ? MAX_SIGNERS + 1 : people.length;
      const withSecret = random.below(2);
      if (random.oneIn(20)) {
        own = { key: NONE, secret: ORDER };
      }
      const input = join([...people.map(({ key }) => key), ...tweaks, ...(withSecret ? [own.secret] : [])]);
      const index = random.pick([-1, -1, 0, 1, 9]);
      const context = this.#raw.call(
        'musig2_context_new',
        this.#nearly(input),
        count,
        random.below(2),
        random.oneIn(20) ? MAX_SIGNERS + 1 : tweaks.length,
        withSecret,
        index,
      );
      if (context >= 0) {
        this.#raw.call('handle_dispose', NONE, context);
      }
    },
    musig2_context_parse: (): void => {
      const random = this.#random;
      const room = this.#room();
      room.encoded ??= this.#raw.bytes('musig2_context_bytes', NONE, (room.signers[0]!).context);
      const withSecret = random.below(2);
      const secret = random.oneIn(10)
        ? ORDER
        : random.pick([...room.signers, ...this.#people]).secret;
      const input = join([...(withSecret ? [secret] : []), this.#nearly(room.encoded ?? NONE)]);
      const context = this.#raw.call(
        'musig2_context_parse',
        random.oneIn(20) ? input.slice(0, 20) : input,
        withSecret,
        random.pick([-1, -1, 0, 9]),
      );
      if (context >= 0) {
        this.#raw.call('handle_dispose', NONE, context);
      }
    },
    musig2_context_bytes: (): void => {
      const signer = this.#random.pick(this.#room().signers);
      this.#raw.call('musig2_context_bytes', this.#nearly(NONE), this.#handle(signer.context));
    },
    musig2_context_info: (): void => {
      const signer = this.#random.pick(this.#room().signers);
      this.#raw.call('musig2_context_info', this.#nearly(NONE), this.#handle(signer.context));
    },
    musig2_verify_partial: (): void => {
      const room = this.#room();
      const index = this.#random.below(room.signers.length);
      const signer = room.signers[index]!;
      const nonces = room.signers.map((s) => s.publicNonce ?? this.#random.bytes(66));
      this.#raw.call(
        'musig2_verify_partial',
        this.#nearly(join([signer.partial ?? this.#random.bytes(32), ...nonces, this.#random.oneIn(200) ? this.#message() : room.message])),
        this.#handle(signer.context),
        this.#index(index),
        this.#random.oneIn(20) ? this.#random.pick([0, MAX_SIGNERS + 1]) : nonces.length,
      );
    },
    musig2_deterministic_sign: (): void => {
      const room = this.#room();
      const signer = this.#random.pick(room.signers);
      const withRand = this.#random.below(2);
      const other = room.aggregate ?? signer.publicNonce ?? this.#random.bytes(66);
      const input = join([other, ...(withRand ? [this.#random.bytes(32)] : []), this.#message()]);
      let context = this.#handle(signer.context);
      const keyless = this.#random.oneIn(10);
      if (keyless) {
        context = this.#keylessContext();
      }
      this.#raw.call('musig2_deterministic_sign', this.#nearly(input), context, withRand);
      if (keyless) {
        this.#raw.call('handle_dispose', NONE, context);
      }
    },
    musig2_aggregate_nonces: (): void => {
      const nonces = this.#room().signers.map((s) => s.publicNonce ?? this.#random.bytes(66));
      const count = this.#random.oneIn(10) ? this.#random.pick([0, MAX_SIGNERS + 1]) : nonces.length;
      this.#raw.call('musig2_aggregate_nonces', count === 0 ? NONE : this.#nearly(join(nonces)), count);
    },
    musig2_nonce_new: (): void => {
      const random = this.#random;
      const person = this.#person();
      const withSecret = random.below(2);
      const secret = random.pick([person.secret, person.secret, ORDER, random.bytes(32)]);
      const withAggregate = Number(random.oneIn(10));
      const extra = random.bytes(random.below(2) * 20);
      const withMessage = random.below(2);
      const input = join([
        person.key,
        ...(withSecret ? [secret] : []),
        ...(withAggregate ? [random.bytes(32)] : []),
        extra,
        ...(withMessage ? [this.#message()] : []),
      ]);
      const handle = this.#raw.call(
        'musig2_nonce_new',
        this.#nearly(input),
        withSecret,
        withAggregate,
        random.oneIn(20) ? random.uint32() : extra.length,
        withMessage,
      );
      if (handle >= 0) {
        this.#nonces.push({ handle, key: person.key });
        if (this.#nonces.length > 10) {
          const oldest = this.#nonces.shift() as { handle: number };
          this.#raw.call('handle_dispose', NONE, oldest.handle);
        }
      }
    },
    musig2_nonce_public: (): void => {
      const handle = this.#nonces.length === 0 ? 0 : this.#random.pick(this.#nonces).handle;
      this.#raw.call('musig2_nonce_public', this.#nearly(NONE), this.#handle(handle));
    },
    musig2_session_new: (): void => {
      const random = this.#random;
      const room = this.#room();
      const signer = random.pick(room.signers);
      const extra = random.bytes(random.below(2) * 20);
      const withMessage = random.below(2);
      const own = this.#nonces.filter(({ key }) => key === signer.key || random.oneIn(10));
      const nonce = random.oneIn(2) && own.length > 0 ? random.pick(own).handle : 0;
      let context = this.#handle(signer.context);
      const keyless = random.oneIn(10);
      if (keyless) {
        context = this.#keylessContext();
      }
      const session = this.#raw.call(
        'musig2_session_new',
        this.#nearly(join([extra, ...(withMessage ? [this.#message(40)] : [])])),
        context,
        random.oneIn(20) ? random.uint32() : nonce,
        random.oneIn(20) ? random.uint32() : extra.length,
        withMessage,
      );
      if (session >= 0) {
        this.#raw.call('handle_dispose', NONE, session);
      }
      if (keyless) {
        this.#raw.call('handle_dispose', NONE, context);
      }
    },
    musig2_session_public_nonce: (): void => {
      const { session } = this.#session(this.#room());
      this.#raw.call('musig2_session_public_nonce', this.#nearly(NONE), this.#handle(session));
    },
    musig2_session_state: (): void => {
      const { session } = this.#session(this.#room());
      this.#raw.call('musig2_session_state', this.#nearly(NONE), this.#handle(session));
    },
    musig2_set_aggregate_nonce: (): void => {
      const room = this.#room();
      const { session, publicNonce } = this.#session(room);
      // The own nonce is no sum, but nobody can know as long as others are missing.
      const nonce = this.#random.oneIn(2) ? publicNonce : (room.aggregate ?? publicNonce);
      this.#raw.call('musig2_set_aggregate_nonce', this.#nearly(nonce ?? NONE), this.#handle(session));
    },
    musig2_sign: (): void => {
      const room = this.#room();
      const signer = this.#session(room);
      if (this.#random.oneIn(2)) {
        this.#hurry(room, signer.session);
      }
      const message = this.#random.oneIn(10) ? this.#message(10) : room.message;
      const withMessage = this.#random.below(4);
      const partial = this.#raw.bytes(
        'musig2_sign',
        this.#random.oneIn(20) ? this.#nearly(message) : withMessage ? message : NONE,
        this.#handle(signer.session),
        withMessage,
      );
      signer.partial ??= partial;
    },
    musig2_coordinator_new: (): void => {
      const room = this.#room();
      const context = this.#handle((room.signers[0]!).context);
      const handle = this.#raw.call('musig2_coordinator_new', this.#message(), context);
      if (handle >= 0) {
        this.#raw.call('handle_dispose', NONE, handle);
      }
    },
    musig2_add_nonce: (): void => {
      const room = this.#room();
      this.#session(room);
      const collector = this.#random.oneIn(2) ? this.#coordinator(room) : this.#collector(room);
      const index = this.#random.below(room.signers.length);
      const other = this.#random.oneIn(8) ? this.#random.pick(room.signers) : room.signers[index];
      const nonce = other?.publicNonce ?? this.#random.bytes(66);
      this.#raw.call('musig2_add_nonce', this.#nearly(nonce), this.#handle(collector), this.#index(index));
    },
    musig2_aggregate_nonce: (): void => {
      const room = this.#room();
      const collector = this.#collector(room);
      room.aggregate =
        this.#raw.bytes('musig2_aggregate_nonce', this.#nearly(NONE), this.#handle(collector)) ??
        room.aggregate;
    },
    musig2_add_partial: (): void => {
      const room = this.#room();
      const collector = this.#collector(room);
      if (this.#random.oneIn(4)) {
        this.#hurry(room, collector);
      }
      const index = this.#random.below(room.signers.length);
      const signer = room.signers[index]!;
      const partial = this.#random.oneIn(10) ? ORDER : (signer.partial ?? this.#random.bytes(32));
      this.#raw.call('musig2_add_partial', this.#nearly(partial), this.#handle(collector), this.#index(index));
    },
    musig2_finish: (): void => {
      const room = this.#room();
      const collector = this.#collector(room);
      if (this.#random.oneIn(2)) {
        this.#hurry(room, collector);
        for (const [index, { partial }] of room.signers.entries()) {
          if (partial !== undefined) {
            this.#raw.call('musig2_add_partial', partial, collector, index);
          }
        }
      }
      this.#raw.call('musig2_finish', this.#nearly(NONE), this.#handle(collector));
    },
    musig2_missing: (): void => {
      const collector = this.#collector(this.#room());
      this.#raw.call('musig2_missing', this.#nearly(NONE), this.#handle(collector), this.#random.below(3));
    },
  } satisfies Partial<Record<ExportName, () => void>>;
}
