import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInNewContext } from 'node:vm';

import * as check from '../../dist/check.js';

/** Values of every type, by the words that an error has for them. */
const VALUES: [word: string, value: unknown][] = [
  ['nothing', undefined],
  ['null', null],
  ['an array', []],
  ['an object', {}],
  ['an object', new Uint16Array(4)],
  ['an object', new ArrayBuffer(4)],
  ['an object', new DataView(new ArrayBuffer(4))],
  ['an object', Object.create(Uint8Array.prototype)],
  ['an object', { length: 4, [Symbol.toStringTag]: 'Uint8Array' }],
  ['a string', 'text'],
  ['a number', 4],
  ['a boolean', true],
  ['a bigint', 4n],
  ['a symbol', Symbol('s')],
  ['a function', (): void => undefined],
];

/** Checks that every value is refused by name, but for those of the given words. */
function refuses(expected: string, accepted: string[], f: (value: unknown) => unknown): void {
  for (const [word, value] of VALUES) {
    if (!accepted.includes(word)) {
      assert.throws(() => f(value), {
        name: 'TypeError',
        message: `arg: ${expected} expected, got ${word}`,
      });
    }
  }
}

test('bytes', () => {
  refuses('a Uint8Array', [], (value) => check.bytes('arg', value, 4));
  const four = new Uint8Array(4);
  assert.equal(check.bytes('arg', four, 4), four);
  assert.equal(check.bytes('arg', Buffer.alloc(4), 4).length, 4);
  assert.throws(() => check.bytes('arg', four, 5), {
    name: 'RangeError',
    message: 'arg: 5 bytes expected, got 4',
  });
  for (const [least, most, fits] of [
    [0, 4, true],
    [4, 5, true],
    [5, 6, false],
    [0, 3, false],
  ] as const) {
    const f = (): unknown => check.bytes('arg', four, [least, most]);
    if (fits) {
      assert.equal(f(), four);
    } else {
      assert.throws(f, {
        name: 'RangeError',
        message: `arg: ${least} to ${most} bytes expected, got 4`,
      });
    }
  }
});

test('bytes of another realm', () => {
  const foreign = runInNewContext('new Uint8Array(4)') as Uint8Array;
  assert.ok(!(foreign instanceof Uint8Array));
  assert.equal(check.bytes('arg', foreign, 4), foreign);
});

test('list', () => {
  refuses('an array', ['an array'], (value) => check.list('arg', value, 2));
  assert.deepEqual(check.list('arg', [1, 2], 2), [1, 2]);
  assert.throws(() => check.list('arg', [1, 2, 3], 2), {
    name: 'RangeError',
    message: 'arg: at most 2 entries expected, got 3',
  });
});

test('byteList', () => {
  const entries = [new Uint8Array(2), new Uint8Array(2)];
  assert.deepEqual(check.byteList('arg', entries, 2, 2), entries);
  assert.throws(() => check.byteList('arg', [entries[0], 'x'], 2, 2), {
    name: 'TypeError',
    message: 'arg[1]: a Uint8Array expected, got a string',
  });
  assert.throws(() => check.byteList('arg', [new Uint8Array(3)], 2, 2), {
    name: 'RangeError',
    message: 'arg[0]: 2 bytes expected, got 3',
  });
  assert.throws(() => check.byteList('arg', new Array(2), 2, 2), {
    name: 'TypeError',
    message: 'arg[0]: a Uint8Array expected, got nothing',
  });
});

test('integer', () => {
  refuses('a number', ['a number'], (value) => check.integer('arg', value, 0, 9));
  assert.equal(check.integer('arg', 0, 0, 9), 0);
  assert.equal(check.integer('arg', 9, 0, 9), 9);
  for (const value of [-1, 10, 0.5, NaN, Infinity, -Infinity, 2 ** 32]) {
    assert.throws(() => check.integer('arg', value, 0, 9), {
      name: 'RangeError',
      message: `arg: an integer from 0 to 9 expected, got ${value}`,
    });
  }
});

test('boolean, string and object', () => {
  refuses('a boolean', ['a boolean'], (value) => check.boolean('arg', value));
  refuses('a string', ['a string'], (value) => check.string('arg', value));
  refuses('an object', ['an object', 'an array'], (value) => check.object('arg', value as object));
  assert.equal(check.boolean('arg', false), false);
  assert.equal(check.string('arg', ''), '');
  const options = {};
  assert.equal(check.object('arg', options), options);
});

test('bytesOrHex', () => {
  refuses('a Uint8Array or a string', ['a string'], (value) => check.bytesOrHex('arg', value, 4));
  assert.deepEqual(check.bytesOrHex('arg', '00fFAb10', 4), Uint8Array.of(0, 255, 0xab, 16));
  const four = new Uint8Array(4);
  assert.equal(check.bytesOrHex('arg', four, 4), four);
  for (const text of ['', '00', '00ffab1', '00ffab100', '00ffab1g', ' 0ffab10', '0x00ffab', '+1-1+1-1']) {
    assert.throws(() => check.bytesOrHex('arg', text, 4), {
      name: 'RangeError',
      message: 'arg: 8 hexadecimal digits expected',
    });
  }
});

test('an array that lies about its length, or may change it, is copied', () => {
  const lying = new Uint8Array([1, 2, 3]);
  Object.defineProperty(lying, 'length', { value: 32 });
  assert.throws(() => check.bytes('key', lying, 32), { name: 'RangeError', message: /^key: 32 bytes expected, got 3/ });
  assert.deepEqual([...check.bytes('key', lying, 3)], [1, 2, 3]);
  class Longer extends Uint8Array {
    override get length() {
      return 32;
    }
  }
  assert.throws(() => check.bytes('key', new Longer([1, 2, 3]), 32), {
    name: 'RangeError',
    message: /^key: 32 bytes expected, got 3/,
  });
  const options = { maxByteLength: 8 };
  const buffer = new (ArrayBuffer as unknown as new (length: number, options: object) => ArrayBuffer & { resize(n: number): void })(8, options);
  const taken = check.bytes('data', new Uint8Array(buffer), 8);
  buffer.resize(2);
  assert.equal(taken.length, 8);
});
