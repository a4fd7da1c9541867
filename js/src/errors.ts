import type { Contribution, CoreErrorCode } from './generated.js';

export type { Contribution, CoreErrorCode } from './generated.js';

/** The kinds of error that arise while the module is loaded or when it is lost. */
export type RuntimeErrorCode =
  /** A function was called before `init()` had finished. */
  | 'NOT_INITIALIZED'
  /** The wasm module could not be fetched, compiled or started. `init()` can be tried again. */
  | 'LOAD_FAILED'
  /** `init()` was called again with another source while the module was loading or loaded. */
  | 'ALREADY_INITIALIZED'
  /**
   * The wasm instance has ended, or the object belongs to one that has. Call
   * `init()` again and make new objects.
   */
  | 'INSTANCE_LOST'
  /** The object has been disposed. */
  | 'DISPOSED';

/** The kinds of error of connections. */
export type ConnectionErrorCode =
  /** The caller's signal aborted the operation. */
  | 'ABORTED'
  /** The operation did not finish in its time. */
  | 'TIMEOUT'
  /**
   * No connection came about: nothing listens at the address, or, in a
   * browser, the bridge refused the page's origin.
   */
  | 'CONNECTION_FAILED'
  /** The bridge refuses to connect to that node, or refuses this client. */
  | 'BRIDGE_REFUSED'
  /** The bridge asks for fewer connections. */
  | 'RATE_LIMITED'
  /** The bridge could not reach the node. */
  | 'NODE_UNREACHABLE'
  /** The bridge has no room for another connection. */
  | 'BRIDGE_BUSY'
  /** The node did not answer the bridge in time. */
  | 'NODE_TIMEOUT'
  /** The connection ended. */
  | 'CONNECTION_CLOSED'
  /** The node did not prove that it holds the expected key. */
  | 'AUTHENTICATION_FAILED'
  /** The peer broke the protocol. */
  | 'PROTOCOL_ERROR'
  /** More arrived than the reader took. */
  | 'QUEUE_FULL'
  /** The messages already have a reader. */
  | 'LOCKED'
  /** The peer is between two connections. Nothing was sent. */
  | 'NOT_CONNECTED'
  /** The node answered a commando call with an error, which is a CommandoError. */
  | 'COMMANDO_ERROR'
  /** The reply to a commando call is longer than was allowed. */
  | 'RESPONSE_TOO_LARGE'
  /** The reply to a commando call is not what JSON-RPC demands. */
  | 'INVALID_RESPONSE';

/** The kinds of error of this package. The names are stable. */
export type ErrorCode = CoreErrorCode | RuntimeErrorCode | ConnectionErrorCode;

/**
 * An error of this package. `code` says what kind it is; the text is for
 * people and may change. Arguments of the wrong type or length are a
 * `TypeError` or `RangeError` instead.
 */
export class BrontosigError extends Error {
  static {
    this.prototype.name = 'BrontosigError';
  }

  /** The kind of error. */
  readonly code: ErrorCode;

  /** Makes an error of the given kind. */
  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The error for what another signer, or the aggregator of nonces, has sent. */
export class InvalidContributionError extends BrontosigError {
  static {
    this.prototype.name = 'InvalidContributionError';
  }

  /**
   * The index of the signer to blame, in the effective order of the keys, or
   * null if it is the aggregator of the nonces who is to blame.
   */
  readonly signerIndex: number | null;

  /** What is invalid. */
  readonly contribution: Contribution;

  /** Makes the error. */
  constructor(message: string, signerIndex: number | null, contribution: Contribution) {
    super('INVALID_CONTRIBUTION', message);
    this.signerIndex = signerIndex;
    this.contribution = contribution;
  }
}
