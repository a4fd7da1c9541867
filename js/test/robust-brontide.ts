import { MAX_BRONTIDE_MESSAGE_SIZE, MAX_SIGNERS } from '../../dist/generated.js';
import type { Random } from './random.js';
import { join, type ExportName, type Raw } from './raw.js';

const NONE = new Uint8Array(0);
const INITIATOR = 1;
const RESPONDER = 0;

/** A machine or peer, and the bytes that the other one has sent it. */
interface End {
  readonly handle: number;
  arrived: Uint8Array[];
}

/** Two ends that talk with each other. */
interface Pair {
  readonly ends: readonly [End, End];
  uses: number;
}

const PAIRS = 4;
const PAIR_USES = 40;

/** A 16-bit number in big-endian order, as BOLT-1 wants it. */
function u16(value: number): Uint8Array {
  return Uint8Array.of(value >>> 8, value);
}

/** Makes calls of the brontide and lnpeer exports, mostly good or nearly so. */
export class BrontideWorld {
  readonly #raw: Raw;
  readonly #random: Random;
  readonly #machines: Pair[] = [];
  readonly #peers: Pair[] = [];
  #now = 0;
  /** The number of a commando call, little-endian. */
  #lastCall = new Uint8Array(8);

  constructor(raw: Raw, random: Random) {
    this.#raw = raw;
    this.#random = random;
  }

  /** The handles that are alive. */
  handles(): number[] {
    return [...this.#machines, ...this.#peers].flatMap(({ ends }) => ends.map((end) => end.handle));
  }

  /** Disposes everything. */
  dispose(): void {
    for (const handle of this.handles()) {
      this.#raw.call('handle_dispose', NONE, handle);
    }
    this.#machines.length = 0;
    this.#peers.length = 0;
  }

  /** Takes a pair out of a pool that is kept filled, and renews those that are used up. */
  #pair(pool: Pair[], make: () => readonly [number, number]): Pair {
    if (pool.length < PAIRS) {
      const [a, b] = make();
      pool.push({ ends: [{ handle: a, arrived: [] }, { handle: b, arrived: [] }], uses: 0 });
    }
    const pair = this.#random.pick(pool);
    if (++pair.uses > PAIR_USES) {
      for (const { handle } of pair.ends) {
        this.#raw.call('handle_dispose', NONE, handle);
      }
      pool.splice(pool.indexOf(pair), 1);
      return this.#pair(pool, make);
    }
    return pair;
  }

  #machinePair(): Pair {
    return this.#pair(this.#machines, () => {
      const [a, b] = [this.#random.bytes(32), this.#random.bytes(32)];
      const key = this.#raw.bytes('public_key', b) ?? NONE;
      return [
        this.#raw.call('brontide_new', join([a, key]), INITIATOR),
        this.#raw.call('brontide_new', b, RESPONDER),
      ];
    });
  }

  #peerPair(): Pair {
    const random = this.#random;
    return this.#pair(this.#peers, () => {
      const network = random.oneIn(2) ? random.bytes(32) : NONE;
      const [a, b] = Array.from({ length: 2 }, () =>
        this.#raw.call('lnpeer_new', network, 0, 0, 0, network.length / 32, random.pick([0, 1000]), 1000),
      ) as [number, number];
      return [a, b];
    });
  }

  /** Makes machines until there is no room, and returns their handles. */
  fill(): number[] {
    const made: number[] = [];
    for (;;) {
      const handle = this.#raw.call('brontide_new', this.#random.bytes(32), RESPONDER);
      if (handle < 0) {
        return made;
      }
      made.push(handle);
    }
  }

  /** Makes good calls of every export that makes an object, but for those of {@link fill}. */
  makeOneMore(): void {
    this.#raw.call('lnpeer_new', NONE, 0, 0, 0, 0, 0, 0);
  }

  /** Makes more commando calls than may be unanswered: chance seldom finds a peer that is ready for so many. */
  callTooOften(): void {
    const [a, b] = Array.from({ length: 2 }, () => this.#raw.call('lnpeer_new', NONE, 0, 0, 0, 0, 0, 0)) as [number, number];
    this.#raw.call('lnpeer_start', NONE, a);
    this.#raw.call('lnpeer_receive', this.#raw.bytes('lnpeer_start', NONE, b) ?? NONE, a, 0);
    for (let i = 0; i <= 1000; i++) {
      this.#raw.call('lnpeer_call', Uint8Array.of(1), a, 0, 1);
    }
    for (const handle of [a, b]) {
      this.#raw.call('handle_dispose', NONE, handle);
    }
  }

  #ends(pair: Pair): { self: End; other: End; first: boolean } {
    const first = this.#random.oneIn(2);
    const [a, b] = pair.ends;
    return first ? { self: a, other: b, first } : { self: b, other: a, first };
  }

  /** A time that goes on, mostly by little. */
  #time(): number {
    this.#now += this.#random.pick([0, 1, 400, 1200, 1200, this.#random.oneIn(20) ? this.#random.uint32() : 5]);
    return this.#now % 2 ** 32;
  }

  #handle(handle: number): number {
    return this.#random.oneIn(20) ? this.#random.pick([0, handle + (1 << 16), ...this.handles()]) : handle;
  }

  /** No input, seldom one byte too many. */
  #nothing(): Uint8Array {
    return this.#random.oneIn(20) ? this.#random.bytes(1) : NONE;
  }

  /** Changes a byte, often the first, which acts and messages start with. */
  #damage(input: Uint8Array): Uint8Array {
    const changed = input.slice();
    if (changed.length > 0) {
      const at = this.#random.pick([0, 1, this.#random.below(changed.length)]);
      changed[at % changed.length] = this.#random.uint32();
    }
    return changed;
  }

  /** Splits what a call to receive has put out into what is to be sent and the rest. */
  #sent(output: Uint8Array | undefined, skip: number): Uint8Array {
    if (output === undefined || output.length < skip + 4) {
      return NONE;
    }
    const length = new DataView(output.buffer, output.byteOffset).getUint32(skip, true);
    return output.slice(skip + 4, skip + 4 + length);
  }

  /** Makes an init message of features and TLV records. */
  #init(features: Uint8Array, records: Uint8Array): Uint8Array {
    return join([u16(16), u16(0), u16(features.length), features, records]);
  }

  /** Makes a message that a peer may receive. */
  #message(): Uint8Array {
    const random = this.#random;
    const dataLossProtect = Uint8Array.of(2);
    const networks = join([Uint8Array.of(1, 32), random.bytes(32)]);
    return random.pick([
      () => this.#init(dataLossProtect, NONE),
      () => this.#init(dataLossProtect, networks),
      () => this.#init(dataLossProtect, Uint8Array.of(2, 1, 0)),
      // An even bit that nothing defines.
      () => this.#init(join([Uint8Array.of(1), new Uint8Array(60)]), NONE),
      // Bit 61, which depends on bit 27.
      () => this.#init(Uint8Array.of(0x20, 0, 0, 0, 0, 0, 0, 2), NONE),
      () => join([u16(18), u16(random.below(3) * 40000), u16(2), Uint8Array.of(0, 0)]),
      () => join([u16(19), u16(4), new Uint8Array(4)]),
      () => join([u16(17), random.bytes(32), u16(3), random.bytes(3)]),
      () => join([u16(1), new Uint8Array(32), u16(2), random.bytes(2)]),
      // A part of a reply to the last call, most significant byte first.
      () => join([u16(random.pick([0x594b, 0x594d])), this.#lastCall.slice().reverse(), random.bytes(random.below(120))]),
      () => join([u16(random.pick([0x594b, 0x594d])), random.bytes(random.below(12))]),
      () => join([u16(random.uint32()), random.bytes(random.below(40))]),
      () => random.bytes(random.below(3)),
    ])();
  }

  /** The exports of this area, each with a function that calls it at least once. */
  readonly exports = {
    brontide_new: (): void => {
      const random = this.#random;
      const secret = random.oneIn(10) ? new Uint8Array(32) : random.bytes(32);
      const initiator = random.below(2);
      const key = random.oneIn(4) ? random.bytes(33) : this.#raw.bytes('public_key', random.bytes(32));
      const input = join([secret, ...(initiator ? [key ?? NONE] : [])]);
      const handle = this.#raw.call(
        'brontide_new',
        random.oneIn(10) ? input.slice(0, random.below(input.length)) : join([input, this.#nothing()]),
        initiator,
      );
      if (handle >= 0) {
        this.#raw.call('handle_dispose', NONE, handle);
      }
    },
    brontide_start: (): void => {
      const { self, other } = this.#ends(this.#machinePair());
      const act = this.#raw.bytes('brontide_start', this.#nothing(), this.#handle(self.handle));
      other.arrived.push(act ?? NONE);
    },
    brontide_receive: (): void => {
      const { self, other } = this.#ends(this.#machinePair());
      let bytes: Uint8Array = join(self.arrived);
      self.arrived = [];
      if (this.#random.oneIn(8)) {
        bytes = this.#damage(bytes);
      } else if (this.#random.oneIn(3)) {
        // The rest comes later, or never if a call fails now.
        const cut = this.#random.below(bytes.length + 1);
        self.arrived = [bytes.slice(cut)];
        bytes = bytes.slice(0, cut);
      }
      const output = this.#raw.bytes('brontide_receive', bytes, this.#handle(self.handle));
      other.arrived.push(this.#sent(output, 0));
    },
    brontide_encrypt: (): void => {
      const { self, other } = this.#ends(this.#machinePair());
      const length = this.#random.oneIn(8)
        ? this.#random.pick([MAX_BRONTIDE_MESSAGE_SIZE, MAX_BRONTIDE_MESSAGE_SIZE + 1])
        : this.#random.below(100);
      const packet = this.#raw.bytes(
        'brontide_encrypt',
        new Uint8Array(length),
        this.#handle(self.handle),
      );
      other.arrived.push(packet ?? NONE);
    },
    brontide_end: (): void => {
      const { self } = this.#ends(this.#machinePair());
      this.#raw.call('brontide_end', this.#nothing(), this.#handle(self.handle));
    },
    brontide_state: (): void => {
      const { self } = this.#ends(this.#machinePair());
      this.#raw.call('brontide_state', this.#nothing(), this.#handle(self.handle));
    },
    brontide_remote_key: (): void => {
      const { self } = this.#ends(this.#machinePair());
      this.#raw.call('brontide_remote_key', this.#nothing(), this.#handle(self.handle));
    },
    lnpeer_new: (): void => {
      const random = this.#random;
      const features = random.bytes(random.below(3));
      const known = random.bytes(2 * random.below(3));
      const networks = random.bytes(32 * random.below(3));
      const handle = this.#raw.call(
        'lnpeer_new',
        join([features, known, networks, this.#nothing()]),
        1,
        random.oneIn(20) ? random.uint32() : features.length,
        random.oneIn(20) ? MAX_SIGNERS + 1 : known.length / 2,
        random.oneIn(20) ? MAX_SIGNERS + 1 : networks.length / 32,
        random.pick([0, 1000, random.uint32()]),
        random.pick([1000, 999, random.uint32()]),
      );
      if (handle >= 0) {
        this.#raw.call('handle_dispose', NONE, handle);
      }
    },
    lnpeer_start: (): void => {
      const { self, other } = this.#ends(this.#peerPair());
      const init = this.#raw.bytes('lnpeer_start', this.#nothing(), this.#handle(self.handle));
      if (init !== undefined) {
        other.arrived.push(init);
      }
    },
    lnpeer_receive: (): void => {
      const { self, other } = this.#ends(this.#peerPair());
      let message = self.arrived.shift() ?? (this.#random.oneIn(2) ? this.#message() : undefined);
      if (message === undefined) {
        return;
      }
      if (this.#random.oneIn(10)) {
        message = this.#damage(message);
      }
      const output = this.#raw.bytes('lnpeer_receive', message, this.#handle(self.handle), this.#time());
      const reply = this.#sent(output, 1);
      if (reply.length > 0) {
        other.arrived.push(reply);
      }
    },
    lnpeer_message: (): void => {
      const { self, other } = this.#ends(this.#peerPair());
      const type = this.#random.pick([16, 17, 18, 40001, 0x10000, this.#random.below(0x10000)]);
      const size = this.#random.oneIn(20) ? MAX_BRONTIDE_MESSAGE_SIZE : this.#random.below(20);
      const message = this.#raw.bytes(
        'lnpeer_message',
        new Uint8Array(size),
        this.#handle(self.handle),
        this.#time(),
        type,
      );
      if (message !== undefined && this.#random.oneIn(2)) {
        other.arrived.push(message);
      }
    },
    lnpeer_ping: (): void => {
      const { self, other } = this.#ends(this.#peerPair());
      // Now and then more than may be unanswered.
      for (let i = this.#random.oneIn(20) ? 100 : 1; i > 0; i--) {
        const ping = this.#raw.bytes(
          'lnpeer_ping',
          this.#nothing(),
          this.#handle(self.handle),
          this.#time(),
          this.#random.pick([0, 1, 1, 1, 70000, 65532, 65536]),
          this.#random.pick([0, 1, 1, 1, 65530, 65529]),
        );
        if (ping !== undefined && this.#random.oneIn(2)) {
          other.arrived.push(ping.slice(4));
        }
      }
    },
    lnpeer_ping_delay: (): void => {
      const { self } = this.#ends(this.#peerPair());
      this.#raw.call('lnpeer_ping_delay', this.#nothing(), this.#handle(self.handle), this.#time());
    },
    lnpeer_abandon_ping: (): void => {
      const { self } = this.#ends(this.#peerPair());
      this.#raw.call('lnpeer_abandon_ping', this.#nothing(), this.#handle(self.handle), this.#random.below(100));
    },
    lnpeer_poll: (): void => {
      const { self, other } = this.#ends(this.#peerPair());
      for (let i = this.#random.oneIn(5) ? 4 : 1; i > 0; i--) {
        const polled = this.#raw.bytes('lnpeer_poll', this.#nothing(), this.#handle(self.handle), this.#time());
        if (polled !== undefined && polled.length > 4) {
          other.arrived.push(polled.slice(4));
        }
      }
    },
    lnpeer_drained: (): void => {
      const { self } = this.#ends(this.#peerPair());
      this.#raw.call('lnpeer_drained', this.#nothing(), this.#handle(self.handle), this.#time());
    },
    lnpeer_call: (): void => {
      const random = this.#random;
      const { self, other } = this.#ends(this.#peerPair());
      // Now and then more than may be unanswered.
      for (let i = random.oneIn(200) ? 1100 : 1; i > 0; i--) {
        const size = random.oneIn(200) ? (1 << 20) + 1 : random.oneIn(20) ? 65_001 : random.below(20);
        const called = this.#raw.bytes('lnpeer_call', new Uint8Array(size), this.#handle(self.handle), this.#time(), random.below(100));
        if (called !== undefined) {
          this.#lastCall = called.slice(0, 8);
          if (random.oneIn(2)) {
            other.arrived.push(this.#sent(called, 8));
          }
        }
      }
    },
    lnpeer_end_call: (): void => {
      const { self } = this.#ends(this.#peerPair());
      const number = this.#random.oneIn(5) ? this.#random.bytes(this.#random.below(10)) : this.#lastCall;
      this.#raw.call('lnpeer_end_call', join([number, this.#nothing()]), this.#handle(self.handle));
    },
  } satisfies Partial<Record<ExportName, () => void>>;
}
