import { DueQueue, PASS_CONCURRENCY } from '../due/due-queue.ts';
import { waitersOf } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import { closedError } from '../engine/read-errors.ts';
import { passToPlatform, type WaitUntil } from '../observe/wait-until.ts';
import { namesArgument, ownOptions } from '../option-checks.ts';
import type { DueKeys } from './due-keys.ts';
import type { KeyedEntries } from './keyed-entries.ts';

/** The options of `requestStart` of a cache. */
export interface StartKeysOptions {
  /** Resolve when all due keys have been loaded, or have failed; never rejects because of a load. @default false */
  readonly wait?: boolean | undefined;
  /** Receives a promise of that. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** Starts the due keys of a cache by a queue of its own, beside that of its group. */
export class StartRequests<K, V> {
  readonly #entries: KeyedEntries<K, V>;
  readonly #dueKeys: DueKeys<K, V>;
  readonly #engine: MemberEngine<V>;
  #queue: DueQueue | undefined;

  constructor(entries: KeyedEntries<K, V>, dueKeys: DueKeys<K, V>, engine: MemberEngine<V>) {
    this.#entries = entries;
    this.#dueKeys = dueKeys;
    this.#engine = engine;
  }

  /** Resolves at once, unless the caller waits. Rejects after `close`, and for an unknown option. */
  async request(given: StartKeysOptions | undefined): Promise<void> {
    const { name, logger } = this.#engine.options;
    namesArgument(name, given, ['wait', 'waitUntil']);
    if (this.#engine.runState === 'closed') throw closedError(name);
    this.#queue ??= this.#joinedQueue();
    const { wait = false, waitUntil } = ownOptions(given ?? {});
    if (!wait && waitUntil === undefined) return this.#queue.request();
    const running = this.#entries.active().filter(({ flight }) => flight !== undefined);
    const ends = running.map((entry) => waitersOf(entry).end());
    const end = Promise.all([...ends, this.#queue.requestAndWait()]).then(() => {});
    if (waitUntil !== undefined) passToPlatform(waitUntil, end, logger);
    if (wait) await this.#engine.unlessOwn(end);
  }

  #joinedQueue(): DueQueue {
    const { clock } = this.#engine.options;
    const queue = new DueQueue({ clock, concurrency: PASS_CONCURRENCY, piggyback: false });
    this.#dueKeys.join((keys) => queue.join(keys));
    return queue;
  }
}
