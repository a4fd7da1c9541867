/** Fetches the module. */
export function read(location: URL | string): Promise<Response> {
  return fetch(location);
}
