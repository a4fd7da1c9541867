import { InputError } from './packets.js';

/** Finds an element of the page that is always there. */
export function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) {
    throw new Error(`the page has no ${type.name} #${id}`);
  }
  return found;
}

/** Finds an element of any kind. */
export function at(id: string): HTMLElement {
  return byId(id, HTMLElement);
}

/** Makes an element. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

/** Makes an element of a picture. */
export function svg(tag: string, attributes: Readonly<Record<string, string | number>>, ...children: readonly Node[]): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/** An error of a certain field. */
export class FieldError extends InputError {
  /** The name of the field. */
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** A field that a person fills in. */
type Field = HTMLInputElement | HTMLTextAreaElement;

/** Shows what is wrong with a field beside it; nothing, with an empty message. */
export function showFieldError(input: Field, message: string): void {
  const line = at(`${input.id}-error`);
  line.textContent = message;
  line.hidden = message === '';
  if (message === '') {
    input.removeAttribute('aria-invalid');
  } else {
    input.setAttribute('aria-invalid', 'true');
  }
}

/**
 * Runs an action when a form is submitted. What is wrong with the input is shown
 * beside its field, which gets the focus.
 *
 * @param action - gets a function that reads a field by its name.
 * @param fieldOf - says which field an error is about that does not say it itself.
 */
export function onSubmit(
  form: HTMLFormElement,
  action: (value: (name: string) => string) => void | Promise<void>,
  fieldOf: (error: InputError) => string,
): void {
  const fields = (): Field[] => [...form.querySelectorAll<Field>('input, textarea')];
  const run = async (): Promise<void> => {
    for (const input of fields()) {
      if (input.hasAttribute('aria-invalid')) {
        showFieldError(input, '');
      }
    }
    const values = new FormData(form);
    try {
      await action((name) => {
        const value = values.get(name);
        return typeof value === 'string' ? value.trim() : '';
      });
    } catch (error) {
      if (!(error instanceof InputError)) {
        throw error;
      }
      const name = error instanceof FieldError ? error.field : fieldOf(error);
      const input = fields().find((field) => field.name === name);
      if (input === undefined) {
        throw error;
      }
      input.closest('details')?.setAttribute('open', '');
      showFieldError(input, error.message);
      input.focus();
    }
  };
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void run();
  });
}

/** Moves the focus to a heading, so that who cannot see the page hears where it goes on. */
export function goTo(heading: HTMLElement): void {
  heading.focus({ preventScroll: true });
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  heading.scrollIntoView({ block: 'center', behavior: calm ? 'auto' : 'smooth' });
}

/** A list of names and values, with a button that copies a value that is long. */
export function facts(entries: readonly (readonly [name: string, value: string])[]): HTMLDListElement {
  const list = element('dl', { className: 'facts' });
  for (const [name, value] of entries) {
    const code = element('code', {}, value);
    const detail = element('dd', {}, code);
    if (value.length > 40 && !value.includes(' ')) {
      detail.append(copyButton(`Copy: ${name}`, () => value, code));
    }
    list.append(element('div', {}, element('dt', {}, name), detail));
  }
  return list;
}

/** A button that copies a text, or where the browser does not allow that, selects it. */
export function copyButton(label: string, text: () => string, shown: HTMLElement): HTMLButtonElement {
  const said = element('span', {}, 'Copy');
  const button = element('button', { type: 'button', className: 'small', ariaLabel: label }, said);
  const copy = async (): Promise<void> => {
    let done = 'Copied';
    try {
      await navigator.clipboard.writeText(text());
    } catch {
      done = 'Selected';
      if (shown instanceof HTMLTextAreaElement) {
        shown.select();
      } else {
        getSelection()?.selectAllChildren(shown);
      }
    }
    said.textContent = done;
    button.ariaLabel = `${done}: ${label.replace(/^Copy: /, '')}`;
  };
  button.addEventListener('click', () => void copy());
  button.addEventListener('blur', () => {
    said.textContent = 'Copy';
    button.ariaLabel = label;
  });
  return button;
}
