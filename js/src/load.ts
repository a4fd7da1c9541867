import { BrontosigError } from './errors.js';
import * as browser from './platform-browser.js';

/**
 * Where the wasm module may come from: a URL, or a string that is one (in Node
 * also a file path); a fetched response; the bytes; or the compiled module.
 */
export type WasmSource = URL | string | Response | BufferSource | WebAssembly.Module;

/** How a platform gets at the module's file. */
export interface Platform {
  /** Reads the file at the location. */
  read(location: URL | string): Promise<Response | BufferSource>;
}

let platform: Platform = browser;

/** What to do when something else is where the module should be. */
const ADVICE =
  'Serve the file brontosig.wasm of the package there, or give its place as init({ wasm }); ' +
  'https://github.com/brontosig/brontosig/blob/main/docs/bundlers.md says how.';

/** How every WebAssembly module begins. */
const MAGIC = [0, 0x61, 0x73, 0x6d];

/** Replaces the way in which files are read. The entry for Node calls it. */
export function usePlatform(other: Platform): void {
  platform = other;
}

/** Names the class of a value, whichever window or worker it comes from. */
function className(value: object): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1);
}

function isModule(source: object): source is WebAssembly.Module {
  return className(source) === 'WebAssembly.Module';
}

function isResponse(source: object): source is Response {
  return className(source) === 'Response';
}

function isURL(source: object): source is URL {
  return className(source) === 'URL';
}

function isBytes(source: object): source is BufferSource {
  return ArrayBuffer.isView(source) || className(source) === 'ArrayBuffer';
}

/**
 * Checks that a value can be the source of the module.
 *
 * @throws TypeError if it cannot.
 */
export function checkSource(source: unknown): asserts source is WasmSource | undefined {
  if (source === undefined || typeof source === 'string') {
    return;
  }
  if (typeof source === 'object' && source !== null) {
    if (isModule(source) || isResponse(source) || isURL(source) || isBytes(source)) {
      return;
    }
  }
  throw new TypeError(
    'wasm: a URL, a string, a Response, an ArrayBuffer or view, or a WebAssembly.Module expected',
  );
}

/** Tells whether two sources are the same place or the same object. */
export function sameSource(a: WasmSource | undefined, b: WasmSource | undefined): boolean {
  return locationText(a) === locationText(b);
}

function locationText(source: WasmSource | undefined): unknown {
  return typeof source === 'object' && isURL(source) ? source.href : source;
}

/**
 * Fetches, if need be, and compiles the module.
 *
 * @throws BrontosigError LOAD_FAILED, with the cause.
 */
export async function compile(source: WasmSource | undefined): Promise<WebAssembly.Module> {
  if (typeof source === 'object' && isModule(source)) {
    return source;
  }
  const content =
    source === undefined || typeof source === 'string' || isURL(source)
      ? await read(source)
      : source;
  return isResponse(content) ? compileResponse(content) : compileBytes(content, 'the given bytes');
}

async function read(location: URL | string | undefined): Promise<Response | BufferSource> {
  let place = location;
  try {
    // Bundlers recognise this form, and carry the file along.
    place ??= new URL('./brontosig.wasm', import.meta.url);
    return await platform.read(place);
  } catch (cause) {
    const what = place === undefined ? 'brontosig.wasm beside the code' : String(place);
    throw new BrontosigError('LOAD_FAILED', `${what} could not be read: ${text(cause)}. ${ADVICE}`, { cause });
  }
}

async function compileResponse(response: Response): Promise<WebAssembly.Module> {
  const type = response.headers.get('content-type') ?? 'no content type';
  const what = `${response.url === '' ? 'the given response' : response.url} (${type})`;
  if (!response.ok) {
    throw new BrontosigError(
      'LOAD_FAILED',
      `${what}: the server answered with status ${response.status}. ${ADVICE}`,
    );
  }
  // Compiling while the file arrives works only if the server names the type.
  if (type !== 'application/wasm') {
    let bytes;
    try {
      bytes = await response.arrayBuffer();
    } catch (cause) {
      throw new BrontosigError('LOAD_FAILED', `${what} could not be read: ${text(cause)}`, { cause });
    }
    return compileBytes(bytes, what);
  }
  try {
    return await WebAssembly.compileStreaming(response);
  } catch (cause) {
    throw notModule(what, cause);
  }
}

async function compileBytes(bytes: BufferSource, what: string): Promise<WebAssembly.Module> {
  // V8 takes no DataView here, though the standard does.
  const view = ArrayBuffer.isView(bytes)
    ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : new Uint8Array(bytes);
  if (!MAGIC.every((byte, i) => view[i] === byte)) {
    throw new BrontosigError(
      'LOAD_FAILED',
      `${what}: this is no WebAssembly module, but perhaps the page that a server sends for want of the file. ${ADVICE}`,
    );
  }
  try {
    return await WebAssembly.compile(view);
  } catch (cause) {
    throw notModule(what, cause);
  }
}

function notModule(what: string, cause: unknown): BrontosigError {
  return new BrontosigError(
    'LOAD_FAILED',
    `${what} could not be compiled as WebAssembly: ${text(cause)}`,
    { cause },
  );
}

/** The text of whatever was thrown. */
function text(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
