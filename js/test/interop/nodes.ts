import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unusedPort } from '../connections.js';
import { BitcoinRpc, Lnd, type LndClient } from './examples.js';
import { makeFolder, Program, removeFolder } from './processes.js';

const build = new URL('../../../build/', import.meta.url);

/** The program that `make interop` has built under the name. */
function built(name: string): string {
  const nodes = new URL('nodes/', build);
  const versions = readdirSync(nodes).filter((folder) => folder.startsWith(`${name}-`));
  if (versions.length !== 1) {
    throw new Error(`one version of ${name} expected in build/nodes; \`make interop\` builds it`);
  }
  return fileURLToPath(new URL(`${versions[0]}/${name}`, nodes));
}

/** A node with files of its own. */
abstract class Node {
  protected folder: string = makeFolder();
  protected program: Program | undefined;

  /** Starts it, also again: with the same files, at the same address. */
  abstract start(): Promise<void>;

  /** Runs it while `body` does, and then removes its files. */
  protected async during(body: () => Promise<void>): Promise<void> {
    try {
      await this.start();
      await body();
    } catch (error) {
      console.error(`the end of the node's log:\n${this.program?.log() ?? ''}`);
      throw error;
    } finally {
      await this.kill();
      removeFolder(this.folder);
    }
  }

  /** Kills it as a power failure would. */
  async kill(): Promise<void> {
    await this.program?.stop('SIGKILL');
  }
}

/** An lnd node without a chain, on loopback. */
export class LndNode extends Node {
  /** Where it listens for Lightning peers. */
  readonly address: string;
  /** Where its REST interface is. */
  readonly url: string;
  readonly #ports: { readonly peers: number; readonly rest: number; readonly rpc: number };
  #client: LndClient | undefined;
  #nodeId = '';

  private constructor(ports: { peers: number; rest: number; rpc: number }) {
    super();
    this.#ports = ports;
    this.address = `127.0.0.1:${ports.peers}`;
    this.url = `https://127.0.0.1:${ports.rest}`;
  }

  /** Starts a node of its own while `body` runs. */
  static async run(body: (lnd: LndNode) => Promise<void>): Promise<void> {
    const ports = { peers: await unusedPort(), rest: await unusedPort(), rpc: await unusedPort() };
    const node = new LndNode(ports);
    await node.during(async () => body(node));
  }

  /** Its calls. */
  get client(): LndClient {
    if (this.#client === undefined) {
      throw new Error('lnd is not running');
    }
    return this.#client;
  }

  /** The port on which it listens for Lightning peers. */
  get port(): number {
    return this.#ports.peers;
  }

  /** Its public key, as hexadecimal digits. */
  get nodeId(): string {
    return this.#nodeId;
  }

  /** Where peers find it. */
  get uri(): string {
    return `${this.#nodeId}@${this.address}`;
  }

  /** The path of one of its files. */
  file(...path: string[]): string {
    return join(this.folder, ...path);
  }

  /** The path of its certificate. */
  get certificateFile(): string {
    return this.file('tls.cert');
  }

  /** The path of the macaroon that may do everything. */
  get macaroonFile(): string {
    return this.file('data', 'chain', 'bitcoin', 'simnet', 'admin.macaroon');
  }

  override async start(): Promise<void> {
    const { peers, rest, rpc } = this.#ports;
    this.program = new Program(
      'lnd',
      built('lnd'),
      [
        `--lnddir=${this.folder}`,
        '--noseedbackup',
        '--bitcoin.simnet',
        '--bitcoin.node=nochainbackend',
        '--nobootstrap',
        `--listen=127.0.0.1:${peers}`,
        `--rpclisten=127.0.0.1:${rpc}`,
        `--restlisten=127.0.0.1:${rest}`,
        '--debuglevel=PEER=debug',
      ],
      this.folder,
    );
    await this.program.line(/gRPC proxy started/);
    this.#client = new Lnd({
      url: this.url,
      certificate: readFileSync(this.certificateFile, 'utf8'),
      macaroon: new Uint8Array(),
    });
    for await (const { state } of this.#client.subscribe('/v1/state/subscribe')) {
      if (state === 'SERVER_ACTIVE') {
        break;
      }
    }
    this.#client = new Lnd({
      url: this.url,
      certificate: readFileSync(this.certificateFile, 'utf8'),
      macaroon: readFileSync(this.macaroonFile),
    });
    const { identity_pubkey: nodeId } = await this.#client.call('/v1/getinfo');
    this.#nodeId = nodeId as string;
  }

  /** Starts it with other keys. It must have been stopped or killed. */
  async startAsAnother(): Promise<void> {
    removeFolder(this.folder);
    this.folder = makeFolder();
    await this.start();
  }

  /** Waits for a line of its log. */
  async line(pattern: RegExp): Promise<string> {
    return this.program!.line(pattern);
  }

  /** Lets it do nothing more, though its connections stay. */
  freeze(): void {
    this.program!.signal('SIGSTOP');
  }

  override async kill(): Promise<void> {
    this.#client = undefined;
    await super.kill();
  }
}

/** A btcd node on a network of its own, on loopback. */
export class BtcdNode extends Node {
  /** Where its JSON-RPC interface is, with the credentials. */
  readonly url: string;
  /** The path of its certificate. */
  readonly certificateFile: string;
  readonly #port: number;
  readonly #miningAddresses: readonly string[];

  private constructor(port: number, miningAddresses: readonly string[]) {
    super();
    this.#port = port;
    this.#miningAddresses = miningAddresses;
    this.url = `https://user:password@127.0.0.1:${port}`;
    this.certificateFile = join(this.folder, 'rpc.cert');
  }

  /**
   * Starts a node of its own while `body` runs.
   *
   * @param miningAddresses - get what is mined, each a part.
   */
  static async run(miningAddresses: readonly string[], body: (btcd: BtcdNode) => Promise<void>): Promise<void> {
    const node = new BtcdNode(await unusedPort(), miningAddresses);
    await node.during(async () => body(node));
  }

  /** Its calls. */
  get rpc(): BitcoinRpc {
    return new BitcoinRpc({ url: this.url, certificate: readFileSync(this.certificateFile, 'utf8') });
  }

  override async start(): Promise<void> {
    this.program = new Program(
      'btcd',
      built('btcd'),
      [
        '--simnet',
        `--configfile=${join(this.folder, 'btcd.conf')}`,
        `--datadir=${join(this.folder, 'data')}`,
        `--logdir=${join(this.folder, 'logs')}`,
        `--rpccert=${this.certificateFile}`,
        `--rpckey=${join(this.folder, 'rpc.key')}`,
        `--rpclisten=127.0.0.1:${this.#port}`,
        '--rpcuser=user',
        '--rpcpass=password',
        '--nolisten',
        '--txindex',
        '--debuglevel=MINR=warn',
        ...this.#miningAddresses.map((address) => `--miningaddr=${address}`),
      ],
      this.folder,
    );
    await this.program.line(/RPC server listening/);
  }

  /** Stops it in good order. */
  async stop(): Promise<void> {
    await this.program?.stop('SIGTERM');
  }
}

/** The bridge, which is allowed to reach one address. */
export async function withBridge(
  allow: string,
  args: readonly string[],
  body: (bridge: string) => Promise<void>,
): Promise<void> {
  const folder = makeFolder();
  const program = new Program(
    'bridge',
    fileURLToPath(new URL('brontosig-bridge', build)),
    ['--listen', '127.0.0.1:0', '--allow', allow, ...args],
    folder,
  );
  try {
    const { bridge } = JSON.parse(await program.line(/^\{"bridge":/)) as { bridge: string };
    await body(bridge);
  } finally {
    await program.stop('SIGTERM');
    removeFolder(folder);
  }
}
