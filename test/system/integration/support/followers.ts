import { Children } from './children.ts';
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

const PROGRAM = new URL('../fixtures/follower.ts', import.meta.url);
const READY_WITHIN_MS = 60_000;

/** Processes that share a value; the parent has them set it, and hears what they serve. */
export class Followers {
  readonly #settings: FollowerSettings;
  readonly #sets: Map<number, (done: SetDone) => void> = new Map();
  /** What each has served, in its order. */
  readonly served: { readonly value: number; readonly at: number }[][] = [];
  readonly children: Children<ToFollower, FromFollower> = new Children(PROGRAM, (message, by) => {
    if (message.kind === 'serves') this.served[by]?.push(message);
    else this.#sets.get(message.value)?.(message);
  });

  private constructor(settings: FollowerSettings) {
    this.#settings = settings;
  }

  static async start(count: number, settings: FollowerSettings): Promise<Followers> {
    const followers = new Followers(settings);
    try {
      await Promise.all(Array.from({ length: count }, (_, by) => followers.begin(by)));
      return followers;
    } catch (error) {
      await followers.children.close();
      throw error;
    }
  }

  /** Starts one, also in the place of one that is dead. Resolves when it serves something. */
  async begin(by: number): Promise<void> {
    this.served[by] = [];
    this.children.start(by, this.#settings);
    const isServed = (): boolean => (this.served[by]?.length ?? 0) > 0;
    await this.children.until(isServed, () => `follower ${by} begins`, READY_WITHIN_MS);
  }

  /** Has one set a value everywhere. */
  set(by: number, value: number): Promise<SetDone> {
    const done = new Promise<SetDone>((resolve) => this.#sets.set(value, resolve));
    this.children.send(by, { set: value });
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
    numbers: readonly number[] = this.children.numbers,
  ): Promise<number> {
    const last = (by: number) => this.served[by]?.at(-1);
    await this.children.until(
      () => numbers.every((by) => last(by)?.value === value),
      () => `all serve ${value}; served are ${this.served.map((all) => all.at(-1)?.value).join(', ')}`,
      withinMs,
    );
    return Math.max(...numbers.map((by) => last(by)?.at ?? 0));
  }
}
