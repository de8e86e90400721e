import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Message } from './reports.ts';

/** A process of the demo that serves HTTP and reports on itself. */
export class Child<Report, Event = never> {
  /** Its latest report; `undefined` before the first. */
  report: Report | undefined;
  /** Is told what it tells at once. */
  onEvent: ((event: Event) => void) | undefined;
  /** Settles only by rejecting: when the process ends before {@link end}. */
  readonly crashed: Promise<never>;
  readonly #process: ChildProcess;
  readonly #listening: Promise<number>;
  #isEnding = false;

  /** @param file the TypeScript file to run, beside this one. */
  constructor(file: string, args: readonly (string | number)[]) {
    const path = fileURLToPath(new URL(file, import.meta.url));
    this.#process = fork(path, args.map(String), { execArgv: ['--import', import.meta.resolve('tsx')] });
    this.#listening = new Promise((resolve) => {
      this.#process.on('message', (message: Message<Report, Event>) => {
        switch (message.kind) {
          case 'listening':
            return resolve(message.port);
          case 'report':
            this.report = message.report;
            return;
          case 'event':
            return this.onEvent?.(message.event);
        }
      });
    });
    this.crashed = new Promise((_, reject) => {
      this.#process.once('error', reject);
      this.#process.once('exit', (code, signal) => {
        if (!this.#isEnding) reject(new Error(`${file} ended by itself (${signal ?? `exit code ${code}`})`));
      });
    });
    this.crashed.catch(() => {});
  }

  /** Where it serves. Rejects when it ends before it does. */
  async url(): Promise<string> {
    return `http://127.0.0.1:${await Promise.race([this.#listening, this.crashed])}`;
  }

  send(message: object): void {
    this.#process.send(message);
  }

  /** Kills it (SIGKILL): it gets no chance to do anything more. */
  async end(): Promise<void> {
    this.#isEnding = true;
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const exit = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exit;
  }
}
