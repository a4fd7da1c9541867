import { bytes, bytesOrHex, object } from './check.js';
import {
  MACHINE_STATES,
  MAX_BRONTIDE_MESSAGE_SIZE,
  MAX_BRONTIDE_PACKET_SIZE,
  PUBLIC_KEY_SIZE,
  SECRET_KEY_SIZE,
  type MachineState,
} from './generated.js';
import { Handle, handleOf } from './handle.js';
import { requireRandom } from './random.js';
import { call, output, outputs } from './runtime.js';

/** Options of a {@link Machine}. */
export type MachineOptions =
  | {
      /** Which side of the handshake this is: the initiator speaks first. */
      readonly role: 'initiator';
      /** The own static secret key, 32 bytes. */
      readonly secretKey: Uint8Array;
      /** The static public key of the other side, 33 bytes or 66 hexadecimal digits. */
      readonly remoteKey: Uint8Array | string;
    }
  | {
      /** The side that listens. It learns the other's key in the handshake. */
      readonly role: 'responder';
      /** The own static secret key, 32 bytes. */
      readonly secretKey: Uint8Array;
    };

/** What {@link Machine.receive} returns. */
export interface Received {
  /** An act of the handshake to send. */
  readonly send?: Uint8Array<ArrayBuffer>;
  /** The messages that are complete, in order. */
  readonly messages: Uint8Array<ArrayBuffer>[];
}

/**
 * Bytes that go into the module at a time: enough for any message in one piece. More
 * would only make its buffers grow.
 */
const CHUNK = MAX_BRONTIDE_PACKET_SIZE;

/**
 * One end of a BOLT-8 connection, without any input or output: it takes the
 * bytes that arrived, in any split, and returns those to send. Keys are in the
 * wasm module only.
 *
 * @example
 * ```js
 * import { init } from 'brontosig';
 * import { Machine } from 'brontosig/brontide';
 * import { publicKey } from 'brontosig/musig2';
 *
 * await init();
 * const [alice, bob] = [1, 2].map((n) => new Uint8Array(32).fill(n));
 * const initiator = new Machine({ role: 'initiator', secretKey: alice, remoteKey: publicKey(bob) });
 * const responder = new Machine({ role: 'responder', secretKey: bob });
 * const actTwo = responder.receive(initiator.start()).send;
 * const actThree = initiator.receive(actTwo).send;
 * responder.receive(actThree);
 * const { messages } = responder.receive(initiator.encrypt(new Uint8Array([1, 2, 3])));
 * console.log(messages[0].join()); // 1,2,3
 * ```
 */
export class Machine extends Handle {
  /** An error that came after good messages, for the next call of receive. */
  #pending: Error | undefined;
  /** Whether the handshake may still draw random bytes. */
  #mayDraw = true;

  /**
   * Makes one end.
   *
   * @throws TypeError or RangeError that names a wrong option.
   * @throws BrontosigError INVALID_SECRET_KEY, INVALID_PUBLIC_KEY,
   * TOO_MANY_OBJECTS.
   */
  constructor(options: MachineOptions) {
    const o = object('options', options);
    const inputs = [bytes('secretKey', o.secretKey, SECRET_KEY_SIZE)];
    if (o.role === 'initiator') {
      inputs.push(bytesOrHex('remoteKey', o.remoteKey, PUBLIC_KEY_SIZE));
    } else if ((o.role as unknown) !== 'responder') {
      throw new TypeError('role: initiator or responder expected');
    }
    super(call('brontide_new', inputs, inputs.length - 1));
  }

  /**
   * Begins the handshake.
   *
   * @returns what an initiator sends first, 50 bytes; nothing for a responder.
   * @throws BrontosigError WRONG_ACT if an initiator has begun already, POISONED,
   * RANDOM_FAILED, DISPOSED.
   */
  start(): Uint8Array<ArrayBuffer> {
    requireRandom();
    return output(call('brontide_start', [], handleOf(this)));
  }

  /**
   * Takes bytes that arrived, any number of them. An error that comes after good
   * messages is thrown by the next call; `state` is then `failed`.
   *
   * @throws TypeError if the argument is no Uint8Array.
   * @throws BrontosigError UNSUPPORTED_VERSION, INVALID_PUBLIC_KEY, MAC_FAILED,
   * each of which ends the connection; POISONED from then on; WRONG_ACT before
   * `start`; RANDOM_FAILED, which changes nothing; DISPOSED.
   */
  receive(data: Uint8Array): Received {
    const input = bytes('data', data, [0, Infinity]);
    handleOf(this); // a disposed machine has no error left to tell but that
    const pending = this.#pending;
    if (pending !== undefined) {
      this.#pending = undefined;
      throw pending;
    }
    if (this.#mayDraw) {
      requireRandom();
      this.#mayDraw = this.state === 'handshake';
    }
    let send: Uint8Array<ArrayBuffer> | undefined;
    let messages: Uint8Array<ArrayBuffer>[] = [];
    let at = 0;
    do {
      const piece = at === 0 && input.length <= CHUNK ? input : input.subarray(at, at + CHUNK);
      try {
        const parts = outputs(call('brontide_receive', [piece], handleOf(this)));
        const act = parts.shift();
        // No side sends twice in a handshake without an answer in between.
        send = act === undefined || act.length === 0 ? send : act;
        messages = messages.length === 0 ? parts : messages.concat(parts);
      } catch (error) {
        if (messages.length === 0) {
          throw error;
        }
        // An earlier piece held good messages, which would be lost with the throw.
        this.#pending = error as Error;
        break;
      }
      at += CHUNK;
    } while (at < input.length && this.state !== 'failed');
    return send === undefined ? { messages } : { send, messages };
  }

  /**
   * Encrypts a message.
   *
   * @param message - 0 to 65,535 bytes.
   * @returns what to send: 34 bytes more.
   * @throws TypeError or RangeError for a wrong argument.
   * @throws BrontosigError HANDSHAKE_INCOMPLETE, POISONED, DISPOSED.
   */
  encrypt(message: Uint8Array): Uint8Array<ArrayBuffer> {
    const input = bytes('message', message, [0, MAX_BRONTIDE_MESSAGE_SIZE]);
    return output(call('brontide_encrypt', [input], handleOf(this)));
  }

  /**
   * Takes the end of what the other side sends. Ends are not authenticated: a
   * stream that was cut between two messages looks like one that ended.
   *
   * @throws BrontosigError NOT_ANSWERED if the other side hung up on act one,
   * TRUNCATED if it did so in the middle of an act or a message, POISONED,
   * DISPOSED.
   */
  end(): void {
    call('brontide_end', [], handleOf(this));
  }

  /** How far the connection has come. */
  get state(): MachineState {
    return MACHINE_STATES[call('brontide_state', [], handleOf(this))] ?? 'failed';
  }

  /** The static public key of the other side, 33 bytes; undefined for a responder before act three. */
  get remoteKey(): Uint8Array<ArrayBuffer> | undefined {
    const key = output(call('brontide_remote_key', [], handleOf(this)));
    return key.length === 0 ? undefined : key;
  }
}
