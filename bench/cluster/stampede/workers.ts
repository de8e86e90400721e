import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Order, Tally, Told, WorkersSettings } from './messages.ts';

const PROGRAM = fileURLToPath(new URL('main.ts', import.meta.url));

/** A process of workers, which ends with this one. */
export class Workers {
  readonly #child: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(settings: WorkersSettings) {
    const execArgv = ['--import', import.meta.resolve('tsx')];
    this.#child = fork(PROGRAM, [JSON.stringify(settings)], { execArgv });
    this.#ended = once(this.#child, 'exit').then(([code, signal]) => {
      throw new Error(`a process of workers has ended with ${code ?? signal}`);
    });
    this.#ended.catch(() => {}); // reported to those that wait for it
  }

  /** Resolves with the next message, which must be of that kind. */
  async told<Kind extends Told['kind']>(kind: Kind): Promise<Extract<Told, { readonly kind: Kind }>> {
    const [told] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [Told];
    if (told.kind !== kind) throw new Error(`told ${told.kind}, not ${kind}`);
    return told as Extract<Told, { readonly kind: Kind }>;
  }

  /** Resolves when each worker has read once. */
  async fill(strategy: string): Promise<void> {
    this.#order({ kind: 'fill', strategy });
    await this.told('filled');
  }

  /** Resolves when all have read for that long. */
  async run(durationMs: number): Promise<Tally> {
    this.#order({ kind: 'run', durationMs });
    return (await this.told('ran')).tally;
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #order(order: Order): void {
    this.#child.send(order);
  }
}
