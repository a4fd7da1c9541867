// Messages of a BOLT-8 connection, encrypted and decrypted: from JavaScript, the
// same work inside Go wasm, and in other implementations.

import { createCipheriv, createDecipheriv } from 'node:crypto';

import { chacha20poly1305 } from '@noble/ciphers/chacha.js';
import { Machine, publicKey } from 'brontosig/brontide';
import { NoiseState } from 'lnmessage/dist/noise-state.js';
import { inside } from './inside.mjs';
import { compare, duration, header, ratio, row } from './measure.mjs';
import { npm } from './versions.mjs';

const MAC = 16;
const HEADER = 2 + MAC;

function must(message, size) {
  if (message.length !== size) {
    throw new Error('a wrong message');
  }
}

/** The two ends of a connection of this package. */
function machines() {
  const secretKey = new Uint8Array(32).fill(2);
  const initiator = new Machine({ role: 'initiator', secretKey: new Uint8Array(32).fill(1), remoteKey: publicKey(secretKey) });
  const responder = new Machine({ role: 'responder', secretKey });
  const { send } = initiator.receive(responder.receive(initiator.start()).send);
  responder.receive(send);
  return [initiator, responder];
}

function ours() {
  const [initiator, responder] = machines();
  return (message) => must(responder.receive(initiator.encrypt(message)).messages[0], message.length);
}

/**
 * The two ends of a connection of lnmessage. Its responder fails in act three,
 * so the handshake is done with a machine, and a second state gets the keys.
 */
function noiseStates() {
  const secretKey = new Uint8Array(32).fill(2);
  const responder = new Machine({ role: 'responder', secretKey });
  const sender = new NoiseState({ ls: Buffer.alloc(32, 1), es: Buffer.alloc(32, 3) });
  sender.initiatorAct2(Buffer.from(responder.receive(sender.initiatorAct1(Buffer.from(publicKey(secretKey)))).send));
  responder.receive(sender.initiatorAct3());
  const receiver = new NoiseState({ ls: Buffer.alloc(32, 2), es: Buffer.alloc(32, 4) });
  Object.assign(receiver, { rk: Buffer.from(sender.sk), rck: Buffer.from(sender.sck), rn: Buffer.alloc(12) });
  return [sender, receiver];
}

function lnmessage() {
  const [sender, receiver] = noiseStates();
  return (bytes) => {
    const message = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    const packet = sender.encryptMessage(message);
    const size = receiver.decryptLength(packet.subarray(0, HEADER));
    must(receiver.decryptMessage(packet.subarray(HEADER)), size + MAC); // it leaves the MAC there
  };
}

/** The four operations of a message with a bare cipher: no framing, no rotation. */
function withCipher(seal, open) {
  const key = new Uint8Array(32).fill(5);
  const nonce = new Uint8Array(12);
  const counter = new DataView(nonce.buffer);
  let n = 0n;
  return (message) => {
    counter.setBigUint64(4, n++, true);
    const length = Uint8Array.of(message.length >> 8, message.length);
    const [header, body] = [seal(key, nonce, length), seal(key, nonce, message)];
    must(open(key, nonce, header), 2);
    must(open(key, nonce, body), message.length);
  };
}

const noble = () =>
  withCipher(
    (key, nonce, text) => chacha20poly1305(key, nonce).encrypt(text),
    (key, nonce, sealed) => chacha20poly1305(key, nonce).decrypt(sealed),
  );

const native = () => {
  const name = 'chacha20-poly1305';
  const options = { authTagLength: MAC };
  return withCipher(
    (key, nonce, text) => {
      const cipher = createCipheriv(name, key, nonce, options);
      return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    },
    (key, nonce, sealed) => {
      const decipher = createDecipheriv(name, key, nonce, options);
      decipher.setAuthTag(sealed.subarray(-MAC));
      return Buffer.concat([decipher.update(sealed.subarray(0, -MAC)), decipher.final()]);
    },
  );
};

/** What this package is compared with. */
const PEERS = {
  inside: 'inside Go wasm',
  noble: npm('@noble/ciphers'),
  lnmessage: npm('lnmessage'),
  native: 'node:crypto, native',
};

/** Measures messages of a size. */
function messages(size, { rounds, calls }) {
  const message = new Uint8Array(size).fill(7);
  const repeat = (once) => (n) => {
    for (let i = 0; i < n; i++) {
      once(message);
    }
  };
  return compare(
    {
      ours: repeat(ours()),
      inside: (n) => inside('brontide', size, n)[0],
      noble: repeat(noble()),
      lnmessage: repeat(lnmessage()),
      native: repeat(native()),
    },
    { rounds, calls },
  );
}

/** Measures, and returns for each work the milliseconds of this package and of others. */
export function brontideRows() {
  return [
    [65_535, { rounds: 15, calls: 40 }],
    [1024, { rounds: 15, calls: 1000 }],
    [64, { rounds: 15, calls: 3000 }],
  ].map(([size, amount]) => {
    const { ours: own, ...peers } = messages(size, amount);
    return { work: `a message of ${size} bytes, encrypted and decrypted`, ours: own, peers };
  });
}

/** Prints the table. */
export function brontide() {
  header('BOLT-8', 'ours', ...Object.values(PEERS));
  for (const { work, ours: own, peers } of brontideRows()) {
    row(work, duration(own), ...Object.keys(PEERS).map((name) => `${duration(peers[name])} (${ratio(peers[name], own)})`));
  }
}
