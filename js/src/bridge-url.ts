import { string } from './check.js';

/** What a Lightning node listens on unless it says otherwise (BOLT-1). */
const DEFAULT_PORT = 9735;

const hostAndPort = /^(?<host>\[[0-9a-f:.]+\]|[^\s/:@[\]]+)(?::(?<port>\d{1,5}))?$/i;

/** A host, an IPv6 address in brackets, and a port. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/**
 * Reads `host`, `host:port`, `[v6]` or `[v6]:port`.
 *
 * @throws TypeError if it is none of these.
 */
export function parseHost(name: string, value: string): HostAndPort {
  const { host, port } = hostAndPort.exec(value)?.groups ?? {};
  const number = port === undefined ? DEFAULT_PORT : Number(port);
  if (host === undefined || number < 1 || number > 65_535) {
    throw new TypeError(`${name}: host:port expected, with an IPv6 address in brackets`);
  }
  return { host, port: number };
}

/**
 * Returns the address that reaches a node through a bridge.
 *
 * @param bridge - the bridge's own address, `ws://…` or `wss://…`. A path that it
 * has is kept.
 * @param target - `host:port`, with an IPv6 address in brackets (port 9735 if it
 * is left out); or a node's public key as 66 hexadecimal digits, if the bridge
 * knows where that node is.
 * @throws TypeError that names a wrong argument.
 *
 * @example
 * ```js
 * import { bridgeUrl } from 'brontosig/brontide';
 *
 * console.log(bridgeUrl('ws://localhost:8080', '[2001:db8::1]')); // ws://localhost:8080/[2001:db8::1]:9735
 * ```
 */
export function bridgeUrl(bridge: string | URL, target: string): string {
  let url: URL;
  try {
    url = new URL(bridge);
  } catch (cause) {
    throw new TypeError('bridge: a ws:// or wss:// URL expected', { cause });
  }
  if (!/^wss?:$/.test(url.protocol)) {
    throw new TypeError('bridge: a ws:// or wss:// URL expected');
  }
  const base = url.pathname.replace(/\/$/, '');
  if (/^0[23][0-9a-f]{64}$/i.test(string('target', target))) {
    url.pathname = `${base}/node/${target.toLowerCase()}`;
  } else {
    const { host, port } = parseHost('target', target);
    url.pathname = `${base}/${host}:${port}`;
  }
  return url.href;
}
