import { BrontosigError } from 'brontosig';
import { toHex } from '../cosign.js';
import { at, byId, element, facts, FieldError, goTo, onSubmit, showFieldError } from './dom.js';
import { Exchange } from './exchange.js';
import { capital, KIND_NAMES, InputError, readPacket, readSecretKey, writePacket, type Packet } from './packets.js';
import { Room, type Stage } from './room.js';
import { Tabs } from './tabs.js';
import { isNetwork } from './task.js';

/** The steps that a person sees. */
const STEPS = ['keys', 'address', 'task', 'nonces', 'partials', 'done'] as const;

const STEP_NAMES: Readonly<Record<(typeof STEPS)[number], string>> = {
  keys: 'Public keys',
  address: 'Address',
  task: 'What to sign',
  nonces: 'Nonces',
  partials: 'Partial signatures',
  done: 'Signature',
};

const MAX_SIZE = 15;
const MAX_HISTORY = 100;

/** The view of the co-signing room. */
export class RoomView {
  #room: Room | undefined;
  #tabs: Tabs | undefined;
  #shown: Stage | undefined;
  #said = '';
  readonly #exchanges = {
    keys: this.#exchange('keys', 'public key', 'A line that begins with brontosig:key, or the 66 digits of the key alone.', true),
    task: this.#exchange('task', 'message or PSBT', 'A line that begins with brontosig:message or brontosig:psbt.'),
    nonces: this.#exchange('nonces', 'nonce', 'A line that begins with brontosig:nonce.'),
    partials: this.#exchange('partials', 'partial signature', 'A line that begins with brontosig:partial.'),
  };

  constructor() {
    onSubmit(byId('room-start', HTMLFormElement), (value) => { this.#open(value); }, (error) => error instanceof FieldError ? error.field : 'secret');
    this.#onClick('leave', () => { this.leave(); });
    this.#onClick('approve', () => { this.#room?.approve(); });
    this.#onClick('sign', () => { this.#room?.sign(); });
    this.#onClick('restart', () => {
      this.#room?.restart();
      this.#say('You have started over, with fresh nonces.');
    });
    this.#onClick('again', () => { this.#room?.clear(); });
    this.#onClick('reopen', () => {
      this.#room?.reopen();
      this.#say('Back at the keys.');
    });
    this.#onClick('example', () => {
      byId('psbt', HTMLTextAreaElement).value = this.#room?.example ?? '';
      byId('psbt', HTMLTextAreaElement).focus();
    });
    byId('agree', HTMLFormElement).addEventListener('submit', (event) => {
      event.preventDefault();
      this.#agree();
    });
    const propose = byId('propose', HTMLFormElement);
    propose.addEventListener('change', () => { this.#showKind(); });
    onSubmit(
      propose,
      (value) => {
        const kind = value('kind') === 'psbt' ? 'psbt' : 'message';
        this.#act((room) => { room.propose(kind, value(kind)); });
      },
      () => (new FormData(propose).get('kind') === 'psbt' ? 'psbt' : 'message'),
    );
    // A page that comes back from the browser's cache would have lost its room.
    addEventListener('pagehide', () => { this.leave(); });
  }

  /** Fills the form in for a room that somebody was invited to. */
  invite(parameters: URLSearchParams): void {
    if (this.#room !== undefined) {
      return;
    }
    const name = parameters.get('room') ?? randomName();
    byId('room', HTMLInputElement).value = name.slice(0, 40);
    byId('size', HTMLInputElement).value = parameters.get('signers') ?? '2';
    const network = parameters.get('network') ?? 'signet';
    byId('network', HTMLSelectElement).value = isNetwork(network) ? network : 'signet';
  }

  /** Ends the room, and wipes its secrets. */
  leave(): void {
    if (this.#room === undefined) {
      return;
    }
    this.#tabs?.close(this.#room.own);
    this.#room.dispose();
    this.#room = undefined;
    this.#shown = undefined;
    at('room-live').hidden = true;
    at('room-start').hidden = false;
    for (const id of ['message', 'psbt', 'keys-exchange-paste', 'task-exchange-paste', 'nonces-exchange-paste', 'partials-exchange-paste']) {
      const field = byId(id, HTMLTextAreaElement);
      field.value = '';
      showFieldError(field, '');
    }
    byId('size', HTMLInputElement).focus();
  }

  #open(value: (name: string) => string): void {
    const size = Number(value('size'));
    if (!Number.isInteger(size) || size < 2 || size > MAX_SIZE) {
      throw new FieldError('size', `Two to ${MAX_SIZE} can sign together.`);
    }
    const name = value('room');
    if (!/^[\w-]+$/.test(name)) {
      throw new FieldError('room', 'A name has letters without accents, digits, - and _.');
    }
    const network = value('network');
    const secret = byId('secret', HTMLInputElement);
    let room: Room;
    try {
      room = new Room({
        size,
        network: isNetwork(network) ? network : 'signet',
        secretKey: secret.value.trim() === '' ? undefined : readSecretKey(secret.value),
        post: (packet) => this.#tabs?.send(writePacket(packet)),
      });
    } catch (cause) {
      throw cause instanceof BrontosigError ? new InputError(`This is no secret key: ${cause.message}.`, { cause }) : cause;
    }
    secret.value = '';
    this.#room = room;
    const parameters = new URLSearchParams({ view: 'room', room: name, signers: String(size), network: room.network });
    history.replaceState(null, '', `#${parameters.toString()}`);
    byId('room-invite', HTMLAnchorElement).href = location.href;
    at('room-name').textContent = name;
    at('room-facts').textContent = `${size} signers, ${room.network}`;
    at('room-start').hidden = true;
    at('room-live').hidden = false;
    at('history').replaceChildren();
    this.#say('The room is open.');
    const repeat = (): void => {
      room.packets.forEach((packet) => this.#tabs?.send(writePacket(packet)));
    };
    this.#tabs = new Tabs(name, {
      onHello: repeat,
      onBye: (key) => {
        const who = room.name(key);
        room.leave(key);
        this.#say(`The ${who} has left.`);
        this.#render();
      },
      onLine: (line) => { this.#hear(room, line); },
    });
    this.#tabs.hello();
    repeat();
    this.#render();
    goTo(at('keys-title'));
  }

  #hear(room: Room, line: string): void {
    let packet: Packet;
    try {
      packet = readPacket(line);
    } catch (error) {
      if (!(error instanceof InputError)) {
        throw error;
      }
      this.#say(`Another tab sent something wrong. ${error.message}`);
      return;
    }
    if (packet.from === room.own) {
      this.#say('Another tab of this room has the same secret key. Close one of them.');
      return;
    }
    const news = room.hear(packet);
    if (news !== undefined) {
      this.#say(news);
    }
    this.#render();
  }

  #exchange(step: string, what: string, hint: string, bareKey = false): Exchange {
    return new Exchange(at(`${step}-exchange`), {
      what,
      hint,
      take: (text) => {
        this.#act((room) => { this.#say(room.receive(readPacket(text, bareKey))); });
      },
    });
  }

  #agree(): void {
    const line = at('agree-error');
    line.hidden = true;
    try {
      this.#act((room) => { room.agree(); });
    } catch (error) {
      if (!(error instanceof InputError)) {
        throw error;
      }
      line.textContent = error.message;
      line.hidden = false;
    }
  }

  #onClick(id: string, action: () => void): void {
    at(id).addEventListener('click', () => {
      this.#act(action);
    });
  }

  /** Does what a person asked for. If that is the end of a step, the focus goes to the next. */
  #act(action: (room: Room) => void): void {
    const room = this.#room;
    if (room === undefined) {
      return;
    }
    const before = room.stage;
    try {
      action(room);
    } finally {
      this.#render();
    }
    if (this.#room === room && room.stage !== before) {
      const { stage } = room;
      goTo(at(stage === 'task' && before === 'keys' ? 'address-title' : `${stage}-title`));
    }
  }

  /** Says what has happened, to everybody and to screen readers. */
  #say(text: string): void {
    this.#said = text;
    const history = at('history');
    history.append(element('li', {}, text));
    while (history.childElementCount > MAX_HISTORY) {
      history.firstElementChild?.remove();
    }
  }

  #render(): void {
    const room = this.#room;
    if (room === undefined) {
      return;
    }
    const { stage } = room;
    const current = STEPS.indexOf(stage);
    STEPS.forEach((step, i) => {
      // The address is made in one go with the keys' step.
      at(`step-${step}`).hidden = i > current || (step === 'done' && stage !== 'done');
      at(`step-${step}`).dataset['state'] = i < current || stage === 'done' ? 'done' : 'current';
    });
    at('stepper').replaceChildren(...STEPS.map((step, i) => stepItem(STEP_NAMES[step], i, stage === 'done' ? STEPS.length : current)));
    const status = [this.#said, this.#waitsFor(room)].filter((part) => part !== '').join(' ');
    if (at('room-status').textContent !== status) {
      at('room-status').textContent = status;
    }
    this.#renderSigners(room);
    this.#renderKeys(room);
    if (room.keys !== undefined) {
      this.#renderAddress(room);
      this.#renderTask(room);
      this.#renderSigning(room);
    }
    if (room.result !== undefined && this.#shown !== 'done') {
      at('done-verdict').textContent = `${room.result.title} Every signature was verified under the address’s key.`;
      at('done-facts').replaceChildren(facts(room.result.facts));
    }
    this.#shown = stage;
  }

  #waitsFor(room: Room): string {
    const missing = (known: { has(key: string): boolean }): string =>
      (room.keys ?? []).filter((key) => !known.has(key) && key !== room.own).map((key) => room.name(key)).join(' and ');
    switch (room.stage) {
      case 'keys':
        return room.present.size === room.size ? 'All keys are here: make the address.' : room.keyCount;
      case 'task':
        return room.proposal === undefined ? 'Propose what to sign, or wait for a proposal.' : 'Read what is proposed, and agree or not.';
      case 'nonces':
        return `Waiting for the nonce of ${missing(room.nonces)}.`;
      case 'partials':
        return room.partials.has(room.own) ? `Waiting for the partial signature of ${missing(room.partials)}.` : 'All nonces are here. It is your turn to sign.';
      case 'done':
        return 'Done: the signature is complete.';
    }
  }

  #renderSigners(room: Room): void {
    const keys = room.keys ?? [...room.present];
    at('signers').replaceChildren(
      ...keys.map((key, i) => {
        const title = room.keys === undefined ? 'Key' : `Signer ${i + 1}`;
        const state = key === room.own ? 'you' : room.complaints.has(key) ? 'problem' : room.gone.has(key) ? 'left' : 'here';
        const item = element(
          'li',
          {},
          element('span', { className: 'who' }, title),
          element('span', { className: `badge ${state}` }, state),
          element('code', {}, `${key.slice(0, 10)}…${key.slice(-8)}`),
        );
        const complaint = room.complaints.get(key);
        if (complaint !== undefined) {
          item.append(element('p', { className: 'error' }, complaint));
        }
        return item;
      }),
    );
  }

  #renderKeys(room: Room): void {
    const open = room.stage === 'keys';
    at('keys-list').replaceChildren(
      ...(room.keys ?? [...room.present]).map((key) => {
        const item = element('li', {}, element('code', {}, key));
        if (key === room.own) {
          item.append(' ', element('span', { className: 'badge you' }, 'you'));
        } else if (open) {
          const remove = element('button', { type: 'button', className: 'small', ariaLabel: `Remove the ${room.name(key)}` }, 'Remove');
          remove.addEventListener('click', () => {
            this.#act(() => {
              room.leave(key);
              this.#say(`The ${room.name(key)} was removed.`);
            });
            goTo(at('keys-title'));
          });
          item.append(' ', remove);
        }
        return item;
      }),
    );
    this.#exchanges.keys.show(writePacket({ kind: 'key', from: room.own }), open);
    at('agree').hidden = !open;
  }

  #renderAddress(room: Room): void {
    if (!at('address-facts').textContent.includes(room.address)) {
      at('address-facts').replaceChildren(facts([['Address', room.address], ['Output key (BIP-86)', room.outputKey]]));
    }
    const strangers = [...room.present].filter((key) => room.keys?.includes(key) === false);
    const text = [
      ...[...room.gone].map((key) => `The ${room.name(key)} has closed its tab. If its key was not kept elsewhere, nobody can sign for this address any more.`),
      ...strangers.map((key) => `The ${room.name(key)} wants to join.`),
    ].join(' ');
    at('gone').hidden = text === '';
    at('gone-text').textContent = text;
  }

  #renderTask(room: Room): void {
    const { proposal, task } = room;
    at('proposal').hidden = proposal === undefined;
    if (proposal !== undefined) {
      const other = task === undefined ? '' : ' instead';
      at('proposal-title').textContent = `${capital(room.name(proposal.from))} proposes this ${KIND_NAMES[proposal.task.kind]}${other}`;
      at('proposal-facts').replaceChildren(facts(proposal.task.facts));
    }
    at('propose').hidden = task !== undefined;
    at('task-facts').replaceChildren(...(task === undefined ? [] : [facts(task.facts)]));
    this.#exchanges.task.show(line(room.taskPacket), task === undefined);
    this.#showKind();
  }

  #renderSigning(room: Room): void {
    const list = (kind: 'nonce' | 'partial', known: ReadonlyMap<string, readonly Uint8Array[]>): HTMLElement[] =>
      (room.keys ?? []).map((key, i) => {
        const values = known.get(key);
        const state = values !== undefined ? (kind === 'partial' ? 'verified' : 'here') : room.complaints.has(key) ? 'problem' : 'waiting';
        return element(
          'li',
          {},
          element('span', { className: 'who' }, `Signer ${i + 1}${key === room.own ? ', you' : ''}`),
          element('span', { className: `badge ${state}` }, state),
          element('code', {}, values === undefined ? '' : values.map((value) => `${toHex(value).slice(0, 24)}…`).join(' ')),
        );
      });
    at('nonces-list').replaceChildren(...list('nonce', room.nonces));
    at('partials-list').replaceChildren(...list('partial', room.partials));
    const signing = room.stage === 'partials';
    this.#exchanges.nonces.show(line(room.sessionPacket('nonce')), room.stage === 'nonces');
    this.#exchanges.partials.show(line(room.sessionPacket('partial')), signing);
    at('attempt').hidden = room.attempt < 2;
    at('attempt').textContent = `Attempt ${room.attempt}: somebody has started over. What was sent before is worth nothing now.`;
    at('restart').hidden = room.stage !== 'nonces' && !signing;
    at('sign').hidden = !signing || room.partials.has(room.own);
  }

  #showKind(): void {
    const kind = new FormData(byId('propose', HTMLFormElement)).get('kind');
    for (const field of at('propose').querySelectorAll<HTMLElement>('[data-kind]')) {
      field.hidden = field.dataset['kind'] !== kind;
    }
  }
}

/** An entry of the list of steps, which says in words where it stands. */
function stepItem(name: string, index: number, current: number): HTMLLIElement {
  const state = index < current ? 'done' : index === current ? 'current' : 'to come';
  const item = element(
    'li',
    { className: state.replace(' ', '-') },
    element('span', { className: 'number', ariaHidden: 'true' }, index < current ? '✓' : String(index + 1)),
    element('span', { className: 'name' }, name),
    element('span', { className: 'unseen' }, `, ${state}`),
  );
  if (state === 'current') {
    item.setAttribute('aria-current', 'step');
  }
  return item;
}

function line(packet: Packet | undefined): string | undefined {
  return packet && writePacket(packet);
}

function randomName(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  return Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => letters[byte % letters.length] ?? '').join('');
}
