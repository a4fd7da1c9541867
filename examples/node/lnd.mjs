import { request, textOf } from './http.mjs';

/** What lnd says about a call that it refuses. */
export class LndError extends Error {
  name = 'LndError';
}

/**
 * Calls an lnd node through its REST interface (https://lightning.engineering/api-docs/api/lnd/).
 * Bytes travel as base64, see toBase64 and fromBase64.
 */
export class Lnd {
  #url;
  #options;

  /**
   * @param url - where the node's REST interface is, such as https://127.0.0.1:8080.
   * @param certificate - the text of the node's tls.cert.
   * @param macaroon - the bytes of a macaroon file of the node.
   */
  constructor({ url, certificate, macaroon }) {
    this.#url = new URL(url);
    this.#options = {
      certificate,
      headers: { 'Grpc-Metadata-macaroon': Buffer.from(macaroon).toString('hex') },
    };
  }

  /** Makes a call: GET without a body, POST with one, unless `method` says otherwise. */
  async call(path, body, method = body === undefined ? 'GET' : 'POST') {
    const response = await request(new URL(path, this.#url), { ...this.#options, method, body });
    const text = await textOf(response);
    if (response.statusCode !== 200) {
      throw new LndError(`${path}: ${messageOf(text)}`);
    }
    return JSON.parse(text);
  }

  /**
   * Subscribes to something when the iteration begins. lnd does not say when it
   * has taken the subscription: it only tells what happens from then on.
   *
   * @param signal - ends the subscription.
   */
  async *subscribe(path, signal) {
    const response = await request(new URL(path, this.#url), { ...this.#options, method: 'GET', signal });
    if (response.statusCode !== 200) {
      throw new LndError(`${path}: ${messageOf(await textOf(response))}`);
    }
    // Each line is an object.
    let rest = '';
    for await (const part of response) {
      const lines = (rest + part).split('\n');
      rest = lines.pop();
      for (const line of lines) {
        const { result, error } = JSON.parse(line);
        if (error !== undefined) {
          throw new LndError(`${path}: ${error.message}`);
        }
        yield result;
      }
    }
  }
}

function messageOf(text) {
  try {
    return JSON.parse(text).message ?? text;
  } catch {
    return text;
  }
}

/**
 * lnd as one of the signers of a MuSig2 signature, with a key of its wallet.
 * Make it with LndSigner.create.
 */
export class LndSigner {
  #lnd;
  #key;
  #session;

  /** lnd's public key, 33 bytes. */
  publicKey;

  constructor(lnd, key) {
    this.#lnd = lnd;
    this.#key = key;
    this.publicKey = fromBase64(key.raw_key_bytes);
  }

  /**
   * Takes a new key of lnd's wallet.
   *
   * @param family - the branch of the wallet's keys that it comes from. 0 to 9
   * are lnd's own.
   */
  static async create(lnd, family = 1_001) {
    return new LndSigner(lnd, await lnd.call('/v2/wallet/key/next', { key_family: family }));
  }

  /**
   * Starts a session.
   *
   * @param publicKeys - of all signers. lnd sorts them: so must everybody.
   * @param tweak - as in a Context's `tweaks`: bip86 or taproot, or nothing.
   * @returns the key that the signature is for and, if there is a tweak, the key
   * before it, 32 bytes each; and lnd's public nonce, 66 bytes.
   */
  async start(publicKeys, tweak) {
    const session = await this.#lnd.call('/v2/signer/musig2/createsession', {
      version: 'MUSIG2_VERSION_V100RC2', // which is BIP-327
      key_loc: this.#key.key_loc,
      all_signer_pubkeys: publicKeys.map(toBase64),
      taproot_tweak: taprootTweak(tweak),
    });
    this.#session = session.session_id;
    return {
      outputKey: fromBase64(session.combined_key),
      internalKey: tweak && fromBase64(session.taproot_internal_key),
      publicNonce: fromBase64(session.local_public_nonces),
    };
  }

  /** Gives lnd the public nonces of all others. */
  async addNonces(publicNonces) {
    await this.#lnd.call('/v2/signer/musig2/registernonces', {
      session_id: this.#session,
      other_signer_public_nonces: publicNonces.map(toBase64),
    });
  }

  /** Gives lnd the aggregate of all public nonces instead, which a coordinator has made. */
  async setAggregateNonce(aggregateNonce) {
    await this.#lnd.call('/v2/signer/musig2/registercombinednonce', {
      session_id: this.#session,
      combined_public_nonce: toBase64(aggregateNonce),
    });
  }

  /**
   * Lets lnd sign.
   *
   * @param digest - 32 bytes.
   * @param last - whether lnd may forget the session, because others combine.
   * @returns lnd's partial signature, 32 bytes.
   */
  async sign(digest, last) {
    const { local_partial_signature: partial } = await this.#lnd.call('/v2/signer/musig2/sign', {
      session_id: this.#session,
      message_digest: toBase64(digest),
      cleanup: last,
    });
    return fromBase64(partial);
  }

  /**
   * Lets lnd combine its partial signature with those of all others.
   *
   * @returns the signature, 64 bytes, which lnd has verified.
   */
  async combine(partialSignatures) {
    const { final_signature: signature } = await this.#lnd.call('/v2/signer/musig2/combinesig', {
      session_id: this.#session,
      other_partial_signatures: partialSignatures.map(toBase64),
    });
    return fromBase64(signature);
  }
}

function taprootTweak(tweak) {
  switch (tweak?.kind) {
    case undefined:
      return undefined;
    case 'bip86':
      return { key_spend_only: true };
    case 'taproot':
      return { script_root: toBase64(tweak.merkleRoot) };
    default:
      throw new TypeError(`tweak: no ${tweak.kind} tweaks here`);
  }
}

/** Writes bytes as lnd's REST interface wants them. */
export function toBase64(bytes) {
  return Buffer.from(bytes).toString('base64');
}

/** Reads bytes as lnd's REST interface has them. */
export function fromBase64(text) {
  return new Uint8Array(Buffer.from(text, 'base64'));
}
