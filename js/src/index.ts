/**
 * Loads the wasm module, which everything else in this package needs, and names
 * the errors.
 *
 * @module brontosig
 */
export {
  BrontosigError,
  InvalidContributionError,
  type ConnectionErrorCode,
  type Contribution,
  type CoreErrorCode,
  type ErrorCode,
  type RuntimeErrorCode,
} from './errors.js';
export type { WasmSource } from './load.js';
export { init, type InitOptions } from './runtime.js';
