import { init } from 'brontosig';
import { ConsoleView } from './console-view.js';
import { at } from './dom.js';
import { RoomView } from './room-view.js';

const room = new RoomView();
const node = new ConsoleView();

/** Shows the part of the wallet that the fragment of the URL names. */
function show(): void {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const view = parameters.get('view') === 'console' ? 'console' : 'room';
  for (const part of document.querySelectorAll<HTMLElement>('[data-part]')) {
    part.hidden = part.dataset['part'] !== view;
  }
  for (const link of document.querySelectorAll<HTMLElement>('nav a')) {
    if (link.dataset['view'] === view) {
      link.setAttribute('aria-current', 'page');
    } else {
      link.removeAttribute('aria-current');
    }
  }
  if (view === 'room') {
    room.invite(parameters);
  } else {
    node.invite(parameters);
  }
}

addEventListener('hashchange', () => {
  show();
  document.querySelector<HTMLElement>('[data-part]:not([hidden]) h1')?.focus();
});
// What nothing else explains is said at the top, once.
addEventListener('error', ({ message }) => {
  fail(message);
});
addEventListener('unhandledrejection', ({ reason }) => {
  fail(reason instanceof Error ? reason.message : String(reason));
});
show();

const status = at('status');
try {
  await init();
  status.textContent = 'Ready';
  status.dataset['state'] = 'ready';
  for (const button of document.querySelectorAll<HTMLButtonElement>('button[disabled]')) {
    button.disabled = false;
  }
} catch (error) {
  status.textContent = 'Not loaded';
  status.dataset['state'] = 'failed';
  fail(`The module could not be loaded: ${error instanceof Error ? error.message : String(error)}`);
}

function fail(text: string): void {
  at('failure').textContent = text;
  at('failure').hidden = false;
}
