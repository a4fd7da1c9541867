/**
 * Fetches the module.
 *
 * The default URL is written in the form that bundlers recognise, so that they
 * carry the file along.
 */
export function read(location: URL | string | undefined): Promise<Response> {
  return fetch(location ?? new URL('./brontosig.wasm', import.meta.url));
}
