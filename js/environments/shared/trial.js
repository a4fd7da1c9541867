/**
 * What every environment does with the package: a signature of two signers, and
 * a Lightning peer at the other end of a pair of streams.
 *
 * @param {typeof import('brontosig')} brontosig
 * @param {typeof import('brontosig/musig2')} musig2
 * @param {typeof import('brontosig/brontide')} brontide
 * @param {typeof import('brontosig/lightning')} lightning
 * @returns {Promise<string>} JSON for the test, which verifies the signature with other code.
 */
export async function trial(brontosig, musig2, brontide, lightning) {
  await brontosig.init();
  const signed = sign(musig2);
  const signedAt = Date.now();
  const received = await talk(brontide, lightning);
  return JSON.stringify({ ...signed, signedAt, received });
}

/** @param {typeof import('brontosig/musig2')} musig2 */
function sign({ Context, publicKey, verify }) {
  const keys = [1, 2].map(() => crypto.getRandomValues(new Uint8Array(32)));
  const options = { publicKeys: keys.map(publicKey), sort: false };
  const message = new TextEncoder().encode('both of us agree');
  const [alice, bob] = keys.map((secretKey) => new Context({ ...options, secretKey }).newSession({ message }));
  alice.addNonce(1, bob.publicNonce);
  bob.addNonce(0, alice.publicNonce);
  alice.sign();
  alice.addPartialSignature(1, bob.sign());
  const signature = alice.finish();
  const { outputKey } = new Context(options);
  if (!verify(signature, message, outputKey)) {
    throw new Error('the signature does not verify');
  }
  return { signature: Array.from(signature), outputKey: Array.from(outputKey) };
}

/**
 * Lets a peer that was connected send a message, and returns what arrives.
 *
 * @param {typeof import('brontosig/brontide')} brontide
 * @param {typeof import('brontosig/lightning')} lightning
 */
async function talk({ accept, publicKey }, { connectPeer }) {
  const secretKey = crypto.getRandomValues(new Uint8Array(32));
  const there = pipe();
  const back = pipe();
  const close = () => undefined;
  const node = async () => {
    const connection = await accept({ readable: there.readable, writable: back.writable, close }, { secretKey });
    // The shortest init of BOLT-1: no features.
    await connection.send(Uint8Array.of(0, 16, 0, 0, 0, 0));
    return connection;
  };
  const [connection, peer] = await Promise.all([
    node(),
    connectPeer({ readable: back.readable, writable: there.writable, close }, { nodeId: publicKey(secretKey) }),
  ]);
  await peer.send(0x8001, Uint8Array.of(1, 2, 3));
  for await (const message of connection) {
    // After the init of the peer.
    if (message[0] === 0x80) {
      await Promise.all([peer.close(), connection.close()]);
      return Array.from(message);
    }
  }
  throw new Error('the message did not arrive');
}

/**
 * One direction, with some room, as the buffers of a network have.
 *
 * @returns {TransformStream<Uint8Array, Uint8Array>}
 */
function pipe() {
  return new TransformStream({}, { highWaterMark: 16 }, { highWaterMark: 16 });
}
