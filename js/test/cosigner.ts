import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** What the Go program answers; see internal/cosigner. */
export interface Answer {
  readonly nonce?: number;
  readonly publicNonce?: string;
  readonly partialSignature?: string;
  readonly valid: boolean;
  readonly error?: string;
}

/** Runs the Go program that signs with this package's Go code and with btcec. */
export class Cosigner {
  readonly #process = spawn(fileURLToPath(new URL('../../build/cosigner', import.meta.url)), {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  readonly #lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]();

  /** Asks one question at a time. */
  async ask(request: object): Promise<Answer> {
    this.#process.stdin.write(`${JSON.stringify(request)}\n`);
    const line = await this.#lines.next();
    if (line.done === true) {
      throw new Error('the cosigner has ended');
    }
    const answer = JSON.parse(line.value) as Answer;
    if (answer.error !== undefined) {
      throw new Error(answer.error);
    }
    return answer;
  }

  /** Ends it. */
  async stop(): Promise<void> {
    this.#process.stdin.end();
    await once(this.#process, 'close');
  }
}
