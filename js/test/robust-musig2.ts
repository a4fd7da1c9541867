import { MAX_SIGNERS } from '../../dist/generated.js';
import { join, type ExportName } from './raw.js';
import { NONE, ORDER, PLAIN, Rooms } from './robust-rooms.js';

/** Makes calls of the MuSig2 exports, mostly good or nearly so. */
export class MuSig2World extends Rooms {
  /** The exports of this area, each with a function that calls it at least once. */
  readonly exports = {
    public_key: (): void => {
      const secret = this.random.oneIn(8) ? ORDER : this.random.bytes(32);
      this.raw.call('public_key', this.nearly(secret));
    },
    musig2_sort_keys: (): void => {
      const keys = this.people.map(({ key }) => key);
      const count = this.random.oneIn(20) ? MAX_SIGNERS + 1 : keys.length;
      this.raw.call('musig2_sort_keys', this.nearly(join(keys)), count);
    },
    musig2_verify: (): void => {
      const input = join([this.random.bytes(96), this.message()]);
      this.raw.call('musig2_verify', this.nearly(input));
    },
    musig2_context_new: (): void => {
      const random = this.random;
      let people = this.people.slice(0, random.below(4));
      const tweaks = Array.from({ length: random.below(3) }, () => this.tweak());
      let own = random.pick(this.people.slice(0, 3));
      if (random.oneIn(10)) {
        const { key, tweak } = this.cancelling;
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
      const context = this.raw.call(
        'musig2_context_new',
        this.nearly(input),
        count,
        random.below(2),
        random.oneIn(20) ? MAX_SIGNERS + 1 : tweaks.length,
        withSecret,
        index,
      );
      if (context >= 0) {
        this.raw.call('handle_dispose', NONE, context);
      }
    },
    musig2_context_parse: (): void => {
      const random = this.random;
      const room = this.room();
      room.encoded ??= this.raw.bytes('musig2_context_bytes', NONE, (room.signers[0]!).context);
      const withSecret = random.below(2);
      const secret = random.oneIn(10)
        ? ORDER
        : random.pick([...room.signers, ...this.people]).secret;
      const input = join([...(withSecret ? [secret] : []), this.nearly(room.encoded ?? NONE)]);
      const context = this.raw.call(
        'musig2_context_parse',
        random.oneIn(20) ? input.slice(0, 20) : input,
        withSecret,
        random.pick([-1, -1, 0, 9]),
      );
      if (context >= 0) {
        this.raw.call('handle_dispose', NONE, context);
      }
    },
    musig2_context_bytes: (): void => {
      const signer = this.random.pick(this.room().signers);
      this.raw.call('musig2_context_bytes', this.nearly(NONE), this.handle(signer.context));
    },
    musig2_context_info: (): void => {
      const signer = this.random.pick(this.room().signers);
      this.raw.call('musig2_context_info', this.nearly(NONE), this.handle(signer.context));
    },
    musig2_verify_partial: (): void => {
      const room = this.room();
      const index = this.random.below(room.signers.length);
      const signer = room.signers[index]!;
      const nonces = room.signers.map((s) => s.publicNonce ?? this.random.bytes(66));
      this.raw.call(
        'musig2_verify_partial',
        this.nearly(join([signer.partial ?? this.random.bytes(32), ...nonces, this.random.oneIn(200) ? this.message() : room.message])),
        this.handle(signer.context),
        this.index(index),
        this.random.oneIn(20) ? this.random.pick([0, MAX_SIGNERS + 1]) : nonces.length,
      );
    },
    musig2_deterministic_sign: (): void => {
      const room = this.room();
      const signer = this.random.pick(room.signers);
      const withRand = this.random.below(2);
      const other = room.aggregate ?? signer.publicNonce ?? this.random.bytes(66);
      const input = join([other, ...(withRand ? [this.random.bytes(32)] : []), this.message()]);
      let context = this.handle(signer.context);
      const keyless = this.random.oneIn(10);
      if (keyless) {
        context = this.keylessContext();
      }
      this.raw.call('musig2_deterministic_sign', this.nearly(input), context, withRand);
      if (keyless) {
        this.raw.call('handle_dispose', NONE, context);
      }
    },
    musig2_aggregate_nonces: (): void => {
      const nonces = this.room().signers.map((s) => s.publicNonce ?? this.random.bytes(66));
      const count = this.random.oneIn(10) ? this.random.pick([0, MAX_SIGNERS + 1]) : nonces.length;
      this.raw.call('musig2_aggregate_nonces', count === 0 ? NONE : this.nearly(join(nonces)), count);
    },
    musig2_nonce_new: (): void => {
      const random = this.random;
      const person = this.person();
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
        ...(withMessage ? [this.message()] : []),
      ]);
      const handle = this.raw.call(
        'musig2_nonce_new',
        this.nearly(input),
        withSecret,
        withAggregate,
        random.oneIn(20) ? random.uint32() : extra.length,
        withMessage,
      );
      if (handle >= 0) {
        this.nonces.push({ handle, key: person.key });
        if (this.nonces.length > 10) {
          const oldest = this.nonces.shift() as { handle: number };
          this.raw.call('handle_dispose', NONE, oldest.handle);
        }
      }
    },
    musig2_nonce_public: (): void => {
      const handle = this.nonces.length === 0 ? 0 : this.random.pick(this.nonces).handle;
      this.raw.call('musig2_nonce_public', this.nearly(NONE), this.handle(handle));
    },
    musig2_session_new: (): void => {
      const random = this.random;
      const room = this.room();
      const signer = random.pick(room.signers);
      const extra = random.bytes(random.below(2) * 20);
      const withMessage = random.below(2);
      const own = this.nonces.filter(({ key }) => key === signer.key || random.oneIn(10));
      const nonce = random.oneIn(2) && own.length > 0 ? random.pick(own).handle : 0;
      let context = this.handle(signer.context);
      const keyless = random.oneIn(10);
      if (keyless) {
        context = this.keylessContext();
      }
      const session = this.raw.call(
        'musig2_session_new',
        this.nearly(join([extra, ...(withMessage ? [this.message(40)] : [])])),
        context,
        random.oneIn(20) ? random.uint32() : nonce,
        random.oneIn(20) ? random.uint32() : extra.length,
        withMessage,
      );
      if (session >= 0) {
        this.raw.call('handle_dispose', NONE, session);
      }
      if (keyless) {
        this.raw.call('handle_dispose', NONE, context);
      }
    },
    musig2_session_public_nonce: (): void => {
      const { session } = this.session(this.room());
      this.raw.call('musig2_session_public_nonce', this.nearly(NONE), this.handle(session));
    },
    musig2_session_state: (): void => {
      const { session } = this.session(this.room());
      this.raw.call('musig2_session_state', this.nearly(NONE), this.handle(session));
    },
    musig2_set_aggregate_nonce: (): void => {
      const room = this.room();
      const { session, publicNonce } = this.session(room);
      // The own nonce is no sum, but nobody can know as long as others are missing.
      const nonce = this.random.oneIn(2) ? publicNonce : (room.aggregate ?? publicNonce);
      this.raw.call('musig2_set_aggregate_nonce', this.nearly(nonce ?? NONE), this.handle(session));
    },
    musig2_sign: (): void => {
      const room = this.room();
      const signer = this.session(room);
      if (this.random.oneIn(2)) {
        this.hurry(room, signer.session);
      }
      const message = this.random.oneIn(10) ? this.message(10) : room.message;
      const withMessage = this.random.below(4);
      const partial = this.raw.bytes(
        'musig2_sign',
        this.random.oneIn(20) ? this.nearly(message) : withMessage ? message : NONE,
        this.handle(signer.session),
        withMessage,
      );
      signer.partial ??= partial;
    },
    musig2_coordinator_new: (): void => {
      const room = this.room();
      const context = this.handle((room.signers[0]!).context);
      const handle = this.raw.call('musig2_coordinator_new', this.message(), context);
      if (handle >= 0) {
        this.raw.call('handle_dispose', NONE, handle);
      }
    },
    musig2_add_nonce: (): void => {
      const room = this.room();
      this.session(room);
      const collector = this.random.oneIn(2) ? this.coordinator(room) : this.collector(room);
      const index = this.random.below(room.signers.length);
      const other = this.random.oneIn(8) ? this.random.pick(room.signers) : room.signers[index];
      const nonce = other?.publicNonce ?? this.random.bytes(66);
      this.raw.call('musig2_add_nonce', this.nearly(nonce), this.handle(collector), this.index(index));
    },
    musig2_aggregate_nonce: (): void => {
      const room = this.room();
      const collector = this.collector(room);
      room.aggregate =
        this.raw.bytes('musig2_aggregate_nonce', this.nearly(NONE), this.handle(collector)) ??
        room.aggregate;
    },
    musig2_add_partial: (): void => {
      const room = this.room();
      const collector = this.collector(room);
      if (this.random.oneIn(4)) {
        this.hurry(room, collector);
      }
      const index = this.random.below(room.signers.length);
      const signer = room.signers[index]!;
      const partial = this.random.oneIn(10) ? ORDER : (signer.partial ?? this.random.bytes(32));
      this.raw.call('musig2_add_partial', this.nearly(partial), this.handle(collector), this.index(index));
    },
    musig2_finish: (): void => {
      const room = this.room();
      const collector = this.collector(room);
      if (this.random.oneIn(2)) {
        this.hurry(room, collector);
        for (const [index, { partial }] of room.signers.entries()) {
          if (partial !== undefined) {
            this.raw.call('musig2_add_partial', partial, collector, index);
          }
        }
      }
      this.raw.call('musig2_finish', this.nearly(NONE), this.handle(collector));
    },
    musig2_missing: (): void => {
      const collector = this.collector(this.room());
      this.raw.call('musig2_missing', this.nearly(NONE), this.handle(collector), this.random.below(3));
    },
  } satisfies Partial<Record<ExportName, () => void>>;
}
