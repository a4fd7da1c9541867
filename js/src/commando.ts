import { integer, object, options as optionsOf, string } from './check.js';
import { BrontosigError } from './errors.js';
import { MAX_COMMANDO_REQUEST } from './generated.js';
import type { Limits } from './limits.js';
import type { Protocol } from './protocol.js';
import { printable } from './transport.js';
import { Waits } from './waits.js';

/** Milliseconds in which a call is answered by default. */
const COMMANDO_TIMEOUT = 60_000;

/** Bytes of the longest reply by default. Core Lightning's largest have tens of megabytes. */
const MAX_RESPONSE = 64 << 20;

/** Bytes of the longest reply that can be asked for: no longer string exists. */
const LONGEST_RESPONSE = 512 << 20;

/** Options of {@link Peer.commando}. */
export interface CommandoOptions extends Limits {
  /** The rune that allows the call. */
  readonly rune: string;
  /** Which fields of the result are wanted (Core Lightning's filter). */
  readonly filter?: object | undefined;
  /** Bytes of the longest reply that is taken, 64 MiB by default, at most 512 MiB. */
  readonly maxResponseBytes?: number | undefined;
}

/** The names of the options of {@link Peer.commando}. */
const COMMANDO_OPTIONS: readonly (keyof CommandoOptions)[] = ['signal', 'timeoutMs', 'rune', 'filter', 'maxResponseBytes'];

/** The error that a node answers a commando call with. Its `code` is `COMMANDO_ERROR`. */
export class CommandoError extends BrontosigError {
  static {
    this.prototype.name = 'CommandoError';
  }

  /** The method that was called. */
  readonly method: string;

  /** The code of JSON-RPC, such as -32602 for wrong parameters or 19537 for a rune that does not allow the call. */
  readonly rpcCode: number;

  /** What the node says beside the message, or undefined. */
  readonly data: unknown;

  /** Makes the error. */
  constructor(method: string, rpcCode: number, message: string, data: unknown) {
    super('COMMANDO_ERROR', message);
    this.method = method;
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** A commando call whose arguments have been checked. */
export interface CheckedCall {
  readonly method: string;
  readonly request: Uint8Array;
  readonly maxResponseBytes: number;
  readonly limits: Limits;
}

/**
 * Checks the arguments of a call and writes its request.
 *
 * @throws TypeError or RangeError that names a wrong one.
 */
export function checkCall(method: string, params: object, options: CommandoOptions): CheckedCall {
  string('method', method);
  object('params', params);
  const o = optionsOf('options', options, COMMANDO_OPTIONS);
  string('rune', o.rune);
  if (o.filter !== undefined) {
    object('filter', o.filter);
  }
  // The id is for the node's logs. Calls are told apart by their number, and
  // nothing here says how many there were or whose they are.
  const members = {
    method: JSON.stringify(method),
    id: JSON.stringify(`brontosig:${method}`),
    params: json('params', params),
    rune: JSON.stringify(o.rune),
    ...(o.filter === undefined ? {} : { filter: json('filter', o.filter) }),
  };
  const text = Object.entries(members).map(([name, value]) => `"${name}":${value}`);
  const request = new TextEncoder().encode(`{${text.join()}}`);
  if (request.length > MAX_COMMANDO_REQUEST) {
    throw new RangeError(`params: the request has ${request.length} bytes, ${MAX_COMMANDO_REQUEST} are allowed`);
  }
  const maxResponseBytes = integer('maxResponseBytes', o.maxResponseBytes ?? MAX_RESPONSE, 1, LONGEST_RESPONSE);
  return { method, request, maxResponseBytes, limits: { signal: o.signal, timeoutMs: o.timeoutMs } };
}

/** Writes an argument as JSON. It must come out as an object or array. */
function json(name: string, value: object): string {
  let text: unknown;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`${name}: cannot be written as JSON`, { cause });
  }
  if (typeof text !== 'string' || !/^[[{]/.test(text)) {
    throw new TypeError(`${name}: an object or array expected, as JSON`);
  }
  return text;
}

/** What the calls need of their connection. */
interface Line {
  readonly protocol: Protocol;
  readonly send: (message: Uint8Array) => Promise<void>;
}

/** A call that waits for its reply. */
interface Pending {
  readonly reply: Reply;
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: BrontosigError) => void;
}

/** The commando calls on one connection. */
export class Calls {
  readonly #line: Line;
  readonly #waits = new Waits();
  readonly #pending = new Map<bigint, Pending>();

  constructor(line: Line) {
    this.#line = line;
  }

  /** Sends a request and waits for its result. */
  async call({ method, request, maxResponseBytes, limits }: CheckedCall): Promise<unknown> {
    const { protocol, send } = this.#line;
    return this.#waits.run(limits, `the reply to ${method}`, COMMANDO_TIMEOUT, async (failed) => {
      let number: bigint | undefined;
      try {
        // The node takes one request at a time.
        const replied = await this.#waits.inTurn(failed, async () => {
          const { call, messages } = protocol.call(request, maxResponseBytes);
          number = call;
          const reply = new Promise<Reply>((resolve, reject) => {
            this.#pending.set(call, { reply: new Reply(), resolve, reject });
          });
          // It may be refused while the request is still on its way.
          reply.catch(() => undefined);
          for (const message of messages) {
            // A call that was given up stops here. The node drops what it has
            // of it when the next one begins.
            await Promise.race([failed, send(message)]);
          }
          return { reply };
        });
        const reply = await Promise.race([failed, replied.reply]);
        return resultOf(method, reply.text());
      } finally {
        if (number !== undefined && this.#pending.delete(number)) {
          protocol.endCall(number);
        }
      }
    });
  }

  /** Takes a part of a reply. */
  part(call: bigint, last: boolean, part: Uint8Array): void {
    const pending = this.#pending.get(call);
    pending?.reply.add(part);
    if (last && pending !== undefined) {
      this.#pending.delete(call);
      pending.resolve(pending.reply);
    }
  }

  /** Takes the news that a reply is longer than its call allows. */
  tooLong(call: bigint): void {
    const pending = this.#pending.get(call);
    this.#pending.delete(call);
    pending?.reject(new BrontosigError('RESPONSE_TOO_LARGE', 'the reply is longer than maxResponseBytes'));
  }

  /** Ends every wait. The protocol is not used any more. */
  end(error: BrontosigError): void {
    this.#pending.clear();
    this.#waits.end(error);
  }
}

/** The bytes of a reply so far. */
class Reply {
  #bytes = new Uint8Array();
  #size = 0;

  add(part: Uint8Array): void {
    const size = this.#size + part.length;
    if (size > this.#bytes.length) {
      // Parts of a byte each must not cost more than their bytes.
      const longer = new Uint8Array(Math.max(size, 2 * this.#bytes.length));
      longer.set(this.#bytes.subarray(0, this.#size));
      this.#bytes = longer;
    }
    this.#bytes.set(part, this.#size);
    this.#size = size;
  }

  text(): string {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#size));
  }
}

/** Reads a JSON-RPC reply: the result, or the error as an exception. */
function resultOf(method: string, text: string): unknown {
  let reply: { result?: unknown; error?: { code?: unknown; message?: unknown; data?: unknown } | null } | null;
  try {
    reply = JSON.parse(text) as typeof reply;
  } catch (cause) {
    throw new BrontosigError('INVALID_RESPONSE', `the reply to ${method} is no JSON`, { cause });
  }
  const error = reply?.error;
  if (error !== undefined && error !== null) {
    if (typeof error !== 'object' || !Number.isInteger(error.code)) {
      throw new BrontosigError('INVALID_RESPONSE', `the reply to ${method} is an error without a code`);
    }
    const message = typeof error.message === 'string' ? printable(error.message) : 'the node gave no message';
    throw new CommandoError(method, error.code as number, message, error.data);
  }
  if (reply?.result === undefined) {
    throw new BrontosigError('INVALID_RESPONSE', `the reply to ${method} has neither a result nor an error`);
  }
  return reply.result;
}
