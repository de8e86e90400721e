import { QUIET_MICROTASKS, soonInTurn, whenQuiet } from '../time/when-quiet.ts';
import type { CommandPlaces } from './command-places.ts';

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

/** The steps of one command, until it is sent. */
interface Batch<Q, A> {
  readonly items: Map<string, Item<Q, A>>;
  size: number;
  /** It waits for its place among the commands under way, and further steps may join it. */
  isQueued: boolean;
}

/**
 * Joins steps for single keys that are asked for in the same turn of the event loop into one command for all of them; and
 * those that come while it waits for other commands, so that a slow backend gets fewer and larger ones. A step that is alone stays the single step that it is. For its caller a joined step is the same as a single one: it has an
 * answer or an error of its own, and may be asked for again.
 *
 * A command never has the same name twice: the second step begins another command.
 */
export class StepJoiner<Q, A> {
  readonly #step: JoinableStep<Q, A>;
  readonly #commands: Pick<CommandPlaces, 'run'>;
  #open: Batch<Q, A> | undefined;

  /** @param commands limits the commands under way. */
  constructor(step: JoinableStep<Q, A>, commands: Pick<CommandPlaces, 'run'>) {
    this.#step = step;
    this.#commands = commands;
  }

  ask(request: Q): Promise<A> {
    return new Promise((resolve, reject) => {
      const name = this.#step.nameOf(request);
      const size = this.#step.sizeOf?.(request) ?? 0;
      if (this.#open?.items.has(name) || (this.#open?.size ?? 0) + size > MOST_CHARACTERS) this.#close();
      const open = this.#open ?? this.#begin();
      open.items.set(name, { request, resolve, reject });
      open.size += size;
      if (open.items.size === MOST_KEYS) this.#close();
    });
  }

  #begin(): Batch<Q, A> {
    const batch: Batch<Q, A> = { items: new Map(), size: 0, isQueued: false };
    this.#open = batch;
    const isOver = (): boolean => batch.isQueued;
    const size = (): number => batch.items.size;
    whenQuiet({ size, checks: QUIET_MICROTASKS, soon: soonInTurn, isOver }, () => this.#queue(batch));
    return batch;
  }

  /** No step joins it any longer. */
  #close(): void {
    const batch = this.#open;
    this.#open = undefined;
    if (batch !== undefined) this.#queue(batch);
  }

  #queue(batch: Batch<Q, A>): void {
    if (batch.isQueued) return;
    batch.isQueued = true;
    void this.#commands.run(() => {
      if (this.#open === batch) this.#open = undefined;
      return this.#send([...batch.items.values()]);
    });
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
