import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Command, Reply, Tally, WorkersSettings } from './messages.ts';

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
  async receive<Kind extends Reply['kind']>(kind: Kind): Promise<Extract<Reply, { readonly kind: Kind }>> {
    const [reply] = (await Promise.race([once(this.#child, 'message'), this.#ended])) as [Reply];
    if (reply.kind !== kind) throw new Error(`received ${reply.kind}, not ${kind}`);
    return reply as Extract<Reply, { readonly kind: Kind }>;
  }

  /** Resolves when each worker has read once. */
  async fill(strategy: string): Promise<void> {
    this.#command({ kind: 'fill', strategy });
    await this.receive('filled');
  }

  /** Resolves when all have read for that long. */
  async run(durationMs: number): Promise<Tally> {
    this.#command({ kind: 'run', durationMs });
    return (await this.receive('ran')).tally;
  }

  end(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  #command(command: Command): void {
    this.#child.send(command);
  }
}
