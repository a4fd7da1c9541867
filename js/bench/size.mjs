// What the module weighs, and what its bytes are.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { header, row } from './measure.mjs';

const root = new URL('../../', import.meta.url);

/** The sizes of a module in bytes, as it is and compressed as a web server can do it ahead of time. */
export function sizes(wasm) {
  const brotli = {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  };
  return {
    raw: wasm.length,
    gzip: gzipSync(wasm, { level: 9 }).length,
    brotli: brotliCompressSync(wasm, brotli).length,
  };
}

/** Reads a module piece by piece. */
class Reader {
  constructor(bytes, at = 0) {
    this.bytes = bytes;
    this.at = at;
  }

  /** An unsigned number in LEB128. */
  number() {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      if (byte < 128) {
        return value;
      }
    }
  }

  take(length) {
    this.at += length;
    return this.bytes.subarray(this.at - length, this.at);
  }

  text() {
    return Buffer.from(this.take(this.number())).toString();
  }
}

function* sections(wasm) {
  const reader = new Reader(wasm, 8);
  while (reader.at < wasm.length) {
    const id = reader.take(1)[0];
    yield { id, content: new Reader(reader.take(reader.number())) };
  }
}

const CUSTOM = 0;
const IMPORT = 2;
const CODE = 10;
const DATA = 11;
const FUNCTION_NAMES = 1;

/** How many functions are imported: those that Go imports take no more than that. */
function countImports(reader) {
  const count = reader.number();
  for (let i = 0; i < count; i++) {
    reader.text();
    reader.text();
    if (reader.take(1)[0] !== 0) {
      throw new Error('the module imports something that is no function');
    }
    reader.number();
  }
  return count;
}

function functionNames(reader) {
  const names = new Map();
  while (reader.at < reader.bytes.length) {
    const kind = reader.take(1)[0];
    const part = new Reader(reader.take(reader.number()));
    if (kind === FUNCTION_NAMES) {
      for (let left = part.number(); left > 0; left--) {
        const index = part.number();
        names.set(index, part.text());
      }
    }
  }
  return names;
}

// The linker writes names with all but letters, digits and points replaced.
const mangled = (name) => name.replaceAll(/[^\w.]/g, '_');

/** Tells of which of the packages a function is, from its name in the module. */
function packageOf(name, packages) {
  let found = 'made by the toolchain';
  let length = 0;
  for (const [prefix, path] of packages) {
    if (prefix.length > length && name.startsWith(prefix)) {
      found = path;
      length = prefix.length;
    }
  }
  return found;
}

/** The packages that the module is built of, by how the names of their functions begin. */
function packages() {
  const env = { ...process.env, GOOS: 'js', GOARCH: 'wasm' };
  const list = execFileSync('go', ['list', '-deps', './wasm'], { cwd: root, env, encoding: 'utf8' });
  return new Map(list.trim().split('\n').map((path) => [`${mangled(path.endsWith('/wasm') ? 'main' : path)}.`, path]));
}

/** The bytes of code by package, and those that are no code. */
function contents(wasm) {
  let imports = 0;
  let names = new Map();
  const bodies = [];
  let data = 0;
  for (const { id, content } of sections(wasm)) {
    if (id === IMPORT) {
      imports = countImports(content);
    } else if (id === CODE) {
      for (let left = content.number(); left > 0; left--) {
        bodies.push(content.take(content.number()));
      }
    } else if (id === DATA) {
      data = content.bytes.length;
    } else if (id === CUSTOM && content.text() === 'name') {
      names = functionNames(content);
    }
  }
  const known = packages();
  const code = new Map();
  bodies.forEach((body, i) => {
    const name = packageOf(names.get(imports + i) ?? '', known);
    code.set(name, [...(code.get(name) ?? []), body]);
  });
  return { code, data };
}

const kilobytes = (bytes) => (bytes / 1000).toFixed(0);

/**
 * Prints the size of the module, and what its code is by package. Alone, the
 * code of a package compresses less well than as a part of the whole.
 *
 * @param named - the same module built with names.
 */
export function size(wasm, named) {
  header('kB of the module', 'raw', 'gzip -9', 'brotli -11');
  row('', ...Object.values(sizes(wasm)).map(kilobytes));

  const { code: byPackage, data } = contents(named);
  const list = [...byPackage].map(([name, bodies]) => ({ name, code: Buffer.concat(bodies) }));
  list.sort((a, b) => b.code.length - a.code.length);
  header('kB of code by package', 'raw', 'brotli -11, alone');
  let rest = Buffer.alloc(0);
  for (const { name, code } of list) {
    if (code.length < 15_000) {
      rest = Buffer.concat([rest, code]);
    } else {
      row(name, kilobytes(code.length), kilobytes(sizes(code).brotli));
    }
  }
  row('packages under 15 kB', kilobytes(rest.length), kilobytes(sizes(rest).brotli));
  row('data: constants, types, line tables', kilobytes(data), '–');
}

/** Reads a module of the build. */
export const readModule = (path) => readFileSync(new URL(path, root));
