// Writes dist/go-runtime.js: the toolchain's own wasm_exec.js, unmodified,
// inside a function whose globals are private.
//
// As it stands that file defines Go, fs, path and a crippled process on
// globalThis. Code of a page that tests for `process` to find out whether it
// runs in Node would then be misled. Here the file's `globalThis` is an object
// of our own, so that nothing on the real one changes.
//
//   node go-runtime.mjs GOROOT OUTPUT
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const [goroot, output] = process.argv.slice(2);
if (goroot === undefined || output === undefined) {
  throw new Error('usage: go-runtime.mjs GOROOT OUTPUT');
}

const toolchain = await readFile(join(goroot, 'lib/wasm/wasm_exec.js'), 'utf8');
const license = await readFile(join(goroot, 'LICENSE'), 'utf8');

// What the Go runtime and the packages that the module links look up. performance
// is read here and not inherited: its accessor on window accepts no other receiver.
const head = `// Made by js/scripts/go-runtime.mjs from the Go toolchain's lib/wasm/wasm_exec.js.

/*
The part marked below, and the compiled module, contain code of the Go project
under this license:

${license.trim()}
*/

const host = globalThis;

export function newGo(ended, getRandomValues) {
  let line = '';
  const decoder = new TextDecoder();
  // Go writes here only when the program is about to end: the reason and the
  // stacks of its goroutines.
  const fs = {
    writeSync(fd, bytes) {
      line += decoder.decode(bytes, { stream: true });
      const end = line.lastIndexOf('\\n');
      if (end >= 0) {
        console.error(line.slice(0, end));
        line = line.slice(end + 1);
      }
      return bytes.length;
    },
  };
  // A timer of the Go runtime must neither keep a Node process alive nor throw
  // into the page when the program has ended meanwhile.
  const setTimeout = (callback, ms) => {
    const timer = host.setTimeout(() => {
      try {
        callback();
      } catch (cause) {
        ended(cause);
      }
    }, ms);
    if (typeof timer === 'object') {
      timer.unref();
    }
    return timer;
  };
  return ((globalThis) => {
// ---- wasm_exec.js, unmodified, from here
`;
const tail = `
// ---- to here
    const go = new globalThis.Go();
    go.exit = (code) => {
      ended(new Error(\`the Go program ended with code \${code}\`));
    };
    return go;
  })({
    Array: host.Array,
    Date: host.Date,
    Object: host.Object,
    TextDecoder: host.TextDecoder,
    TextEncoder: host.TextEncoder,
    Uint8Array: host.Uint8Array,
    crypto: { getRandomValues },
    performance: host.performance,
  });
}
`;

await writeFile(output, head + toolchain + tail);
