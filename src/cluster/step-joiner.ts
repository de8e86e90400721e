import type { Semaphore } from '../time/semaphore.ts';
import { QUIET_MICROTASKS, soonInTurn, whenQuiet } from '../time/when-quiet.ts';

/** The most keys of one command, and the most characters of its payloads, unless it has only one. */
const MOST_KEYS = 500;
const MOST_CHARACTERS = 4_000_000;

/** One kind of step of a backend, for one key and for many. */
export interface JoinableStep<Q, A> {
  readonly one: (request: Q) => Promise<A>;
  /** Each result stands for the request at its index; an `Error` is the failure of that one alone. */
  readonly many: (requests: readonly Q[]) => Promise<readonly (A | Error)[]>;
  readonly nameOf: (request: Q) => string;
  /** In characters. */
  readonly sizeOf?: (request: Q) => number;
}

interface Item<Q, A> {
  readonly request: Q;
  readonly resolve: (answer: A) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins steps for single keys that are asked for in the same turn of the event loop into one command for all of them. A
 * step that is alone stays the single step that it is. For its caller a joined step is the same as a single one: it has an
 * answer or an error of its own, and may be asked for again.
 *
 * A command never has the same name twice: the second step begins another command.
 */
export class StepJoiner<Q, A> {
  readonly #step: JoinableStep<Q, A>;
  readonly #commands: Pick<Semaphore, 'run'>;
  #open: Map<string, Item<Q, A>> | undefined;
  #size = 0;

  /** @param commands limits the commands under way. */
  constructor(step: JoinableStep<Q, A>, commands: Pick<Semaphore, 'run'>) {
    this.#step = step;
    this.#commands = commands;
  }

  ask(request: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      const name = this.#step.nameOf(request);
      const size = this.#step.sizeOf?.(request) ?? 0;
      if (this.#open?.has(name) || this.#size + size > MOST_CHARACTERS) this.#start();
      const open = this.#open ?? this.#begin();
      open.set(name, { request, resolve, reject });
      this.#size += size;
      if (open.size === MOST_KEYS) this.#start();
    });
  }

  #begin(): Map<string, Item<Q, A>> {
    const items: Map<string, Item<Q, A>> = new Map();
    this.#open = items;
    const isOver = (): boolean => this.#open !== items;
    whenQuiet({ size: () => items.size, checks: QUIET_MICROTASKS, soon: soonInTurn, isOver }, () =>
      this.#start(),
    );
    return items;
  }

  #start(): void {
    const items = [...(this.#open?.values() ?? [])];
    this.#open = undefined;
    this.#size = 0;
    if (items.length > 0) void this.#commands.run(() => this.#send(items));
  }

  /** Never rejects. */
  async #send(items: readonly Item<Q, A>[]): Promise<void> {
    const { one, many } = this.#step;
    const [first] = items as [Item<Q, A>];
    try {
      const requests = items.map(({ request }) => request);
      const answers = items.length === 1 ? [await one(first.request)] : await many(requests);
      if (answers?.length !== items.length) throw new TypeError('a step for many keys left some of them out');
      for (const [index, { resolve, reject }] of items.entries()) {
        const answer = answers[index] as A | Error;
        if (answer instanceof Error) reject(answer);
        else resolve(answer);
      }
    } catch (error) {
      for (const { reject } of items) reject(error);
    }
  }
}
