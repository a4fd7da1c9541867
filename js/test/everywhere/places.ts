/** A way to the nodes of the tests. */
export interface Carrier {
  /** For the names of the tests. */
  readonly name: 'tcp' | 'ws' | 'bridge';
  /** Where the node is that behaves like this. */
  readonly addresses: Readonly<Record<string, string>>;
}

/** What a place where the tests run gives them. */
export interface Place {
  readonly carriers: readonly Carrier[];
  /** The URI of the bridge's own peer, the bridge, and what allows commando calls. */
  readonly peer: string;
  readonly bridge: string;
  readonly rune: string;
}

/** Tests by name. */
export type Suite = Readonly<Record<string, (place: Place) => Promise<void>>>;

/** How one test ended: empty if well. */
export interface Outcome {
  readonly test: string;
  readonly error: string;
}

/** The secret key of all nodes of the tests. */
export const nodeSecret: Uint8Array = new Uint8Array(32).fill(2);
