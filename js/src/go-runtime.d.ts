/** The Go runtime's side of a wasm instance, as far as it is used here. */
export interface Go {
  /** What the module imports. */
  readonly importObject: WebAssembly.Imports;
  /**
   * Starts the program. It has run up to its idle state when this returns. The
   * promise rejects if that fails and stays pending while the program lives.
   */
  run(instance: WebAssembly.Instance): Promise<void>;
}

/**
 * Makes the Go runtime for one instance.
 *
 * @param ended - is called when the program has ended, which it never should.
 * @param getRandomValues - is the program's source of random bytes.
 */
export declare function newGo(
  ended: (cause: unknown) => void,
  getRandomValues: (target: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>,
): Go;
