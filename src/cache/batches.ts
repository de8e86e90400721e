import { deadlineOf } from '../engine/entry.ts';
import { type LoadContext, TryContext } from '../engine/load-context.ts';
import { absent, type KeyedLoadReturn } from '../engine/load-result.ts';
import { callOwned } from '../engine/own-load.ts';
import { showKey } from '../errors.ts';
import type { MemberOptions } from '../options/resolve-options.ts';
import { isPlainObject } from '../plain-object.ts';
import { firstFew } from '../printable.ts';
import { Deferred } from '../time/deferred.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import { waitedFor } from '../time/waited-for.ts';
import { QUIET_MICROTASKS, type Quiet, soonInTurn, whenQuiet } from '../time/when-quiet.ts';
import type { KeyedEntry, KeyId } from './keyed-entry.ts';

/** The context of a load of several keys. */
export interface LoadManyContext<K, Previous = unknown> extends Omit<LoadContext<Previous>, 'previous'> {
  /** Aborted when the load is over for all of its keys: past their deadline, superseded, or closed. */
  readonly signal: AbortSignal;
  /** The attempt of the key whose load began first; `trigger` is also its own. */
  readonly attempt: number;
  /** No caller waited for any of the keys when their loads began. */
  readonly background: boolean;
  /** The values of those keys that have one now, for conditional requests. Return `keep()` to leave one in place. */
  readonly previous: ReadonlyMap<K, NonNullable<LoadContext<Previous>['previous']>>;
}

/** Loads several keys in one call. It must not wait for `get` of a key of the same cache: the key may be in the same batch. */
export type LoadMany<K, V, Previous = V> = (
  keys: readonly K[],
  context: LoadManyContext<K, Previous>,
) => ManyAnswers<K, V> | PromiseLike<ManyAnswers<K, V>>;

/** The load of one key in a batch. */
interface BatchItem<K, V> {
  readonly entry: KeyedEntry<K, V>;
  readonly context: LoadContext<V>;
  readonly abort: LazyAbort;
  readonly answer: Deferred<KeyedLoadReturn<V>>;
}

/** This many keys of a batch are named in an error. */
const MOST_NAMED = 3;

/** How many timers without a new item end a batch of timers: pauses that began together end within a moment, not at once. */
const QUIET_TIMERS = 2;

/** The parts of batches. */
export interface BatchPlan<K, V> {
  readonly loadMany: LoadMany<K, V>;
  /** The highest number of keys per call, 1 or more. */
  readonly batchSize: number;
  readonly idOf: (key: K) => KeyId;
  readonly member: MemberOptions;
}

/**
 * Joins the loads of keys that begin in the same turn of the event loop into calls of `loadMany`.
 *
 * For the engine each key has a load of its own, with its own deadline, retries and cool-down. That load is enqueued in
 * the open batch. The batch starts when it is full, or when several microtasks have added no item. Second tries,
 * successors of loads that were superseded, and loads behind a lock or a store begin one timer after the other; their
 * batch counts timers instead of microtasks.
 */
export class Batches<K, V> {
  readonly #plan: BatchPlan<K, V>;
  /** Those that still take items: of loads that begin in one turn of the event loop, and of those that timers begin. */
  readonly #open: Map<boolean, BatchItem<K, V>[]> = new Map();

  constructor(plan: BatchPlan<K, V>) {
    this.#plan = plan;
  }

  /** Loads one key in a batch. Rejects with the error of the call, or with the error that it returned for the key. */
  enqueue(entry: KeyedEntry<K, V>, context: LoadContext<V>, abort: LazyAbort): Promise<KeyedLoadReturn<V>> {
    const item = { entry, context, abort, answer: new Deferred<KeyedLoadReturn<V>>() };
    // With a lock or a store each load begins when that has answered, so they don't begin in the same turn of the event loop.
    const isShared = this.#plan.member.membership !== undefined;
    const isByTimer = isShared || context.attempt > 1 || context.trigger === 'invalidated';
    const batch = this.#open.get(isByTimer) ?? this.#newBatch(isByTimer);
    batch.push(item);
    if (batch.length >= this.#plan.batchSize) this.#start(batch, isByTimer);
    return item.answer.promise;
  }

  /** A batch that starts after some checks without a new item, unless it is full before. */
  #newBatch(isByTimer: boolean): BatchItem<K, V>[] {
    const batch: BatchItem<K, V>[] = [];
    this.#open.set(isByTimer, batch);
    const { clock } = this.#plan.member;
    const quiet: Quiet = {
      size: () => batch.length,
      checks: isByTimer ? QUIET_TIMERS : QUIET_MICROTASKS,
      soon: isByTimer ? (check) => clock.setTimeout(check, 0).ref() : soonInTurn,
      isOver: () => this.#open.get(isByTimer) !== batch,
    };
    whenQuiet(quiet, () => this.#start(batch, isByTimer));
    return batch;
  }

  #start(batch: readonly BatchItem<K, V>[], isByTimer: boolean): void {
    this.#open.delete(isByTimer);
    const items = liveItems(batch);
    if (items.length === 0) return;
    const { loadLimit, name } = this.#plan.member;
    const call = (): Promise<void> => this.#call(liveItems(items), items);
    const contexts = (): readonly LoadContext<V>[] => items.map(({ context }) => context);
    if (loadLimit === undefined) void call();
    else {
      const until = items.reduce((latest, { entry }) => Math.max(latest, deadlineOf(entry)), -Infinity);
      const end = loadLimit.run(call, until, contexts, name);
      Promise.resolve(end).catch(() => liveItems(items)); // all were over before its turn came
    }
  }

  /** Calls `loadMany`. Never rejects. @param all the items whose ends abort the call. */
  async #call(items: readonly BatchItem<K, V>[], all: readonly BatchItem<K, V>[]): Promise<void> {
    const { attempt, trigger } = (items[0] as BatchItem<K, V>).context;
    let signal: AbortSignal | undefined;
    const context: LoadManyContext<K, V> = {
      attempt,
      trigger,
      get signal() {
        signal ??= signalOfAll(all);
        return signal;
      },
      background: items.every((item) => item.context.background),
      previous: new Map(
        items.flatMap(({ entry: { key }, context: { previous } }) =>
          previous === undefined ? [] : [[key, previous] as const],
        ),
      ),
    };
    const keys = items.map(({ entry }) => entry.key);
    const waited = (): string => batchText(keys, signal);
    for (const item of items) TryContext.inBatch(item.context, waited);
    try {
      const entries = items.map(({ entry }) => entry);
      const { loadMany } = this.#plan;
      this.#deliver(items, await callOwned(entries, () => loadMany(keys, context)));
    } catch (error) {
      for (const { answer } of items) answer.reject(error); // also of a Map whose methods throw
    }
  }

  #deliver(items: readonly BatchItem<K, V>[], answers: ManyAnswers<K, V>): void {
    const { idOf, member } = this.#plan;
    const requested = items.map(({ entry }) => entry.id);
    const results = new BatchResults<V>(answers as ManyAnswers<never, V>, requested, idOf);
    const { unrequested } = results;
    if (unrequested.length > 0) {
      const such = `${showKey(unrequested[0])} (one of ${unrequested.length})`;
      member.logger.error('loadMany returned keys that were not requested', such);
    }
    for (const { entry, answer } of items) {
      const result = results.of(entry.id);
      if (isError(result)) answer.reject(result);
      else answer.resolve(result);
    }
  }
}

/** For people: the call that keeps the loads of these keys waiting. */
function batchText(keys: readonly unknown[], signal: AbortSignal | undefined): string {
  const inner = waitedFor(signal);
  const which = firstFew(keys, MOST_NAMED, showKey);
  return `loadMany of ${keys.length} key${keys.length === 1 ? '' : 's'} (${which})${inner === undefined ? '' : `: ${inner}`}`;
}

/** The items whose loads are not over yet; the others are rejected. */
function liveItems<K, V>(items: readonly BatchItem<K, V>[]): BatchItem<K, V>[] {
  return items.filter(({ answer, abort }) => {
    if (abort.isAborted) answer.reject(abort.reason);
    return !abort.isAborted;
  });
}

/** Aborted when the signals of all items are, with the reason of the last. */
function signalOfAll(items: readonly BatchItem<unknown, unknown>[]): AbortSignal {
  const controller = new AbortController();
  let left = items.length;
  for (const { abort } of items) {
    const aborted = (): void => {
      left -= 1;
      if (left === 0) controller.abort(abort.reason);
    };
    if (abort.isAborted) aborted();
    else abort.signal.addEventListener('abort', aborted);
  }
  return controller.signal;
}

function isError(thing: unknown): thing is Error {
  return thing instanceof Error || Object.prototype.toString.call(thing) === '[object Error]';
}

/**
 * For each of the keys its value, `loaded()`, `keep()`, `absent()`, or the `Error` that it failed with: a `Map`, or a
 * plain object by key where the keys, or the results of `keyOf` for them, are strings or numbers.
 */
type ManyAnswers<K, V> =
  | ReadonlyMap<K, KeyedLoadReturn<V> | Error>
  | { readonly [key: string]: KeyedLoadReturn<V> | Error };

/** The results of one call of `loadMany`, by the identities of keys. */
class BatchResults<V> {
  /** The keys that were returned without a request. */
  readonly unrequested: readonly unknown[];
  readonly #byId: Map<KeyId, KeyedLoadReturn<V> | Error>;

  /**
   * @param requested the identities of the keys.
   * @throws {TypeError} when it is neither a `Map` nor a plain object.
   */
  constructor(answers: ManyAnswers<never, V>, requested: readonly KeyId[], idOf: (key: never) => KeyId) {
    const ids = new Set(requested);
    const byId = new Map<KeyId, KeyedLoadReturn<V> | Error>();
    const unrequested: unknown[] = [];
    for (const [key, id, answer] of entriesOf(answers, requested, idOf)) {
      if (id !== undefined && ids.has(id)) byId.set(id, answer);
      else unrequested.push(key);
    }
    this.unrequested = unrequested;
    this.#byId = byId;
  }

  /** The result for a requested key. An `Error`: its load has failed. */
  of(id: KeyId): KeyedLoadReturn<V> | Error {
    if (this.#byId.has(id)) return this.#byId.get(id) as KeyedLoadReturn<V> | Error;
    const [stray] = this.unrequested;
    if (stray !== undefined) {
      const returned = `${showKey(stray)}, which was not requested`;
      return new TypeError(`loadMany left it out, and returned ${returned}: another type of key?`);
    }
    return absent();
  }
}

/** The entries of a result, each with the identity of its key; `undefined`: it has none. */
function* entriesOf<V>(
  answers: ManyAnswers<never, V>,
  requested: readonly KeyId[],
  idOf: (key: never) => KeyId,
): Generator<readonly [unknown, KeyId | undefined, KeyedLoadReturn<V> | Error]> {
  if (Object.prototype.toString.call(answers) === '[object Map]') {
    const map = answers as ReadonlyMap<never, KeyedLoadReturn<V> | Error>;
    for (const [key, answer] of map) yield [key, idOrNone(idOf, key), answer];
    return;
  }
  if (!isPlainObject(answers)) {
    throw new TypeError(`loadMany must return a Map or a plain object by key, returned ${showKey(answers)}`);
  }
  const texts = requested.filter((id) => ['string', 'number', 'bigint'].includes(typeof id));
  const byText = new Map<string, KeyId[]>();
  for (const id of texts) byText.set(`${id}`, [...(byText.get(`${id}`) ?? []), id]);
  for (const [key, answer] of Object.entries(answers)) {
    const ids = byText.get(key) ?? [undefined];
    const result = ids.length > 1 ? ambiguous(key) : (answer as KeyedLoadReturn<V> | Error);
    for (const id of ids) yield [key, id, result];
  }
}

function ambiguous(key: string): TypeError {
  return new TypeError(`loadMany returned an object, in which ${key} may be another key too: return a Map`);
}

/** The identity of a key that the source returned; `keyOf` may throw for it. */
function idOrNone(idOf: (key: never) => KeyId, key: never): KeyId | undefined {
  try {
    return idOf(key);
  } catch {
    return undefined;
  }
}
