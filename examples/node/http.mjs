import { once } from 'node:events';
import * as http from 'node:http';
import * as https from 'node:https';

/**
 * Sends a request whose body is JSON, if it has one.
 *
 * @param url - a URL object.
 * @param certificate - for a server with a certificate of its own: PEM.
 * @returns the answer as soon as it begins, an http.IncomingMessage.
 */
export async function request(url, { method, headers = {}, body, certificate, signal }) {
  const { request: start } = url.protocol === 'https:' ? https : http;
  const outgoing = start(url, {
    method,
    headers: { ...headers, 'Content-Type': 'application/json' },
    ca: certificate,
    signal,
  });
  outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  const [response] = await once(outgoing, 'response');
  return response.setEncoding('utf8');
}

/** Reads an answer to its end. */
export async function textOf(response) {
  let text = '';
  for await (const part of response) {
    text += part;
  }
  return text;
}
