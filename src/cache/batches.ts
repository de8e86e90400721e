import type { LoadContext } from '../engine/load-context.ts';
import type { KeyedAnswer } from '../engine/load-result.ts';
import { showKey } from '../errors.ts';
import type { SafeLogger } from '../observe/logger.ts';
import type { Clock } from '../time/clock.ts';
import { Deferred } from '../time/deferred.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';

/** What the load of several keys is told. */
export interface LoadManyContext<K, Previous = unknown> extends Omit<LoadContext<Previous>, 'previous'> {
  /** Aborted when the load is over for all of its keys: past their deadline, superseded, or closed. */
  readonly signal: AbortSignal;
  /** That of the key whose load began first; so is `trigger`. */
  readonly attempt: number;
  /** No caller waited for any of the keys when their loads began. */
  readonly background: boolean;
  /** Those of the keys that have a value now, for conditional requests. Answer `keep()` to leave one in place. */
  readonly previous: ReadonlyMap<K, NonNullable<LoadContext<Previous>['previous']>>;
}

/** For each of the keys its value, `loaded()`, `keep()`, `absent()`, or the `Error` that it failed with. */
export type ManyAnswers<K, V> = ReadonlyMap<K, KeyedAnswer<V> | Error>;

/**
 * Loads several keys in one go. It must not wait for `get` of a key of the same cache: that may be on board of the same
 * batch.
 */
export type LoadMany<K, V, Previous = V> = (
  keys: readonly K[],
  context: LoadManyContext<K, Previous>,
) => ManyAnswers<K, V> | PromiseLike<ManyAnswers<K, V>>;

/** The load of one key, on board of a batch. */
interface BatchItem<K, V> {
  readonly entry: KeyedEntry<K, V>;
  readonly context: LoadContext<V>;
  readonly answer: Deferred<KeyedAnswer<V>>;
}

/** So many microtasks in a row bring nobody new: who awaits a little before he asks comes along too. */
const QUIET_MICROTASKS = 8;

/** So many timers in a row do: pauses that began together end within a moment, not at once. */
const QUIET_TIMERS = 2;

/** What batches are made of. */
export interface BatchPlan<K, V> {
  readonly loadMany: LoadMany<K, V>;
  /** At most so many keys per call, 1 or more. */
  readonly batchSize: number;
  readonly idOf: (key: K) => KeyId;
  readonly clock: Clock;
  readonly logger: SafeLogger;
  /** Each load begins when its lock or store has answered, so they don't begin in the same turn of the event loop. */
  readonly isShared: boolean;
}

/**
 * Joins the loads of keys that begin in the same turn of the event loop into calls of `loadMany`.
 *
 * To everybody else each key has a load of its own, with its own deadline, retries and cool-down. Here that load
 * boards the batch that is open. The batch departs when it is full, or when some rounds of microtasks have brought nobody
 * new. Second tries, successors of loads that were superseded, and loads behind a lock or a store begin one timer after the other; for
 * their batch it is rounds of timers.
 */
export class Batches<K, V> {
  readonly #plan: BatchPlan<K, V>;
  #open: BatchItem<K, V>[] | undefined;
  #openTimed: BatchItem<K, V>[] | undefined;

  constructor(plan: BatchPlan<K, V>) {
    this.#plan = plan;
  }

  /** Loads one key, with others that are loaded now. Rejects with what the call, or its answer for the key, says. */
  load(entry: KeyedEntry<K, V>, context: LoadContext<V>): Promise<KeyedAnswer<V>> {
    const passenger = { entry, context, answer: new Deferred<KeyedAnswer<V>>() };
    const isByTimer = this.#plan.isShared || context.attempt > 1 || context.trigger === 'invalidated';
    const batch = isByTimer ? this.#boardTimed() : this.#boardFirst();
    batch.push(passenger);
    if (batch.length >= this.#plan.batchSize) this.#depart(batch);
    return passenger.answer.promise;
  }

  #boardFirst(): BatchItem<K, V>[] {
    if (this.#open !== undefined) return this.#open;
    const batch: BatchItem<K, V>[] = [];
    this.#open = batch;
    this.#departWhenComplete(batch, QUIET_MICROTASKS, (look) => Promise.resolve().then(look));
    return batch;
  }

  #boardTimed(): BatchItem<K, V>[] {
    if (this.#openTimed !== undefined) return this.#openTimed;
    const batch: BatchItem<K, V>[] = [];
    this.#openTimed = batch;
    this.#departWhenComplete(batch, QUIET_TIMERS, (look) => this.#plan.clock.setTimeout(look, 0).ref());
    return batch;
  }

  /** Looks at the batch again and again, and lets it depart when nobody has come for so many looks. */
  #departWhenComplete(
    batch: readonly BatchItem<K, V>[],
    quietLooks: number,
    soon: (look: () => void) => void,
  ): void {
    let boarded = 0;
    let quiet = 0;
    const look = (): void => {
      if (batch !== this.#open && batch !== this.#openTimed) return; // all its seats were taken
      quiet = batch.length === boarded ? quiet + 1 : 0;
      boarded = batch.length;
      if (quiet >= quietLooks) this.#depart(batch);
      else soon(look);
    };
    soon(look);
  }

  #depart(batch: readonly BatchItem<K, V>[]): void {
    if (batch === this.#open) this.#open = undefined;
    else this.#openTimed = undefined;
    for (const { answer, context } of batch) if (context.signal.aborted) answer.reject(context.signal.reason);
    const passengers = batch.filter(({ context }) => !context.signal.aborted);
    const [first] = passengers;
    if (first !== undefined) this.#call(passengers, first.context);
  }

  #call(passengers: readonly BatchItem<K, V>[], { attempt, trigger }: LoadContext<V>): void {
    const fail = (error: unknown): void => {
      for (const { answer } of passengers) answer.reject(error);
    };
    const context: LoadManyContext<K, V> = {
      attempt,
      trigger,
      signal: signalOfAll(passengers),
      background: passengers.every((passenger) => passenger.context.background),
      previous: new Map(
        passengers.flatMap(({ entry: { key }, context: { previous } }) =>
          previous === undefined ? [] : [[key, previous] as const],
        ),
      ),
    };
    try {
      const keys = passengers.map(({ entry }) => entry.key);
      Promise.resolve(this.#plan.loadMany(keys, context)).then((answers) => {
        try {
          this.#deliver(passengers, answers);
        } catch (error) {
          fail(error); // a Map that lies
        }
      }, fail);
    } catch (error) {
      fail(error);
    }
  }

  #deliver(passengers: readonly BatchItem<K, V>[], answers: ManyAnswers<K, V>): void {
    if (Object.prototype.toString.call(answers) !== '[object Map]') {
      throw new TypeError(`loadMany must return a Map, returned ${showKey(answers)}`);
    }
    const { idOf, logger } = this.#plan;
    const byId = new Map<KeyId, KeyedAnswer<V> | Error>();
    const asked = new Set(passengers.map(({ entry }) => entry.id));
    const unasked: K[] = [];
    for (const [key, answer] of answers) {
      const id = idOrNone(idOf, key);
      if (id !== undefined && asked.has(id)) byId.set(id, answer);
      else unasked.push(key);
    }
    if (unasked.length > 0) {
      const such = `${showKey(unasked[0])} (one of ${unasked.length})`;
      logger.error('loadMany answered what it was not asked for', such);
    }
    for (const { entry, answer } of passengers) {
      const found = byId.get(entry.id);
      if (isError(found)) answer.reject(found);
      else if (byId.has(entry.id)) answer.resolve(found as KeyedAnswer<V>);
      else answer.reject(new TypeError('loadMany left it out; a key that the source lacks is absent()'));
    }
  }
}

/** Aborted when all theirs are, with the reason of the last. */
function signalOfAll(passengers: readonly BatchItem<unknown, unknown>[]): AbortSignal {
  const controller = new AbortController();
  let left = passengers.length;
  for (const { signal } of passengers.map(({ context }) => context)) {
    const abort = (): void => {
      left -= 1;
      if (left === 0) controller.abort(signal.reason);
    };
    signal.addEventListener('abort', abort, { once: true });
  }
  return controller.signal;
}

/** The identity of a key that the source made up, which `keyOf` need not be able to take. */
function idOrNone<K>(idOf: (key: K) => KeyId, key: K): KeyId | undefined {
  try {
    return idOf(key);
  } catch {
    return undefined;
  }
}

function isError(thing: unknown): thing is Error {
  return thing instanceof Error || Object.prototype.toString.call(thing) === '[object Error]';
}
