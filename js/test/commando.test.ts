import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { init } from 'brontosig';
import type { Connection } from 'brontosig/brontide';
import { CommandoError, type CommandoOptions, type Peer } from 'brontosig/lightning';
import { meet, next, numbers } from './meet.js';

before(async () => init());

const rune = 'DeMo==';
const timeoutMs = 10_000;
const options = { rune, timeoutMs };

/** A request as the node gets it. */
interface Request {
  /** The number, as its 8 bytes in hexadecimal. */
  readonly call: string;
  readonly json: { method: string; id: string; params: unknown; rune: string; filter?: unknown };
}

/** Reads a message that is a part of a request. */
async function part(node: Connection): Promise<{ last: boolean; call: string; text: Buffer }> {
  const message = Buffer.from(await next(node));
  const type = message.readUint16BE();
  assert.ok(type === 0x4c4d || type === 0x4c4f, `type ${type.toString(16)}`);
  assert.ok(message.length <= 10 + 65_000);
  return { last: type === 0x4c4f, call: message.toString('hex', 2, 10), text: message.subarray(10) };
}

/** Reads a whole request. Its parts must come without any other's between them. */
async function request(node: Connection): Promise<Request> {
  const parts: Buffer[] = [];
  for (let number: string | undefined; ; ) {
    const { last, call, text } = await part(node);
    number ??= call;
    assert.equal(call, number, 'the parts of two requests are mixed');
    parts.push(text);
    if (last) {
      return { call, json: JSON.parse(Buffer.concat(parts).toString()) as Request['json'] };
    }
  }
}

/** Sends a part of a reply. */
async function answer(node: Connection, call: string, text: string | Buffer, last = true): Promise<void> {
  await node.send(Buffer.concat([Buffer.from(`${last ? '594d' : '594b'}${call}`, 'hex'), Buffer.from(text)]));
}

const result = (value: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 'x', result: value });

/** Starts a call. What it rejects with is met later. */
function calling(peer: Peer, method: string, params: object = {}, more: Partial<CommandoOptions> = {}): Promise<unknown> {
  const call = peer.commando(method, params, { ...options, ...more });
  call.catch(() => undefined);
  return call;
}

void test('a call and its reply, byte by byte', async () => {
  const { peer, node } = await meet();
  const call = calling(peer, 'getinfo');
  const message = Buffer.from(await next(node));
  // Type, number, JSON: what Core Lightning's commando.c reads.
  assert.deepEqual(numbers(message.subarray(0, 2)), [0x4c, 0x4f]);
  assert.equal(
    message.toString('utf8', 10),
    '{"method":"getinfo","id":"brontosig:getinfo","params":{},"rune":"DeMo=="}',
  );
  await node.send(Buffer.concat([Buffer.from('594b', 'hex'), message.subarray(2, 10), Buffer.from('{"result":{"al')]));
  await node.send(Buffer.concat([Buffer.from('594d', 'hex'), message.subarray(2, 10), Buffer.from('ias":"é"}}')]));
  assert.deepEqual(await call, { alias: 'é' });

  const filtered = calling(peer, 'pay"', ['a', 1, null], { filter: { id: true } });
  const { call: number, json } = await request(node);
  assert.deepEqual(json, { method: 'pay"', id: 'brontosig:pay"', params: ['a', 1, null], rune, filter: { id: true } });
  await answer(node, number, '{"result":null}');
  assert.equal(await filtered, null);
  await peer.close();
});

void test('many calls at once, with replies in any order and any interleaving', async () => {
  const { peer, node } = await meet();
  // Long requests, whose parts must not be mixed.
  const calls = Array.from({ length: 20 }, (_, i) => calling(peer, `m${i}`, { text: 'x'.repeat(i * 10_000) }));
  const requests: Request[] = [];
  while (requests.length < calls.length) {
    requests.push(await request(node));
  }
  assert.deepEqual(requests.map(({ json }) => json.method), calls.map((_, i) => `m${i}`));
  assert.equal(new Set(requests.map(({ call }) => call)).size, calls.length);
  // One byte of each reply at a time, beginning with the last call; some with empty parts.
  const rest = requests.map(({ call, json }) => ({ call, text: Buffer.from(result({ of: json.method })) })).reverse();
  while (rest.length > 0) {
    for (const each of [...rest]) {
      await answer(node, each.call, '', false);
      await answer(node, each.call, each.text.subarray(0, 7), each.text.length <= 7);
      each.text = each.text.subarray(7);
      if (each.text.length === 0) {
        rest.splice(rest.indexOf(each), 1);
      }
    }
  }
  assert.deepEqual(await Promise.all(calls), calls.map((_, i) => ({ of: `m${i}` })));
  // Nobody read messages(), and none of this was one.
  await node.send(Uint8Array.of(0x80, 0x01));
  assert.deepEqual((await peer.messages().next()).value, { type: 0x8001, payload: new Uint8Array() });
  await peer.close();
});

void test('errors of the node, and replies that are none', async () => {
  const { peer, node } = await meet();
  const fails = async (reply: string): Promise<unknown> => {
    const call = calling(peer, 'pay');
    await answer(node, (await request(node)).call, reply);
    return call.then(
      () => assert.fail('no error'),
      (error: unknown) => error,
    );
  };
  const refused = await fails('{"error":{"code":19537,"message":"Not authorized: \\u001b[1mno\\u2028"}}');
  assert.ok(refused instanceof CommandoError);
  assert.deepEqual(
    { code: refused.code, rpcCode: refused.rpcCode, method: refused.method, message: refused.message, data: refused.data },
    { code: 'COMMANDO_ERROR', rpcCode: 19537, method: 'pay', message: 'Not authorized: \ufffd[1mno\ufffd', data: undefined },
  );
  const failed = await fails('{"id":1,"error":{"code":205,"message":"m","data":{"attempts":[1]}},"result":1}');
  assert.deepEqual((failed as CommandoError).data, { attempts: [1] });
  const long = await fails(`{"error":{"code":1,"message":"${'x'.repeat(10_000)}"}}`);
  assert.equal((long as CommandoError).message.length, 2000);
  assert.equal(((await fails('{"error":{"code":-1}}')) as CommandoError).rpcCode, -1);
  for (const bad of ['', '{', 'null', '[]', '5', '{}', '{"error":{"message":"m"}}', '{"error":{"code":1.5}}', '{"error":"no"}', '{"result":1}x']) {
    assert.equal(((await fails(bad)) as { code?: string }).code, 'INVALID_RESPONSE', bad);
  }
  for (const error of [refused, failed, long]) {
    assert.ok(!JSON.stringify([String(error), error]).includes(rune), 'an error tells the rune');
  }
  await peer.close();
});

void test('a reply that is too long comes while the request is still on its way', async () => {
  const { peer, node } = await meet();
  const call = calling(peer, 'a', { text: 'x'.repeat(500_000) }, { maxResponseBytes: 1 });
  // The node takes the first part and no other, and answers all the same. When the
  // peer tells of the warning, it has met the reply before it.
  const { call: number, last } = await part(node);
  assert.equal(last, false);
  await answer(node, number, 'xx');
  const warned = new Promise((resolve) => {
    peer.on('warning', resolve);
  });
  await node.send(Buffer.concat([Buffer.from([0, 1]), Buffer.alloc(34)]));
  await warned;
  // By the next turn of the event loop, a rejection that nobody handles has failed the test.
  await new Promise((resolve) => {
    setImmediate(resolve);
  });
  while (!(await part(node)).last) {
    // on to the end
  }
  await assert.rejects(call, { code: 'RESPONSE_TOO_LARGE' });
  await peer.close();
});

void test('limits of size', async () => {
  const { peer, node } = await meet();
  const exact = result('x'.repeat(1000));
  const call = calling(peer, 'a', {}, { maxResponseBytes: exact.length });
  await answer(node, (await request(node)).call, exact);
  assert.equal((await call as string).length, 1000);
  const tooLong = calling(peer, 'b', {}, { maxResponseBytes: exact.length - 1 });
  const { call: number } = await request(node);
  await answer(node, number, exact.slice(0, 500), false);
  await answer(node, number, exact.slice(500), false);
  await assert.rejects(tooLong, { code: 'RESPONSE_TOO_LARGE' });
  await answer(node, number, 'more of it, which is dropped');

  // Several megabytes, in parts as Core Lightning cuts them.
  const large = calling(peer, 'c');
  const { call: largeCall } = await request(node);
  const text = Buffer.from(result('0123456789'.repeat(1_000_000)));
  for (let at = 0; at < text.length; at += 65_000) {
    await answer(node, largeCall, text.subarray(at, at + 65_000), at + 65_000 >= text.length);
  }
  assert.equal((await large as string).length, 10_000_000);

  // A request of a mebibyte fits, one of a byte more is refused here: the node would not say a word.
  const empty = JSON.stringify({ method: 'd', id: 'brontosig:d', params: [''], rune }).length;
  const most = calling(peer, 'd', ['y'.repeat((1 << 20) - empty)]);
  await answer(node, (await request(node)).call, result(1));
  assert.equal(await most, 1);
  await assert.rejects(calling(peer, 'd', ['y'.repeat((1 << 20) - empty + 1)]), {
    name: 'RangeError',
    message: 'params: the request has 1048577 bytes, 1048576 are allowed',
  });
  await peer.close();
});

void test('limits of time, and calls that are given up', async () => {
  const { peer, node } = await meet();
  const late = calling(peer, 'late', {}, { timeoutMs: 30 });
  const { call } = await request(node);
  await assert.rejects(late, { code: 'TIMEOUT', message: /late/ });
  const controller = new AbortController();
  const aborted = calling(peer, 'aborted', {}, { signal: controller.signal });
  await request(node);
  controller.abort();
  await assert.rejects(aborted, { code: 'ABORTED' });
  await assert.rejects(calling(peer, 'never', {}, { signal: controller.signal }), { code: 'ABORTED' });

  // Given up in the middle of its request: the rest stays here, and the next goes on.
  const middle = new AbortController();
  const half = calling(peer, 'half', { text: 'x'.repeat(900_000) }, { signal: middle.signal });
  const waiting = calling(peer, 'waiting', {}, { signal: middle.signal });
  const after = calling(peer, 'after');
  const first = await part(node);
  assert.equal(first.last, false);
  middle.abort();
  await assert.rejects(half, { code: 'ABORTED' });
  await assert.rejects(waiting, { code: 'ABORTED' });
  let sent = 1;
  let following = await part(node);
  for (; following.call === first.call; following = await part(node)) {
    sent++;
  }
  assert.ok(sent < 14, 'the request was sent to its end');
  assert.match(following.text.toString(), /"after"/);
  // Late replies are nobody's.
  await answer(node, call, result('late'));
  await answer(node, first.call, result('half'));
  await answer(node, following.call, result('after'));
  assert.equal(await after, 'after');
  await peer.close();
});

void test('the end of the connection ends every call', async () => {
  for (const end of ['node', 'peer'] as const) {
    const { peer, node } = await meet();
    const calls = Array.from({ length: 5 }, () => calling(peer, 'pay', { text: 'x'.repeat(100_000) }));
    await request(node);
    await (end === 'node' ? node : peer).close();
    for (const call of calls) {
      await assert.rejects(call, { code: 'CONNECTION_CLOSED' });
    }
    await assert.rejects(calling(peer, 'pay'), { code: 'CONNECTION_CLOSED' });
  }
});

void test('a thousand calls at a time', async () => {
  const { peer, node } = await meet();
  const calls = Array.from({ length: 1000 }, (_, i) => calling(peer, 'm', [i]));
  const requests: Request[] = [];
  while (requests.length < calls.length) {
    requests.push(await request(node));
  }
  await assert.rejects(calling(peer, 'm'), { code: 'TOO_MANY_CALLS' });
  for (const { call, json } of requests) {
    await answer(node, call, result(json.params));
  }
  assert.deepEqual(await Promise.all(calls), calls.map((_, i) => [i]));
  const again = calling(peer, 'm');
  await answer(node, (await request(node)).call, result(null));
  assert.equal(await again, null);
  await peer.close();
});

void test('wrong arguments are named', async () => {
  const { peer } = await meet();
  const call = async (method: unknown, params: unknown, o: unknown): Promise<unknown> =>
    peer.commando(method as string, params as object, o as CommandoOptions);
  const circular: { self?: unknown } = {};
  circular.self = circular;
  for (const [args, name, message] of [
    [[5, {}, options], 'TypeError', /^method/],
    [['m', undefined, options], 'TypeError', /^params/],
    [['m', 'text', options], 'TypeError', /^params/],
    [['m', null, options], 'TypeError', /^params/],
    [['m', circular, options], 'TypeError', /^params: cannot/],
    [['m', { amount: 1n }, options], 'TypeError', /^params: cannot/],
    [['m', new Date(0), options], 'TypeError', /^params/],
    [['m', {}, undefined], 'TypeError', /^options/],
    [['m', {}, {}], 'TypeError', /^rune/],
    [['m', {}, { rune, filter: true }], 'TypeError', /^filter/],
    [['m', {}, { rune, maxResponseBytes: 0 }], 'RangeError', /^maxResponseBytes/],
    [['m', {}, { rune, timeoutMs: 0 }], 'RangeError', /^timeoutMs/],
    [['m', {}, { rune, signal: 5 }], 'TypeError', /^signal/],
    [['m', {}, { rune, timeout: 5 }], 'TypeError', /timeout/],
  ] as const) {
    await assert.rejects(call(args[0], args[1], args[2]), { name, message });
  }
  await peer.close();
});
