import { toHex } from '../cosign.js';

/** An error of what a person typed or pasted, or another signer sent. Its text is shown as it is. */
export class InputError extends Error {}

/** What the signers of a room tell each other. All of it is public. Keys are written in hexadecimal. */
export type Packet =
  | { readonly kind: 'key'; readonly from: string }
  | {
      /** What the sender wants to sign, or has agreed to. */
      readonly kind: 'message' | 'psbt';
      readonly from: string;
      /** The output key of the address that signs. */
      readonly outputKey: string;
      /** UTF-8, or a PSBT. */
      readonly data: Uint8Array;
    }
  | {
      readonly kind: 'nonce' | 'partial';
      readonly from: string;
      /** Says for which address and which message or transaction. */
      readonly session: string;
      /** How often the signers have started over, from 1. */
      readonly attempt: number;
      /** One for each input of a PSBT, one for a message. */
      readonly values: readonly Uint8Array[];
    };

/** The kinds of packets. */
export type Kind = Packet['kind'];

/** What people call the kinds. */
export const KIND_NAMES: Readonly<Record<Kind, string>> = {
  key: 'public key',
  message: 'message',
  psbt: 'PSBT',
  nonce: 'nonce',
  partial: 'partial signature',
};

const KEY_DIGITS = 66;
const X_ONLY_DIGITS = 64;
const SESSION_DIGITS = 16;
const VALUE_DIGITS = { nonce: 132, partial: 64 };

/** The parts of a line after its kind, for an error of one that has others. */
const PARTS: Readonly<Record<Kind, number>> = { key: 1, message: 3, psbt: 3, nonce: 4, partial: 4 };

/** Writes a packet as one line of text, which a QR code holds in its dense form when it is in capitals. */
export function writePacket(packet: Packet): string {
  const parts = ['brontosig', packet.kind, packet.from];
  switch (packet.kind) {
    case 'key':
      break;
    case 'message':
    case 'psbt':
      parts.push(packet.outputKey, toHex(packet.data));
      break;
    case 'nonce':
    case 'partial':
      parts.push(packet.session, String(packet.attempt), packet.values.map(toHex).join('.'));
  }
  return parts.join(':');
}

/**
 * Reads the line of another signer.
 *
 * @param bareKey - whether the hexadecimal digits of a public key will do.
 * @throws InputError that says what is wrong with it.
 */
export function readPacket(line: string, bareKey = false): Packet {
  const text = line.trim().toLowerCase();
  if (text === '') {
    throw new InputError('There is nothing here. Paste the line that another signer has copied.');
  }
  if (bareKey && !text.includes(':')) {
    return { kind: 'key', from: readKey(text) };
  }
  const [prefix, kind = '', ...parts] = text.split(':');
  if (prefix !== 'brontosig') {
    throw new InputError(
      'This is not a line of this page: those begin with “brontosig:” and say whose they are. Copy the whole line.',
    );
  }
  if (!isKind(kind)) {
    throw new InputError(`This line is cut off or damaged: “brontosig:${kind.slice(0, 12)}” is nothing that signers send.`);
  }
  if (parts.length !== PARTS[kind]) {
    throw new InputError(`This ${KIND_NAMES[kind]} is cut off: it has ${parts.length} of ${PARTS[kind]} parts. Copy the whole line.`);
  }
  const [key = '', place = '', third = '', values = ''] = parts;
  const from = readKey(key);
  switch (kind) {
    case 'key':
      return { kind, from };
    case 'message':
    case 'psbt':
      if (third === '') {
        throw new InputError(`This ${KIND_NAMES[kind]} is empty.`);
      }
      return { kind, from, outputKey: digits('address’s key', place, X_ONLY_DIGITS), data: fromHex(KIND_NAMES[kind], third) };
    case 'nonce':
    case 'partial':
      if (!/^[1-9]\d{0,8}$/.test(third)) {
        throw new InputError('The number of the attempt in this line is damaged.');
      }
      return {
        kind,
        from,
        session: digits('session’s number', place, SESSION_DIGITS),
        attempt: Number(third),
        values: values
          .split('.')
          .map((value) => fromHex(KIND_NAMES[kind], digits(KIND_NAMES[kind], value, VALUE_DIGITS[kind]))),
      };
  }
}

/**
 * Reads hexadecimal digits.
 *
 * @throws InputError that says which character is none, or that their number is odd.
 */
export function fromHex(name: string, text: string): Uint8Array<ArrayBuffer> {
  hexDigits(name, text);
  if (text.length % 2 === 1) {
    throw new InputError(`The ${name} has an odd number of hexadecimal digits, ${text.length}: one is missing.`);
  }
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => parseInt(byte, 16));
}

/**
 * Reads a secret key.
 *
 * @throws InputError
 */
export function readSecretKey(text: string): Uint8Array<ArrayBuffer> {
  return fromHex('secret key', digits('secret key', text.trim().toLowerCase(), 64));
}

/** Begins a sentence with a word. */
export function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function isKind(text: string): text is Kind {
  return Object.hasOwn(PARTS, text);
}

function readKey(text: string): string {
  const key = digits('public key', text, KEY_DIGITS);
  if (!/^0[23]/.test(key)) {
    throw new InputError(`A public key begins with 02 or 03, and this one with ${key.slice(0, 2)}.`);
  }
  return key;
}

function digits(name: string, text: string, length: number): string {
  hexDigits(name, text);
  if (text.length !== length) {
    const fault = text.length < length ? `${length - text.length} missing` : `${text.length - length} too many`;
    throw new InputError(`The ${name} has ${text.length} hexadecimal digits instead of ${length}: ${fault}.`);
  }
  return text;
}

function hexDigits(name: string, text: string): void {
  const at = text.search(/[^0-9a-f]/i);
  if (at >= 0) {
    throw new InputError(`The ${name} is not hexadecimal: “${text[at] ?? ''}” at place ${at + 1} is no digit from 0 to 9 or a to f.`);
  }
}
