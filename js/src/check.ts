/** Says what a value is, for the text of an error. It never shows the value. */
function describe(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  if (Array.isArray(value)) {
    return 'an array';
  }
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

function wrongType(name: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${name}: ${expected} expected, got ${value === undefined ? 'nothing' : describe(value)}`);
}

// A typed array of another window or worker is no instance of this one's
// class. The accessors look at what the value is inside.
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const typedArrayTag = Object.getOwnPropertyDescriptor(typedArray, Symbol.toStringTag);
const typedArrayLength = Object.getOwnPropertyDescriptor(typedArray, 'length');

function isUint8Array(value: unknown): value is Uint8Array {
  return typedArrayTag?.get?.call(value) === 'Uint8Array';
}

/** Copies an array whose length may change, or is not what it says. */
function settled(value: Uint8Array): Uint8Array {
  const { resizable } = value.buffer as { resizable?: boolean };
  const length = typedArrayLength?.get?.call(value) as number;
  if (resizable !== true && value.length === length && !Object.hasOwn(value, 'length')) {
    return value;
  }
  const copy = new Uint8Array(length);
  copy.set(new Uint8Array(value.buffer, value.byteOffset, copy.length));
  return copy;
}

/**
 * Checks that an argument is a Uint8Array with a number of bytes.
 *
 * @param name - of the argument, for the error.
 * @param length - the number, or the least and the greatest.
 * @throws TypeError if it is no Uint8Array.
 * @throws RangeError if it has another length.
 */
export function bytes(
  name: string,
  value: unknown,
  length: number | readonly [least: number, most: number],
): Uint8Array {
  if (!isUint8Array(value)) {
    throw wrongType(name, 'a Uint8Array', value);
  }
  const input = settled(value);
  const [least, most] = typeof length === 'number' ? [length, length] : length;
  if (input.length < least || input.length > most) {
    const expected = least === most ? String(least) : `${least} to ${most}`;
    throw new RangeError(`${name}: ${expected} bytes expected, got ${input.length}`);
  }
  return input;
}

/**
 * Checks that an argument is an array with at most a number of entries.
 *
 * @throws TypeError if it is no array.
 * @throws RangeError if it has more entries.
 */
export function list(name: string, value: unknown, most: number): readonly unknown[] {
  if (!Array.isArray(value)) {
    throw wrongType(name, 'an array', value);
  }
  if (value.length > most) {
    throw new RangeError(`${name}: at most ${most} entries expected, got ${value.length}`);
  }
  return value;
}

/**
 * Checks that an argument is an array of Uint8Arrays, each with a number of
 * bytes.
 *
 * @throws TypeError if it or an entry has another type.
 * @throws RangeError if it is too long or an entry has another length.
 */
export function byteList(name: string, value: unknown, length: number, most: number): Uint8Array[] {
  // Array.from also visits holes.
  return Array.from(list(name, value, most), (entry, i) => bytes(`${name}[${i}]`, entry, length));
}

/**
 * Checks that an argument is an integer in a range.
 *
 * @throws TypeError if it is no number.
 * @throws RangeError if it is no integer or outside of the range.
 */
export function integer(name: string, value: unknown, least: number, most: number): number {
  if (typeof value !== 'number') {
    throw wrongType(name, 'a number', value);
  }
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name}: an integer from ${least} to ${most} expected, got ${value}`);
  }
  return value;
}

/**
 * Checks that an argument is true or false.
 *
 * @throws TypeError if it is neither.
 */
export function boolean(name: string, value: unknown): boolean {
  if (typeof value !== 'boolean') {
    throw wrongType(name, 'a boolean', value);
  }
  return value;
}

/**
 * Checks that an argument is a string.
 *
 * @throws TypeError if it is none.
 */
export function string(name: string, value: unknown): string {
  if (typeof value !== 'string') {
    throw wrongType(name, 'a string', value);
  }
  return value;
}

/**
 * Checks that an argument is an object, as options are.
 *
 * @throws TypeError if it is none.
 */
export function object<T extends object>(name: string, value: T): T {
  if (typeof (value as unknown) !== 'object' || (value as unknown) === null) {
    throw wrongType(name, 'an object', value);
  }
  return value;
}

/**
 * Checks that an argument is either a Uint8Array with a number of bytes or
 * their hexadecimal digits, and returns the bytes.
 *
 * @throws TypeError if it has another type.
 * @throws RangeError if it has another length or holds other characters.
 */
export function bytesOrHex(name: string, value: unknown, length: number): Uint8Array {
  if (typeof value !== 'string') {
    if (!isUint8Array(value)) {
      throw wrongType(name, 'a Uint8Array or a string', value);
    }
    return bytes(name, value, length);
  }
  if (value.length !== 2 * length || !/^[0-9a-f]*$/i.test(value)) {
    throw new RangeError(`${name}: ${2 * length} hexadecimal digits expected`);
  }
  return Uint8Array.from({ length }, (_, i) => Number.parseInt(value.slice(2 * i, 2 * i + 2), 16));
}

/**
 * Takes an argument that holds options. Each is read once, whether it is the
 * object's own, inherited, or behind an accessor. Other names are refused: a
 * misspelt option would be one that is silently missing.
 *
 * @param names - all options that there are.
 * @returns a plain object with those of them that are there.
 * @throws TypeError if it is no object, or has an option of another name.
 */
export function options<T extends object>(name: string, value: T, names: readonly (string & keyof T)[]): T {
  for (const key in object(name, value)) {
    if (!(names as readonly string[]).includes(key)) {
      throw new TypeError(`${name}: there is no option ${key}; there are ${names.join(', ')}`);
    }
  }
  return pick(value, names);
}

/** Copies the properties of these names that are there. */
export function pick<T extends object>(value: T, names: readonly (string & keyof T)[]): T {
  const entries = names.map((key) => [key, value[key]] as const).filter(([, entry]) => entry !== undefined);
  return Object.fromEntries(entries) as T;
}
