import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { endWithUs } from './guard.ts';
import type { SignalledKind, SignalledOptions } from './signalled.ts';

export interface FollowerSettings extends SignalledOptions {
  readonly kind: SignalledKind;
}

export interface ToFollower {
  /** To be set everywhere. */
  readonly set: number;
}

/** Instants are milliseconds of the machine's monotonic clock. */
export type FromFollower =
  | { readonly kind: 'serves'; readonly value: number; readonly at: number }
  | ({ readonly kind: 'set'; readonly value: number } & SetDone);

interface SetDone {
  readonly begunAt: number;
  readonly at: number;
  /** `undefined`: it was published. */
  readonly error: string | undefined;
}

const PROGRAM = fileURLToPath(new URL('../fixtures/follower.ts', import.meta.url));
const READY_WITHIN_MS = 60_000;

/** Processes that share a value; the parent has them set it, and hears what they serve. */
export class Followers {
  readonly #settings: FollowerSettings;
  readonly #children: ChildProcess[] = [];
  /** What each has served, in its order. */
  readonly served: { readonly value: number; readonly at: number }[][] = [];
  readonly #sets: Map<number, (done: SetDone) => void> = new Map();
  readonly #waiting: Set<() => void> = new Set();

  private constructor(settings: FollowerSettings) {
    this.#settings = settings;
  }

  static async start(count: number, settings: FollowerSettings): Promise<Followers> {
    const followers = new Followers(settings);
    try {
      await Promise.all(Array.from({ length: count }, (_, by) => followers.begin(by)));
      return followers;
    } catch (error) {
      await followers.close();
      throw error;
    }
  }

  get numbers(): number[] {
    return [...this.served.keys()];
  }

  /** Starts one, also in the place of one that is dead. Resolves when it serves something. */
  async begin(by: number): Promise<void> {
    const child = fork(PROGRAM, [JSON.stringify(this.#settings)], {
      execArgv: ['--import', import.meta.resolve('tsx')],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#children[by] = child;
    this.served[by] = [];
    if (child.pid !== undefined)
      child.once('exit', endWithUs(child.pid, join(tmpdir(), `tickless-${child.pid}`)));
    child.on('message', (message: FromFollower) => {
      if (this.#children[by] !== child) return;
      if (message.kind === 'serves') this.served[by]?.push(message);
      else this.#sets.get(message.value)?.(message);
      for (const wake of this.#waiting) wake();
    });
    await this.until(() => (this.served[by]?.length ?? 0) > 0, `follower ${by} begins`, READY_WITHIN_MS);
  }

  /** Has one set a value everywhere. */
  set(by: number, value: number): Promise<SetDone> {
    const done = new Promise<SetDone>((resolve) => this.#sets.set(value, resolve));
    this.#children[by]?.send({ set: value } satisfies ToFollower, () => {});
    return done;
  }

  /** Sets a value until it could be published. @returns when it was. */
  async setSurely(by: number, value: number): Promise<SetDone> {
    for (;;) {
      const done = await this.set(by, value);
      if (done.error === undefined) return done;
    }
  }

  /** Waits until those serve that value. @returns when the last one did, and rejects after that time. */
  async allServe(
    value: number,
    withinMs: number,
    numbers: readonly number[] = this.numbers,
  ): Promise<number> {
    const last = (by: number) => this.served[by]?.at(-1);
    await this.until(() => numbers.every((by) => last(by)?.value === value), `all serve ${value}`, withinMs);
    return Math.max(...numbers.map((by) => last(by)?.at ?? 0));
  }

  async until(holds: () => boolean, what: string, withinMs: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(look);
      };
      const timer = setTimeout(() => {
        end();
        const served = this.served.map((all) => all.at(-1)?.value).join(', ');
        reject(new Error(`not within ${withinMs} ms: ${what}; served are ${served}`));
      }, withinMs);
      const look = (): void => {
        if (!holds()) return;
        end();
        resolve();
      };
      this.#waiting.add(look);
      look();
    });
  }

  signal(by: number, signal: NodeJS.Signals): void {
    this.#children[by]?.kill(signal);
  }

  async kill(by: number): Promise<void> {
    const child = this.#children[by] as ChildProcess;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }

  /** Kills them, stopped or not. */
  async close(): Promise<void> {
    await Promise.all([...this.#children.keys()].map((by) => this.kill(by)));
  }
}
