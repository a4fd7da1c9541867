import { sha256 } from '@scure/btc-signer/utils.js';
import { BrontosigError, InvalidContributionError } from 'brontosig';
import { sortKeys, type Session } from 'brontosig/musig2';
import { Signer, toHex } from '../cosign.js';
import { capital, fromHex, InputError, KIND_NAMES, type Packet } from './packets.js';
import { addressText, examplePsbt, messageTask, psbtTask, type NetworkName, type Result, type Task } from './task.js';

/** How far a room has come. */
export type Stage = 'keys' | 'task' | 'nonces' | 'partials' | 'done';

/** A packet that belongs to a session. */
type SessionPacket = Extract<Packet, { readonly kind: 'nonce' | 'partial' }>;

/** A packet that proposes something to sign. */
type TaskPacket = Extract<Packet, { readonly kind: 'message' | 'psbt' }>;

/** What a {@link Room} is made with. */
export interface RoomOptions {
  /** How many sign together. */
  readonly size: number;
  readonly network: NetworkName;
  /** The own secret key, 32 bytes, which is wiped with the room; a fresh one by default. */
  readonly secretKey: Uint8Array | undefined;
  /** Gets what the others have to know. */
  readonly post: (packet: Packet) => void;
}

/**
 * One signer's view of a co-signing room. It does no input or output: what others
 * send goes into `receive`, in any order, and what they have to know comes out
 * of `post`. Secrets are in the memory of the wasm module only.
 */
export class Room {
  readonly size: number;
  readonly network: NetworkName;
  /** The own public key. Keys are in hexadecimal throughout. */
  readonly own: string;
  /** The keys that were heard of and have not gone, the own one first. */
  readonly present: Set<string>;
  /** Keys whose pages were closed. Their secret halves may be lost. */
  readonly gone: Set<string> = new Set<string>();
  /** What is wrong with what a signer has sent. */
  readonly complaints: Map<string, string> = new Map<string, string>();
  /** The public nonces of this attempt. */
  readonly nonces: Map<string, readonly Uint8Array[]> = new Map<string, readonly Uint8Array[]>();
  /** The partial signatures of this attempt, all of which were verified. */
  readonly partials: Map<string, readonly Uint8Array[]> = new Map<string, readonly Uint8Array[]>();

  /** The keys that sign, in their order, once they are agreed on. */
  keys: readonly string[] | undefined;
  /** What another signer wants to sign. */
  proposal: { readonly from: string; readonly task: Task } | undefined;
  /** What is being signed. */
  task: Task | undefined;
  /** How often signing was started, counted by all together. */
  attempt = 0;
  result: Result | undefined;

  readonly #signer: Signer;
  readonly #post: (packet: Packet) => void;
  /** The last packet of each kind from each signer: some come before their time. */
  readonly #mail = new Map<string, SessionPacket>();
  #waitingTask: TaskPacket | undefined;
  #sessions: Session[] = [];
  #sessionName = '';

  constructor({ size, network, secretKey, post }: RoomOptions) {
    this.size = size;
    this.network = network;
    this.#signer = new Signer(secretKey);
    this.#post = post;
    this.own = toHex(this.#signer.publicKey);
    this.present = new Set([this.own]);
  }

  get stage(): Stage {
    if (this.keys === undefined) {
      return 'keys';
    }
    if (this.task === undefined) {
      return 'task';
    }
    if (this.result !== undefined) {
      return 'done';
    }
    return this.nonces.size < this.keys.length ? 'nonces' : 'partials';
  }

  /** The address of all together. Only after the keys are agreed on. */
  get address(): string {
    return addressText(this.#signer.outputKey, this.network);
  }

  /** The key that signatures are valid for. Only after the keys are agreed on. */
  get outputKey(): string {
    return toHex(this.#signer.outputKey);
  }

  /** A PSBT to try the room with. */
  get example(): string {
    return examplePsbt(this.#signer.outputKey, this.#signer.internalKey);
  }

  /** What the others have to know of this signer, all of it again. */
  get packets(): Packet[] {
    const packets: Packet[] = [{ kind: 'key', from: this.own }];
    for (const packet of [this.taskPacket, this.sessionPacket('nonce'), this.sessionPacket('partial')]) {
      if (packet !== undefined) {
        packets.push(packet);
      }
    }
    return packets;
  }

  /** The packet that tells the others what to sign. */
  get taskPacket(): Packet | undefined {
    return this.task && { kind: this.task.kind, from: this.own, outputKey: this.outputKey, data: this.task.data };
  }

  /** The packet with the own nonces, or partial signatures. */
  sessionPacket(kind: 'nonce' | 'partial'): Packet | undefined {
    const values = (kind === 'nonce' ? this.nonces : this.partials).get(this.own);
    return values && { kind, from: this.own, session: this.#sessionName, attempt: this.attempt, values };
  }

  /** Says for people how many keys are here. */
  get keyCount(): string {
    const count = this.present.size;
    return count > this.size
      ? `${count} keys are here, and ${this.size} are to sign. Remove what does not belong.`
      : `${count} of ${this.size} keys ${count === 1 ? 'is' : 'are'} here.`;
  }

  /** Names a signer for people. */
  name(key: string): string {
    const index = this.keys?.indexOf(key) ?? -1;
    const short = `${key.slice(0, 6)}…${key.slice(-6)}`;
    return index < 0 ? `key ${short}` : `signer ${index + 1} (${short})`;
  }

  /**
   * Takes what another signer has sent.
   *
   * @returns what happened, for people.
   * @throws InputError that says what is wrong with it and whose it is.
   */
  receive(packet: Packet): string {
    const { kind, from } = packet;
    const what = KIND_NAMES[kind];
    if (from === this.own) {
      throw new InputError(`This is your own ${what}. Paste what the others have sent you.`);
    }
    if (kind === 'key') {
      return this.#addKey(from);
    }
    if (this.keys === undefined) {
      if (this.present.has(from)) {
        this.#keep(packet);
      }
      throw new InputError(`This is a ${what}. First all public keys have to be here, and the address has to be made.`);
    }
    if (!this.keys.includes(from)) {
      throw new InputError(`This ${what} is from ${this.name(from)}, which is not among the signers of this address.`);
    }
    this.present.add(from);
    this.gone.delete(from);
    return 'data' in packet ? this.#addProposal(packet) : this.#addToSession(packet);
  }

  /** Takes what came by itself. What is wrong with it is shown with the signer who sent it. */
  hear(packet: Packet): string | undefined {
    try {
      return this.receive(packet);
    } catch (error) {
      if (!(error instanceof InputError)) {
        throw error;
      }
      // What is only early was kept.
      if (error instanceof WrongInput) {
        this.complaints.set(packet.from, error.message);
        return error.message;
      }
      return undefined;
    }
  }

  /** Notes that a signer has closed its page. */
  leave(key: string): void {
    if (this.present.delete(key) && this.keys?.includes(key) === true) {
      this.gone.add(key);
    }
  }

  /** Fixes who signs, which makes the address. */
  agree(): void {
    if (this.present.size !== this.size) {
      throw new InputError(this.keyCount);
    }
    try {
      this.#signer.join([...this.present].map((key) => fromHex('public key', key)));
    } catch (cause) {
      throw cause instanceof BrontosigError ? new InputError(`These keys make no address: ${cause.message}.`, { cause }) : cause;
    }
    this.keys = [...this.present].sort();
    if (this.#waitingTask !== undefined) {
      this.hear(this.#waitingTask);
    }
  }

  /** Goes back to the keys, of which those that are present stay. */
  reopen(): void {
    this.clear();
    this.keys = undefined;
    this.gone.clear();
    this.complaints.clear();
    this.#mail.clear();
    this.#waitingTask = undefined;
  }

  /** Proposes something to sign, and agrees to it. */
  propose(kind: Task['kind'], text: string): void {
    this.#start(kind === 'message' ? this.#message(new TextEncoder().encode(text)) : this.#psbt(text));
  }

  /** Agrees to what another signer wants to sign. */
  approve(): void {
    if (this.proposal !== undefined) {
      this.#start(this.proposal.task);
    }
  }

  /** Gives up what is being signed, or done. */
  clear(): void {
    this.#endSessions();
    this.nonces.clear();
    this.partials.clear();
    this.task = undefined;
    this.result = undefined;
    this.proposal = undefined;
    this.attempt = 0;
  }

  /** Starts over, with fresh nonces. The others follow when they get them. */
  restart(): void {
    this.#begin(this.attempt + 1);
  }

  /** Signs with the own key. It uses the secret nonces up. */
  sign(): void {
    this.partials.set(this.own, this.#sessions.map((session) => session.sign()));
    this.#postPacket(this.sessionPacket('partial'));
    this.#finish();
  }

  /** Wipes the secrets. */
  dispose(): void {
    this.#endSessions();
    this.#signer.dispose();
  }

  #addKey(key: string): string {
    if (this.keys?.includes(key) === true) {
      this.present.add(key);
      this.gone.delete(key);
      return `The key of ${this.name(key)} is here.`;
    }
    try {
      sortKeys([fromHex('public key', key)]);
    } catch (cause) {
      throw new WrongInput(`The ${this.name(key)} is no public key: its digits name no point of the curve. Was one mistyped?`, { cause });
    }
    this.present.add(key);
    if (this.keys !== undefined) {
      throw new InputError(`The ${this.name(key)} is not among the signers of this address. Go back to the keys to let it in.`);
    }
    return `The ${this.name(key)} is here.`;
  }

  #addProposal(packet: TaskPacket): string {
    if (packet.outputKey !== this.outputKey) {
      throw new WrongInput(
        `The ${KIND_NAMES[packet.kind]} of ${this.name(packet.from)} is for another address. Do all of you have the same keys?`,
      );
    }
    if (this.result === undefined && this.task?.kind === packet.kind && toHex(this.task.data) === toHex(packet.data)) {
      return `${capital(this.name(packet.from))} signs the same.`;
    }
    try {
      const task = packet.kind === 'message' ? this.#message(packet.data) : this.#psbt(toHex(packet.data));
      this.proposal = { from: packet.from, task };
    } catch (cause) {
      throw cause instanceof InputError ? new WrongInput(cause.message, { cause }) : cause;
    }
    return `${capital(this.name(packet.from))} proposes a ${KIND_NAMES[packet.kind]} to sign.`;
  }

  #message(data: Uint8Array): Task {
    return messageTask(data, this.#signer.outputKey, this.network);
  }

  #psbt(text: string): Task {
    return psbtTask(text, this.#signer.outputKey, this.network);
  }

  #keep(packet: Packet): void {
    if ('values' in packet) {
      this.#mail.set(`${packet.kind} ${packet.from}`, packet);
    } else if ('data' in packet) {
      this.#waitingTask = packet;
    }
  }

  #start(task: Task): void {
    this.clear();
    this.task = task;
    const name = sha256(Uint8Array.of(...this.#signer.outputKey, ...task.hashes.flatMap((hash) => [...hash])));
    this.#sessionName = toHex(name.subarray(0, 8));
    this.#postPacket(this.taskPacket);
    const attempts = [...this.#mail.values()].filter(({ session }) => session === this.#sessionName).map(({ attempt }) => attempt);
    this.#begin(Math.max(1, ...attempts));
  }

  /** Draws fresh nonces, and takes what has come for this attempt already. */
  #begin(attempt: number): void {
    this.#endSessions();
    this.nonces.clear();
    this.partials.clear();
    this.complaints.clear();
    this.result = undefined;
    this.attempt = attempt;
    this.#sessions = this.task?.hashes.map((hash) => this.#signer.start(hash)) ?? [];
    this.nonces.set(this.own, this.#sessions.map((session) => session.publicNonce));
    this.#postPacket(this.sessionPacket('nonce'));
    this.#replay('nonce');
    this.#replay('partial');
  }

  #replay(kind: 'nonce' | 'partial'): void {
    for (const packet of [...this.#mail.values()]) {
      if (packet.kind === kind && packet.session === this.#sessionName && packet.attempt === this.attempt) {
        this.hear(packet);
      }
    }
  }

  #addToSession(packet: SessionPacket): string {
    const { kind, from, session, attempt } = packet;
    const whose = `The ${KIND_NAMES[kind]} of ${this.name(from)}`;
    this.#keep(packet);
    if (this.task === undefined) {
      throw new InputError(`${whose} has come. First agree on what to sign.`);
    }
    if (session !== this.#sessionName) {
      throw new InputError(`${whose} is for another message or transaction than this one.`);
    }
    if (packet.values.length !== this.task.hashes.length) {
      throw new WrongInput(`${whose} should have ${this.task.hashes.length} values, one for each input, and has ${packet.values.length}.`);
    }
    if (this.result !== undefined) {
      throw new InputError(`${whose} is not needed any more: the signature is here.`);
    }
    if (attempt < this.attempt) {
      throw new InputError(`${whose} is from attempt ${attempt}. All of you have to start over: this is attempt ${this.attempt}.`);
    }
    return kind === 'nonce' ? this.#addNonce(packet, whose) : this.#addPartial(packet, whose);
  }

  #addNonce(packet: SessionPacket, whose: string): string {
    const { from, attempt, values } = packet;
    const known = this.nonces.get(from);
    if (attempt === this.attempt && known !== undefined) {
      if (same(known, values)) {
        return `${whose} is here already.`;
      }
      // Its page was loaded again: what it had drawn is lost, and one nonce never serves two signatures.
      this.#begin(attempt + 1);
      return `${capital(this.name(from))} has started over, so this is attempt ${this.attempt}, with fresh nonces.`;
    }
    if (attempt > this.attempt) {
      this.#begin(attempt);
      return `${capital(this.name(from))} has started over, so this is attempt ${this.attempt}, with fresh nonces.`;
    }
    const index = this.#index(from);
    try {
      this.#sessions.forEach((session, i) => {
        session.addNonce(index, values[i] ?? new Uint8Array());
      });
    } catch (cause) {
      throw refused(cause, `${whose} is no nonce: its digits name no points of the curve.`);
    }
    this.nonces.set(from, values);
    this.complaints.delete(from);
    if (this.nonces.size === this.keys?.length) {
      this.#replay('partial');
    }
    return `${whose} has come.`;
  }

  #addPartial(packet: SessionPacket, whose: string): string {
    const { from, attempt, values } = packet;
    if (attempt > this.attempt) {
      throw new InputError(`${whose} is from attempt ${attempt}. Paste the nonce of that attempt first.`);
    }
    if (this.stage === 'nonces') {
      throw new InputError(`${whose} cannot be checked before all nonces are here. Paste these first.`);
    }
    const known = this.partials.get(from);
    if (known !== undefined && same(known, values)) {
      return `${whose} is here already.`;
    }
    const index = this.#index(from);
    let input = 0;
    try {
      for (const session of this.#sessions) {
        session.addPartialSignature(index, values[input] ?? new Uint8Array());
        input++;
      }
    } catch (cause) {
      const place = values.length > 1 ? `, for the ${input + 1}. input,` : '';
      throw refused(cause, `${whose}${place} does not verify. Nobody else is to blame: ask for it again, or start over.`);
    }
    this.partials.set(from, values);
    this.complaints.delete(from);
    this.#finish();
    return `${whose} has come, and it verifies.`;
  }

  /** Combines the partial signatures once all are there. The result was verified. */
  #finish(): void {
    if (this.task !== undefined && this.partials.size === this.keys?.length) {
      const signatures = this.#sessions.map((session) => session.finish());
      this.result = this.task.complete(signatures);
      this.#endSessions();
    }
  }

  #index(key: string): number {
    return this.keys?.indexOf(key) ?? -1;
  }

  #endSessions(): void {
    this.#sessions.forEach((session) => {
      session.dispose();
    });
    this.#sessions = [];
  }

  #postPacket(packet: Packet | undefined): void {
    if (packet !== undefined) {
      this.#post(packet);
    }
  }
}

/** An input that is wrong whenever it comes, and whose sender is to be told. */
class WrongInput extends InputError {}

function refused(cause: unknown, message: string): unknown {
  if (cause instanceof InvalidContributionError) {
    return new WrongInput(message, { cause });
  }
  if (cause instanceof BrontosigError && cause.code === 'CONTRIBUTION_CONFLICT') {
    return new WrongInput('This signer has sent another one before. Start over.', { cause });
  }
  return cause;
}

function same(a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean {
  return a.map(toHex).join() === b.map(toHex).join();
}
