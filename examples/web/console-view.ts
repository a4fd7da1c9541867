import { BrontosigError, type ErrorCode } from 'brontosig';
import { CommandoError, connectPeer, type Peer, type PeerState } from 'brontosig/lightning';
import { toHex } from '../cosign.js';
import { at, byId, element, facts, FieldError, onSubmit } from './dom.js';
import { featuresOf } from './features.js';
import { capital, fromHex } from './packets.js';
import { PingGraph } from './ping-graph.js';
import { tapped } from './tap.js';

const CONNECT_TIMEOUT_MS = 15_000;
const PING_EVERY_MS = 2_000;
const MAX_LOG = 200;

/** What an error of connecting is about, and what can be done. */
const ADVICE: Partial<Record<ErrorCode, readonly [field: 'node' | 'bridge', advice: string]>> = {
  AUTHENTICATION_FAILED: ['node', 'Is this the key of another node than the one at this address?'],
  BRIDGE_REFUSED: ['node', 'The bridge’s operator has to allow this node’s address.'],
  NODE_TIMEOUT: ['node', 'Does the node listen there?'],
  NODE_UNREACHABLE: ['node', 'Does the node listen there?'],
  PROTOCOL_ERROR: ['node', 'Is it a Lightning node that listens there?'],
  BRIDGE_BUSY: ['bridge', 'Try again later.'],
  RATE_LIMITED: ['bridge', 'Try again later.'],
  CONNECTION_FAILED: ['bridge', `Does the bridge run, and does it allow pages of ${location.origin} (--origin)?`],
};

/** The codes with which Core Lightning says which part of a call is wrong. */
const FIELD_OF_RPC_ERROR: Readonly<Record<number, string>> = {
  19_537: 'rune',
  [-32_601]: 'method',
  [-32_602]: 'params',
};

/** The view of the node console. */
export class ConsoleView {
  #peer: Peer | undefined;
  #attempt: AbortController | undefined;
  #pingTimer: ReturnType<typeof setTimeout> | undefined;
  readonly #graph = new PingGraph(at('graph'));

  constructor() {
    onSubmit(byId('connect', HTMLFormElement), (value) => this.#connect(value('node'), value('bridge')), () => 'node');
    at('disconnect').addEventListener('click', () => {
      if (this.#peer === undefined) {
        this.#attempt?.abort();
      } else {
        void this.#peer.close();
      }
    });
    at('ping').addEventListener('click', () => void this.#ping());
    at('auto-ping').addEventListener('change', () => {
      this.#pingSoon(0);
    });
    onSubmit(byId('send', HTMLFormElement), (value) => this.#send(value('type'), value('form'), value('payload')), () => 'payload');
    onSubmit(byId('commando', HTMLFormElement), (value) => this.#call(value('method'), value('params'), value('rune')), () => 'method');
  }

  /** Fills the fields in for a node that a link names. */
  invite(parameters: URLSearchParams): void {
    for (const name of ['node', 'bridge', 'rune']) {
      const value = parameters.get(name);
      if (value !== null) {
        byId(name, HTMLInputElement).value = value;
      }
    }
  }

  async #connect(node: string, bridge: string): Promise<void> {
    checkNode(node);
    if (!/^wss?:\/\/./i.test(bridge) || !URL.canParse(bridge)) {
      throw new FieldError('bridge', 'A bridge is a URL that begins with wss:// or ws://.');
    }
    at('handshake').replaceChildren();
    at('peer-facts').replaceChildren();
    at('notice').hidden = true;
    this.#graph.clear();
    this.#attempt = new AbortController();
    this.#show('connecting', 'Connecting…');
    const started = performance.now();
    const tell = (news: string): void => {
      const time = `${(performance.now() - started).toFixed(0)} ms`;
      at('handshake').append(element('li', {}, element('span', { className: 'time' }, time), news));
    };
    const traffic = element('p', { className: 'hint' });
    let peer: Peer;
    try {
      peer = await connectPeer(node, {
        bridge,
        timeoutMs: CONNECT_TIMEOUT_MS,
        signal: this.#attempt.signal,
        reconnect: byId('reconnect', HTMLInputElement).checked,
        WebSocket: tapped(tell, (sent, received) => {
          traffic.textContent = `${sent} bytes sent, ${received} received, as the bridge sees them`;
        }),
      });
    } catch (error) {
      this.#show('closed', this.#attempt.signal.aborted ? 'Given up.' : 'Not connected.');
      if (this.#attempt.signal.aborted) {
        return;
      }
      if (error instanceof TypeError) {
        throw new FieldError('node', 'The address is a host name or an IP address, an IPv6 one in brackets, and a port.');
      }
      throw explained(error);
    }
    this.#peer = peer;
    at('peer-facts').replaceChildren(
      facts([
        ['Node’s key', toHex(peer.remoteKey)],
        ['This page’s key, drawn for this connection', toHex(peer.localKey)],
      ]),
      traffic,
    );
    this.#follow(peer, tell);
  }

  /** Shows what happens to a peer until it ends. */
  #follow(peer: Peer, tell: (news: string) => void): void {
    const onState = (state: PeerState): void => {
      if (state === 'open') {
        tell('The node has proved its key, and both have said init');
        this.#show('open', 'Connected.');
        this.#showFeatures(peer);
        this.#pingSoon(0);
      }
    };
    peer.on('state', onState);
    peer.on('disconnect', ({ info, attempt, delayMs }) => {
      const why = info.error === undefined ? 'The node has hung up.' : `The connection broke: ${info.error.message}.`;
      const next = `Attempt ${attempt} to connect again follows in ${(delayMs / 1000).toFixed(1)} s.`;
      tell(why);
      this.#show('reconnecting', `${why} ${next}`);
    });
    peer.on('warning', ({ text }) => { this.#log('came', 'warning', text); });
    peer.on('error', ({ text }) => { this.#log('came', 'error', text); });
    peer.on('close', ({ by, error, reason }) => {
      this.#peer = undefined;
      clearTimeout(this.#pingTimer);
      this.#show('closed', by === 'local' && error === undefined ? 'Disconnected.' : 'The connection has ended.');
      if (error !== undefined) {
        this.#notice(explained(error).message);
      } else if (by === 'remote') {
        this.#notice(reason === '' ? 'The node has hung up.' : `The node has hung up: ${reason}`);
      }
    });
    void this.#read(peer);
    onState(peer.state);
  }

  async #read(peer: Peer): Promise<void> {
    try {
      for await (const { type, payload } of peer.messages()) {
        this.#log('came', `type ${type}`, describe(payload));
      }
    } catch {
      // What ended the peer is shown by its event.
    }
  }

  async #ping(): Promise<void> {
    clearTimeout(this.#pingTimer);
    const peer = this.#peer;
    if (peer?.state !== 'open') {
      return;
    }
    let trip: number | undefined;
    try {
      ({ rttMs: trip } = await peer.ping());
    } catch (error) {
      if (!(error instanceof BrontosigError)) {
        throw error;
      }
    }
    if (this.#peer === peer) {
      this.#graph.add(trip);
      this.#pingSoon(PING_EVERY_MS);
    }
  }

  #pingSoon(delay: number): void {
    clearTimeout(this.#pingTimer);
    if (byId('auto-ping', HTMLInputElement).checked && this.#peer?.state === 'open') {
      this.#pingTimer = setTimeout(() => void this.#ping(), delay);
    }
  }

  async #send(type: string, form: string, text: string): Promise<void> {
    const peer = this.#required('payload');
    const number = /^0x/i.test(type) ? Number(type) : /^\d+$/.test(type) ? Number(type) : NaN;
    if (!Number.isInteger(number) || number > 0xffff) {
      throw new FieldError('type', 'A type is a number from 0 to 65535, also as 0x8001.');
    }
    const payload = form === 'hex' ? fromHex('payload', text.replaceAll(/\s/g, '')) : new TextEncoder().encode(text);
    if (payload.length > 65_533) {
      throw new FieldError('payload', `A payload has at most 65,533 bytes, and this one ${payload.length}.`);
    }
    try {
      await peer.send(number, payload);
    } catch (error) {
      if (error instanceof BrontosigError) {
        throw new FieldError(error.code === 'RESERVED_TYPE' ? 'type' : 'payload', `It was not sent: ${error.message}.`);
      }
      throw error;
    }
    this.#log('sent', `type ${number}`, describe(payload));
  }

  async #call(method: string, params: string, rune: string): Promise<void> {
    const peer = this.#required('method');
    if (method === '') {
      throw new FieldError('method', 'Name a method, such as getinfo.');
    }
    const parsed = parseParams(params);
    if (rune === '') {
      throw new FieldError('rune', 'A rune is needed. Core Lightning’s createrune makes one; the demonstration’s bridge prints its own.');
    }
    const reply = at('reply');
    reply.hidden = true;
    at('call-status').textContent = `Calling ${method}…`;
    const started = performance.now();
    try {
      const result = await peer.commando(method, parsed, { rune });
      reply.textContent = JSON.stringify(result, undefined, 2);
      reply.hidden = false;
      at('call-status').textContent = `${method} was answered in ${(performance.now() - started).toFixed(0)} ms.`;
    } catch (error) {
      at('call-status').textContent = '';
      if (error instanceof CommandoError) {
        throw new FieldError(FIELD_OF_RPC_ERROR[error.rpcCode] ?? 'method', `The node says: ${error.message} (${error.rpcCode})`);
      }
      if (error instanceof BrontosigError || error instanceof RangeError) {
        throw new FieldError('method', `The call failed: ${error.message}.`);
      }
      throw error;
    }
  }

  /** The peer, if there is a connection. */
  #required(field: string): Peer {
    if (this.#peer?.state !== 'open') {
      throw new FieldError(field, this.#peer === undefined ? 'Connect to a node first.' : 'Wait until the connection is there again.');
    }
    return this.#peer;
  }

  #showFeatures(peer: Peer): void {
    const rows = featuresOf(peer.remoteInit.features).map(({ bit, name, required }) =>
      element('tr', {}, element('td', {}, String(bit)), element('td', {}, element('code', {}, name)), element('td', {}, required ? 'required' : 'optional')),
    );
    const head = element('tr', {}, ...['Bit', 'Name', 'For others'].map((text) => element('th', { scope: 'col' }, text)));
    at('features').replaceChildren(
      rows.length === 0
        ? element('p', { className: 'hint' }, 'The node names no features.')
        : element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows)),
    );
  }

  #log(way: 'sent' | 'came', what: string, text: string): void {
    const log = at('log');
    log.querySelector(':scope > p')?.remove();
    log.append(
      element(
        'div',
        { className: `entry ${way}` },
        element('span', { className: 'time' }, new Date().toLocaleTimeString()),
        element('span', { className: 'badge' }, way),
        element('span', { className: 'who' }, what),
        element('code', {}, text),
      ),
    );
    while (log.childElementCount > MAX_LOG) {
      log.firstElementChild?.remove();
    }
    log.scrollTop = log.scrollHeight;
  }

  #notice(text: string): void {
    at('notice').textContent = text;
    at('notice').hidden = false;
  }

  #show(state: 'connecting' | PeerState, text: string): void {
    const line = at('connection');
    line.textContent = text;
    line.dataset['state'] = state;
    const ended = state === 'closed';
    const hadFocus = document.activeElement;
    at('connect-button').hidden = !ended;
    at('disconnect').hidden = ended;
    at('disconnect').textContent = state === 'connecting' ? 'Give up' : 'Disconnect';
    byId('ping', HTMLButtonElement).disabled = state !== 'open';
    // The button that had the focus may be gone.
    if (hadFocus === at(ended ? 'disconnect' : 'connect-button')) {
      at(ended ? 'connect-button' : 'disconnect').focus();
    }
  }
}

/** Says what is wrong with a node's URI. */
function checkNode(node: string): void {
  const [key = '', ...rest] = node.split('@');
  const address = rest.join('@');
  if (address === '') {
    throw new FieldError('node', 'A node is written as its key of 66 hexadecimal digits, an @ and its address, host:port.');
  }
  if (!/^[0-9a-f]*$/i.test(key)) {
    throw new FieldError('node', 'The key, before the @, is not hexadecimal.');
  }
  if (key.length !== 66 || !/^0[23]/.test(key)) {
    throw new FieldError('node', `The key, before the @, has ${key.length} digits; 66 are needed, and 02 or 03 at the beginning.`);
  }
}

/** Adds to an error of a connection what can be done about it, and says which field it is about. */
function explained(error: unknown): FieldError {
  if (!(error instanceof BrontosigError)) {
    throw error;
  }
  const [field, advice] = ADVICE[error.code] ?? ['node', ''];
  return new FieldError(field, `${capital(error.message)}. ${advice}`.trim());
}

function parseParams(text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text === '' ? '{}' : text);
  } catch (cause) {
    throw new FieldError('params', `This is no JSON: ${cause instanceof Error ? cause.message : String(cause)}.`);
  }
  if (typeof value !== 'object' || value === null) {
    throw new FieldError('params', 'Parameters are an object {…} or a list […].');
  }
  return value;
}

/** Writes a payload in hexadecimal, and as text if it is some. */
function describe(payload: Uint8Array): string {
  const shown = payload.subarray(0, 48);
  const text = new TextDecoder().decode(shown);
  const hex = `${toHex(shown)}${payload.length > shown.length ? '…' : ''}`;
  const size = `${payload.length} ${payload.length === 1 ? 'byte' : 'bytes'}`;
  return /^[\x20-\x7e]+$/.test(text) ? `${size}: ${hex} “${text}”` : `${size}${hex === '' ? '' : `: ${hex}`}`;
}
