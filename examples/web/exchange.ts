import { copyButton, element, onSubmit } from './dom.js';
import { canScan, drawQr, scanQr } from './qr.js';

/** What an {@link Exchange} is made with. */
export interface ExchangeOptions {
  /** What is sent, for people: “public key”. */
  readonly what: string;
  /** What the field takes, for people. */
  readonly hint: string;
  /** Takes what was pasted. It throws an InputError for what is wrong. */
  readonly take: (text: string) => void;
}

/**
 * The part of a step where a signer gives a line to the others and takes theirs:
 * by copy and paste, or as a QR code. Tabs of one browser need none of it.
 */
export class Exchange {
  readonly #what: string;
  readonly #line: HTMLTextAreaElement;
  readonly #send: HTMLDetailsElement;
  readonly #receive: HTMLFormElement;
  readonly #codeButton: HTMLButtonElement;
  #code: Element | undefined;
  #open: boolean | undefined;

  /** Builds it inside an element, whose id those of its fields begin with. */
  constructor(host: HTMLElement, { what, hint, take }: ExchangeOptions) {
    const { id } = host;
    this.#what = what;
    this.#line = element('textarea', { id: `${id}-line`, className: 'mono', readOnly: true, rows: 3, ariaLabel: `Your ${what}` });
    this.#codeButton = element('button', { type: 'button', className: 'small', ariaExpanded: 'false' }, 'QR code');
    this.#codeButton.addEventListener('click', () => {
      this.#draw(this.#code === undefined);
    });
    this.#send = element(
      'details',
      { className: 'field' },
      element('summary', {}, `Your ${what}, for the others`),
      this.#line,
      element('div', { className: 'actions' }, copyButton(`Copy: your ${what}`, () => this.#line.value, this.#line), this.#codeButton),
    );
    this.#receive = receiver(`${id}-paste`, hint, take);
    host.classList.add('exchange');
    host.append(this.#send, this.#receive);
  }

  /** Shows what to send, if there is something, and whether something is still to come. */
  show(line: string | undefined, open: boolean): void {
    this.#send.hidden = line === undefined;
    this.#receive.hidden = !open;
    if (open !== this.#open) {
      this.#open = open;
      this.#send.open = open || line !== undefined && this.#send.contains(document.activeElement);
    }
    if (line !== undefined && line !== this.#line.value) {
      this.#line.value = line;
      this.#draw(this.#code !== undefined);
    }
  }

  #draw(open: boolean): void {
    this.#code?.remove();
    this.#code = undefined;
    this.#codeButton.ariaExpanded = String(open);
    if (open) {
      const tooLong = element('p', { className: 'hint' }, 'It is too long for a QR code. Copy it.');
      this.#code = drawQr(this.#line.value, `QR code of your ${this.#what}`) ?? tooLong;
      this.#send.append(this.#code);
    }
  }
}

/** The field that takes what others send. */
function receiver(id: string, hint: string, take: (text: string) => void): HTMLFormElement {
  const input = element('textarea', { id, name: 'paste', className: 'mono', rows: 3, spellcheck: false });
  input.autocapitalize = 'none';
  input.setAttribute('aria-describedby', `${id}-hint ${id}-error`);
  const actions = element('div', { className: 'actions' }, element('button', {}, 'Take it'));
  const form = element(
    'form',
    { className: 'field', noValidate: true },
    element('label', { htmlFor: id }, 'What another signer sent'),
    input,
    element('p', { id: `${id}-hint`, className: 'hint' }, hint),
    element('p', { id: `${id}-error`, className: 'error', hidden: true }),
    actions,
  );
  onSubmit(
    form,
    (value) => {
      value('paste').split(/\s+/).forEach((line) => {
        take(line);
      });
      input.value = '';
    },
    () => 'paste',
  );
  if (canScan()) {
    const scan = element('button', { type: 'button' }, 'Scan a QR code');
    scan.addEventListener('click', () => {
      void scanQr().then((text) => {
        if (text !== undefined) {
          input.value = text;
          form.requestSubmit();
        }
      });
    });
    actions.append(scan);
  }
  return form;
}
