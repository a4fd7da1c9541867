import { request, textOf } from './http.mjs';

/** What the node says about a call that it refuses. */
export class RpcError extends Error {
  name = 'RpcError';

  /** @param code - the number that tells kinds of errors apart. */
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}

/** Calls a Bitcoin node, btcd or Bitcoin Core, through JSON-RPC. */
export class BitcoinRpc {
  #url;
  #options;

  /**
   * @param url - with the name and password, such as http://user:password@127.0.0.1:8332.
   * @param certificate - for btcd, which speaks https: the text of its rpc.cert.
   */
  constructor({ url, certificate }) {
    const { username, password, origin, pathname } = new URL(url);
    const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    this.#url = new URL(pathname, origin);
    this.#options = {
      method: 'POST',
      certificate,
      headers: { Authorization: `Basic ${Buffer.from(credentials).toString('base64')}` },
    };
  }

  async call(method, ...params) {
    const body = { jsonrpc: '1.0', id: 1, method, params };
    const response = await request(this.#url, { ...this.#options, body });
    const text = await textOf(response);
    if (!text.startsWith('{')) {
      throw new RpcError(`${method}: HTTP status ${response.statusCode} ${text}`.trim(), response.statusCode);
    }
    const { result, error } = JSON.parse(text);
    if (error) {
      throw new RpcError(`${method}: ${error.message}`, error.code);
    }
    return result;
  }
}
