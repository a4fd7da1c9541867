import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/**
 * Reads the module from a file, or fetches it if the location is a URL with
 * another scheme than `file:`. A string without one of the schemes that Node
 * can fetch is a path.
 */
export async function read(location: URL | string): Promise<Response | BufferSource> {
  if (/^(https?|data|blob):/i.test(String(location))) {
    return fetch(location);
  }
  return readFile(/^file:/i.test(String(location)) ? fileURLToPath(location) : location);
}
