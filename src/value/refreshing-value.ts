import type { RollbackOptions, UnpinOptions } from '../data/version-control.ts';
import type { VersionRecord } from '../data/version-record.ts';
import { Entry } from '../engine/entry.ts';
import type { Load } from '../engine/flight.ts';
import type { FitsPrevious, LoadContext } from '../engine/load-context.ts';
import type { LoadReturn } from '../engine/load-result.ts';
import type { ReadRules } from '../engine/loader.ts';
import type { ScopeOptions } from '../engine/member-control.ts';
import { MemberEngine } from '../engine/member-engine.ts';
import { limitedLoad } from '../engine/own-load.ts';
import { Reader, type ReadOptions } from '../engine/reader.ts';
import {
  GUARD_OPTIONS,
  type GuardOptions,
  type TypedByLoad,
  type TypedBySchema,
} from '../guard/guard-options.ts';
import { guardedLoad, schemaArgument } from '../guard/guarded-load.ts';
import type { Counters } from '../observe/counters.ts';
import { ownOptions } from '../option-checks.ts';
import { resolveOptions, VALUE_SHARED } from '../options/resolve-options.ts';
import type { SingleSharedOptions, ValueSharedOptions } from '../options/shared-options.ts';
import { type CoarseClock, coarseClocks } from '../time/coarse-clock.ts';
import { droppable, ignoreRejection, rejected } from '../time/deferred.ts';
import { INITIAL_RULE, type Initial, type InitialValue, isInitialValue, prepareInitial } from './initial.ts';
import { asMethod, engineOf, entryOf, Periodic } from './lifecycle.ts';
import { type ReadResult, readResult } from './read-result.ts';
import {
  type InvalidateOptions,
  invalidateArgument,
  invalidateEntry,
  type RefreshOptions,
  refreshArgument,
  type SetOptions,
  setArgument,
  shareValue,
  versionsOf,
} from './shared-change.ts';
import { checkValue } from './value-argument.ts';
import { type InspectOptions, inspectsValues, type ValueStatus, valueStatus } from './value-status.ts';

/** The options of {@link RefreshingValue}; only `name` and `load` are required. */
export interface ValueOptions<T, Previous = T>
  extends ValueSharedOptions,
    SingleSharedOptions,
    GuardOptions<NoInfer<T>> {
  /**
   * Loads the value from its source, synchronously or not. Returns the value itself, `loaded(value, …)` with metadata
   * about its life, or `keep()` when the source has nothing new. Throwing or rejecting fails the load, and so
   * does `undefined`, since a `return` was probably forgotten; the old value stays.
   *
   * It runs outside of the AsyncLocalStorage of the reader that started it: in the context in which tickless was first
   * imported, which is empty when that happens at the start of the process. It should pass `signal` on: a result after
   * the abort is dropped, but only the load itself can stop its work.
   *
   * The type of the value is inferred from it. To use `previous`, annotate the parameter:
   * `load: async ({ previous }: LoadContext<Rates>) => …`.
   */
  readonly load: (context: LoadContext<Previous>) => LoadReturn<T> | PromiseLike<LoadReturn<T>>;
  /**
   * A value that is served before the first load has succeeded, with its honest age, while that load runs behind: a data
   * file that is shipped with the service, or a function that reads it. The function is called at most once, when the value
   * is first used (a read, `peek`, `inspect`, `requestStart`, `refresh`, `health()` of the group), synchronously;
   * `undefined` means none. If it throws, or the `schema` refuses its value, that is logged, and there is none.
   *
   * Its age counts by the wall clock from `loadedAt`; `maxStaleness` applies to it. It is due at once, whatever the schedule
   * says; the load gets it as `previous`, and may return `keep()`. A failed load leaves it in place. A younger snapshot of
   * the `store` replaces it. It has no version, and is not published. Dropping the value drops it for good.
   * @default undefined: none, the first read waits
   */
  readonly initial?: Initial<NoInfer<T>> | undefined;
}

/** The options of a value whose `schema` says of what type it is: whatever the load returns, the output of the schema is the value. */
export type CheckedValueOptions<T, Previous = T> = TypedBySchema<
  ValueOptions<T, Previous>,
  { readonly load: (context: LoadContext<Previous>) => unknown },
  T
>;

/**
 * One value that is kept fresh when it is read.
 *
 * ```ts
 * import { RefreshingValue } from 'tickless';
 *
 * const rates = new RefreshingValue({
 *   name: 'exchange-rates',
 *   load: async () => new Map([['USD', 1.08]]),
 *   schedule: { minutes: 10 },
 * });
 * console.log((await rates.get()).get('USD'));
 * ```
 *
 * The first read waits for the load. Every later read is answered at once with the value in memory; if a reload is
 * due it starts behind the read, once, however many readers there are. When it fails the old value stays, and the
 * next reload waits for the cool-down. Between loads there is no timer and no handle.
 */
export class RefreshingValue<T, Previous = T> extends Periodic<T> {
  // For fresh reads, which take the short way.
  readonly #entry: Entry<T>;
  readonly #reader: Reader<T>;
  readonly #rules: ReadRules;
  readonly #counters: Counters;
  readonly #sync: CoarseClock;
  readonly #awaited: CoarseClock;

  /** @throws {TicklessError} `OPTION` naming every option that breaks a rule. */
  constructor(given: ValueOptions<T, Previous> & FitsPrevious<T, Previous> & TypedByLoad<NoInfer<T>>);
  constructor(given: CheckedValueOptions<T, Previous> & FitsPrevious<T, Previous>);
  constructor(given: ValueOptions<T, Previous> & FitsPrevious<T, Previous>);
  constructor(given: ValueOptions<T, Previous>) {
    const options = ownOptions(given);
    const load = options?.load as (context: LoadContext) => ReturnType<Load<T>>;
    const initial = options?.initial as Initial<T> | undefined;
    const resolved = resolveOptions(options, {
      // Stryker disable next-line StringLiteral: only a task and a key are treated differently.
      kind: 'value',
      names: [...VALUE_SHARED, ...GUARD_OPTIONS, 'required', 'load', 'initial'],
      check: (checks) => {
        checks.function('load', load);
        const isInitial =
          ['undefined', 'function'].includes(typeof initial) || isInitialValue(initial as InitialValue<T>);
        checks.that(isInitial, 'initial', `${INITIAL_RULE}, or a function that returns it`, initial);
      },
    });
    const entry = new Entry<T>(undefined, undefined, resolved.maxStalenessMs);
    const called: Load<T> = (context) => load(context); // which gets nothing else
    const guarded = guardedLoad(limitedLoad(called, resolved), resolved);
    const engine = new MemberEngine(resolved, guarded, (execution) => this.nextExecuteTime(execution));
    if (initial !== undefined) prepareInitial(engine, entry, initial);
    super(resolved, entry, engine);
    engine.follow(entry);
    this.#entry = entry;
    this.#reader = new Reader(engine);
    this.#rules = engine.rules;
    this.#counters = engine.events.counters;
    const { sync, awaited } = coarseClocks(resolved.clock);
    this.#sync = sync;
    this.#awaited = awaited;
  }

  /**
   * Reads the value. While it lives every call returns the same resolved promise.
   *
   * Before the first success it waits for the load that it starts or finds running, and rejects with `LOAD_FAILED`
   * or `TIMED_OUT`; it rejects at once with `COOLING_DOWN` while cooling down after a failure, with
   * `NOT_LOADED` while paused, with `CLOSED` after `close`. After the first success it never waits and
   * never rejects, unless `patience`, `maxStaleness`, `whenFailing` or `signal` were given: see
   * there. Rejects with `OPTION` for an unknown or a wrong option.
   */
  get(options?: ReadOptions): Promise<T> {
    if (this === undefined) asMethod(this);
    if (options !== undefined) this.#counters.reads += 1;
    else if (this.#isFresh(this.#awaited)) return this.#entry.promise as Promise<T>;
    return this.#reader.read(this.#entry, options);
  }

  /**
   * Reads the value as {@link get} does, and tells its age, state and version with it, all of one instant: for a response that
   * says how old it is ({@link ageHeaders} takes the result). Rejects as `get` does. Costs microseconds where `get` costs a
   * fraction of one.
   */
  read(options?: ReadOptions): Promise<ReadResult<T>> {
    const entry = entryOf(asMethod(this));
    return readResult(
      () => this.get(options),
      () => entry,
      engineOf(this),
    );
  }

  /**
   * Reads the value without a promise; starts a reload that is due, as {@link get} does. A synchronous load works on
   * the very first read.
   *
   * @throws {TicklessError} `NOT_LOADED` before the first success; the load has been started if it may.
   * @throws {TicklessError} `TOO_STALE` beyond `maxStaleness`.
   * @throws {TicklessError} `LOAD_FAILED` or another error of the last reload, with `whenFailing: 'throw'`.
   * @throws {TicklessError} `CLOSED` after `close` without a value.
   */
  get current(): T {
    return this.#isFresh(this.#sync) ? (this.#entry.value as T) : this.#reader.readNow(this.#entry);
  }

  /** The value as it is, however old; `undefined` while there is none. Starts nothing, never throws. */
  peek(): T | undefined {
    engineOf(this).initial?.();
    return entryOf(this).value;
  }

  /** The value, its age, and the state of its reloads. Starts nothing. @throws {TicklessError} `OPTION` for an unknown option. */
  inspect(options?: InspectOptions): ValueStatus<T> {
    const engine = engineOf(this);
    const entry = entryOf(this);
    const hasValue = inspectsValues(engine.options.name, options);
    return valueStatus(entry, engine, hasValue);
  }

  /**
   * Loads now, due or not, also while paused or cooling down; joins the load that runs, if one does. Resolves with
   * the value; rejects with `LOAD_FAILED`, `TIMED_OUT` or, after `close`, `CLOSED`.
   *
   * With a `backend` it resolves when the backend has the snapshot, where other instances find it within `propagateWithin`; reads
   * return the value before that. It rejects with `BACKEND_DOWN` when the snapshot could not be
   * written; the value is loaded here. With `here` it resolves then too: `inspect().lock?.version` is `undefined`, and the
   * reason is logged.
   *
   * While a version is pinned it rejects with `PINNED`: `unpin()` first.
   *
   * With `force`, the `digest` of `inspect().refused`, a refused value is loaded again past the guard, if the source still has it.
   *
   * Rejects with `OPTION` for an unknown option, and for one of a wrong type.
   */
  refresh(options?: RefreshOptions): Promise<T> {
    const engine = engineOf(this);
    try {
      const [isForAll, force] = refreshArgument(engine.options, options);
      const load = (): Promise<T> => engine.refresh(entryOf(this), isForAll, force);
      const versions = engine.versions(entryOf(this));
      return versions === undefined ? load() : ignoreRejection(versions.refresh(load));
    } catch (error) {
      return rejected(error);
    }
  }

  /**
   * The versions that the backend has, newest first: with its option `keepVersions` as many as that, else the
   * present one. Nothing of the values is read.
   *
   * Rejects with `BACKEND_DOWN` when it does not answer, with `OPTION` without a backend.
   */
  history(): Promise<readonly VersionRecord[]> {
    return droppable(() => versionsOf(engineOf(this), entryOf(this)).history());
  }

  /**
   * Puts an earlier version into place, here at once and on the other instances within `propagateWithin`,
   * and pins it: no due load and no invalidation replaces it until the pin is over. It is published as
   * a new version, so that versions grow. It keeps its honest age; no age limit applies to it until the pin is over.
   * Instances that start later serve it too. While it lasts each instance that is read asks once a minute whether it still
   * does.
   *
   * The pin ends with `hold`, by `unpin()`, `set(value)` or another
   * `rollback`, on any instance. Needs a backend with `keepVersions` of 2 or more, the same on all instances.
   *
   * Its event `changed` is emitted when the store has the new version, which it carries.
   *
   * @returns the new version, when the store has it. Rejects with `BACKEND_DOWN` when
   *   it could not be published within the `timeout`, or its lease kept ending before; if the store had the version it is
   *   served here, until the next due load. Rejects with `OPTION` for a version that the store does not keep, and
   *   after `close` with `CLOSED`: nothing was changed then.
   */
  rollback(options: RollbackOptions): Promise<number> {
    return droppable(() => versionsOf(engineOf(this), entryOf(this)).rollback(options));
  }

  /**
   * Ends the pin of `rollback`, on all instances: the version in place is due, and the next read starts a load. Other
   * instances notice within a minute of reads.
   *
   * @param options the person or tool that ends it, and the reason, for `history()`. @default not named
   * @returns whether a version was pinned. Rejects as `rollback` does.
   */
  unpin(options?: UnpinOptions): Promise<boolean> {
    return droppable(() => versionsOf(engineOf(this), entryOf(this)).unpin(options));
  }

  /**
   * Marks the value as out of date: the next read starts a reload, and is served the old value meanwhile. With
   * `drop` the value is forgotten too: the next read waits. A cool-down stays in force.
   *
   * A load under way began before. It goes on: reads that wait for it already get its result, which is due at once
   * (after a drop it is not stored). Reads that come later never get it: its successor starts when it has settled, also
   * while paused, and they wait for one `timeout` at most. If it fails they reject with `COOLING_DOWN`. After a drop
   * a load that no read waits for is aborted.
   *
   * With a `backend` a mark is published too, under a version that is newer than that of any load before: the snapshot in
   * the backend is replaced by it, and no instance adopts what is older. The other instances do the same when they learn of
   * it, within `propagateWithin`; then one of them loads for all. An instance that starts
   * meanwhile finds no snapshot. While a version is pinned it rejects with `PINNED`, unless `here` is given.
   *
   * @returns a promise, which may be dropped: see {@link ScopeOptions}.
   * @throws {TicklessError} `OPTION` for an unknown option, and for one that is not a boolean; nothing was changed then.
   */
  invalidate(options?: InvalidateOptions): Promise<void> {
    const engine = engineOf(this);
    return ignoreRejection(
      invalidateEntry(engine, entryOf(this), invalidateArgument(engine.options, options)),
    );
  }

  /**
   * Sets the value by hand, as if it were loaded just now. It wins over a load under way, which is aborted; the
   * waiters of that load get this value. The next load starts when the aborted one has settled, at the latest at its
   * deadline. The schedule is asked for the next execute time; a cool-down ends.
   *
   * With a `backend` it is published too, under a token that is newer than that of any load before: the other instances
   * take it over within `propagateWithin`. It is served here at once. Where another
   * instance is loading it waits for the end of that load, at most one `timeout`. Of values that are set on several
   * instances at the same time one remains. `by` and `note` name that person and the reason, in `history()`. With `here` it
   * is served on this instance only, until the next load here, or until a newer snapshot is taken over.
   *
   * @returns a promise, which may be dropped: see {@link ScopeOptions}.
   * @throws {TicklessError} `OPTION` for `undefined`, for a promise, which must be awaited first, and when
   *   the `schema` is asynchronous; nothing was changed then.
   * @throws {TicklessError} `REFUSED` when the `schema` refuses it; nothing was changed then.
   */
  set(value: T, options?: SetOptions): Promise<void> {
    const engine = engineOf(this);
    const [isForAll, origin] = setArgument(engine.options, options);
    checkValue(engine.options, undefined, value);
    engine.put(entryOf(this), schemaArgument(engine.options, undefined, value));
    return isForAll ? shareValue(engine, entryOf(this), origin) : Promise.resolve();
  }

  /** Counts the read. Neither the value nor another member of the group is due: the whole of a fresh read. */
  #isFresh(clock: CoarseClock): boolean {
    clock.update(this.#counters);
    const { instant } = clock;
    return instant < this.#entry.freshUntil && instant < this.#rules.piggyback.readsFrom;
  }
}
