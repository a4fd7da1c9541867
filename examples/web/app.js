import { BrontosigError, init } from 'brontosig';
import { connectPeer } from 'brontosig/lightning';
import { verify } from 'brontosig/musig2';
import { cosign, toHex } from './cosign.js';

const CONNECT_TIMEOUT_MS = 15_000;

/** The field that an error of a connection is about. Others are shown at the end. */
const FIELD_OF_ERROR = {
  AUTHENTICATION_FAILED: 'node',
  BRIDGE_REFUSED: 'node',
  NODE_TIMEOUT: 'node',
  NODE_UNREACHABLE: 'node',
  BRIDGE_BUSY: 'bridge',
  CONNECTION_FAILED: 'bridge',
  RATE_LIMITED: 'bridge',
};

/** An error of what a person typed into a field. */
class FieldError extends Error {
  constructor(field, message) {
    super(message);
    this.field = field;
  }
}

const statusLine = document.getElementById('status');
const query = new URLSearchParams(location.search);
for (const name of ['node', 'bridge']) {
  document.getElementById(name).value = query.get(name) ?? '';
}
handle('sign', sign);
handle('connect', connect);

try {
  await init();
  statusLine.textContent = 'Ready';
  statusLine.dataset.state = 'ready';
  for (const button of document.querySelectorAll('button')) {
    button.disabled = false;
  }
} catch (error) {
  statusLine.textContent = `The module could not be loaded: ${error.message}`;
  statusLine.dataset.state = 'failed';
}

/** Runs an action when a form is submitted, one at a time, and shows how it ends. */
function handle(formId, action) {
  const form = document.getElementById(formId);
  const button = form.querySelector('button');
  const result = document.getElementById(`${formId}-result`);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    for (const input of form.querySelectorAll('input')) {
      showFieldError(input, '');
    }
    result.removeAttribute('data-state');
    result.replaceChildren(element('p', { className: 'busy' }, button.dataset.busy ?? 'Working…'));
    button.disabled = true;
    try {
      const fields = new FormData(form);
      result.replaceChildren(...(await action((name) => fields.get(name).trim())));
      result.dataset.state = 'done';
    } catch (error) {
      showError(form, result, error);
    } finally {
      button.disabled = false;
    }
  });
}

function sign(field) {
  const text = field('message');
  if (text === '') {
    throw new FieldError('message', 'Type the message that the three are to sign.');
  }
  const message = new TextEncoder().encode(text);
  const started = performance.now();
  const { outputKey, signature, signers } = cosign(message, 3);
  const elapsed = performance.now() - started;
  if (!verify(signature, message, outputKey)) {
    throw new Error('The signature is not valid.');
  }
  return [
    verdict(`Valid for BIP-340, made in ${elapsed.toFixed(1)} ms`),
    facts({ 'Aggregate key': code(toHex(outputKey)), Signature: code(toHex(signature)) }),
    ...signers.map(({ publicKey, publicNonce, partialSignature }, index) =>
      element(
        'details',
        {},
        element('summary', {}, `What signer ${index + 1} told the others`),
        facts({
          'Public key': code(toHex(publicKey)),
          'Public nonce': code(toHex(publicNonce)),
          'Partial signature': code(toHex(partialSignature)),
        }),
      ),
    ),
  ];
}

async function connect(field) {
  const node = field('node');
  const bridge = field('bridge');
  if (!/^[0-9a-f]{66}@./i.test(node)) {
    throw new FieldError('node', 'A node is written as its key of 66 hex digits, an @ and its address.');
  }
  if (!/^wss?:\/\/./i.test(bridge) || !URL.canParse(bridge)) {
    throw new FieldError('bridge', 'A bridge is written as a URL that starts with ws:// or wss://.');
  }
  const peer = await connectPeer(node, { bridge, timeoutMs: CONNECT_TIMEOUT_MS });
  try {
    const { rttMs } = await peer.ping();
    return [
      verdict('Connected: the node has proved its key'),
      facts({
        'Node key': code(toHex(peer.remoteKey)),
        Features: code(toHex(peer.remoteInit.features)),
        'Round trip': `${rttMs.toFixed(1)} ms`,
      }),
    ];
  } finally {
    await peer.close();
  }
}

/** Shows an error next to the field that it is about, or else as the result. */
function showError(form, result, error) {
  const name = error instanceof FieldError ? error.field : FIELD_OF_ERROR[error.code];
  const input = name === undefined ? null : form.elements.namedItem(name);
  if (input) {
    showFieldError(input, error.message);
    input.focus();
    result.replaceChildren();
    return;
  }
  const code = error instanceof BrontosigError ? ` (${error.code})` : '';
  result.replaceChildren(element('p', { className: 'error' }, error.message + code));
  result.dataset.state = 'failed';
}

function showFieldError(input, message) {
  const line = document.getElementById(`${input.id}-error`);
  line.textContent = message;
  line.hidden = message === '';
  input.setAttribute('aria-invalid', String(message !== ''));
}

function verdict(text) {
  return element('p', { className: 'verdict' }, text);
}

function code(text) {
  return element('code', {}, text);
}

/** A list of names and values. */
function facts(entries) {
  const list = element('dl');
  for (const [name, value] of Object.entries(entries)) {
    list.append(element('dt', {}, name), element('dd', {}, value));
  }
  return list;
}

function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}
