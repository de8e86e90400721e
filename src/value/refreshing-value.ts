import { Entry } from '../engine/entry.ts';
import type { LoadContext } from '../engine/load-context.ts';
import type { LoadAnswer } from '../engine/load-result.ts';
import type { Load } from '../engine/loader.ts';
import type { ReadOptions } from '../engine/reader.ts';
import { Refresher } from '../engine/refresher.ts';
import { type ResolvedOptions, resolveOptions, VALUE_SHARED } from '../options/resolve-options.ts';
import type { SingleSharedOptions, ValueSharedOptions } from '../options/shared-options.ts';
import { type CoarseClock, coarseClocks } from '../time/coarse-clock.ts';
import { Periodic } from './periodic.ts';
import { checkValue } from './value-argument.ts';
import { type ValueStatus, valueStatus } from './value-status.ts';

/** The options of {@link RefreshingValue}; only `name` and `load` are required. */
export interface RefreshingValueOptions<T extends Previous, Previous = T>
  extends ValueSharedOptions,
    SingleSharedOptions {
  /**
   * Brings the value from its source, synchronously or not: the value itself, `loaded(value, …)` to say more about
   * its life, or `keep()` when the source has nothing new. Throwing or rejecting fails the load; the old value stays.
   *
   * It runs outside of the AsyncLocalStorage of the reader that started it: in the context in which tickless was first
   * imported, which is none when that is at the start of the process. It should pass `signal` on: what it
   * brings after that is aborted is dropped, but only the load itself can stop its work.
   *
   * The type of the value is inferred from it. To use `previous`, annotate the parameter:
   * `load: async ({ previous }: LoadContext<Rates>) => …`.
   */
  readonly load: (context: LoadContext<Previous>) => LoadAnswer<T> | PromiseLike<LoadAnswer<T>>;
  /**
   * `undefined` is a value like any other. Without it a load that brings `undefined` has failed, which is what a
   * forgotten `return` deserves. Only for loads whose type has `undefined` in it. @default false
   */
  readonly allowUndefined?: (undefined extends T ? boolean : false) | undefined;
}

/** What `invalidate` takes. */
export interface InvalidateOptions {
  /** Forget the value too, so that the next read waits as the first did. @default false */
  readonly drop?: boolean | undefined;
}

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
export class RefreshingValue<T extends Previous, Previous = T> extends Periodic<T> {
  readonly #entry: Entry<T>;
  readonly #refresher: Refresher<T>;
  readonly #policy: ResolvedOptions;
  readonly #now: CoarseClock;
  readonly #awaited: CoarseClock;

  /** @throws {OptionError} naming every option that breaks a rule. */
  constructor(options: RefreshingValueOptions<T, Previous>) {
    const load = options?.load as Load<T>;
    const policy = resolveOptions(options, {
      names: [...VALUE_SHARED, 'required', 'load', 'allowUndefined'],
      check: (checks) => checks.function('load', load),
    });
    const entry = new Entry<T>();
    entry.maxStalenessMs = policy.maxStalenessMs;
    const refresher = new Refresher(policy, load, (execution) => this.nextExecuteTime(execution));
    super(policy, entry, refresher);
    this.#entry = entry;
    this.#refresher = refresher;
    this.#policy = policy;
    const { sync, awaited } = coarseClocks(policy.clock);
    this.#now = sync;
    this.#awaited = awaited;
  }

  /**
   * Reads the value. While it lives every call returns the same resolved promise.
   *
   * Before the first success it waits for the load that it starts or finds running, and rejects with its `LoadError`
   * or `LoadTimeoutError`; it rejects at once with `CoolingDownError` while cooling down after a failure, with
   * `NotLoadedError` while paused, with `ClosedError` after `close`. After the first success it never waits and
   * never rejects, unless `patience`, `maxStaleness` or `signal` were given: see there.
   */
  get(options?: ReadOptions): Promise<T> {
    if (options === undefined && this.#isFresh(this.#awaited)) return this.#entry.promise as Promise<T>;
    return this.#refresher.reads.read(this.#entry, options);
  }

  /**
   * Reads the value without a promise; starts a reload that is due, as {@link get} does. A synchronous load works on
   * the very first read.
   *
   * @throws {NotLoadedError} before the first success; the load has been started if it may.
   * @throws {StaleValueError} beyond `maxStaleness`, unless `whenTooStale` is `serve`.
   */
  get current(): T {
    if (this.#isFresh(this.#now)) return this.#entry.value as T;
    return this.#refresher.reads.readNow(this.#entry);
  }

  /** The value as it is, however old; `undefined` while there is none. Starts nothing, never throws. */
  peek(): T | undefined {
    return this.#entry.value;
  }

  /** What is served now, how old it is, and how its reloads fare. Starts nothing, never throws. */
  inspect(): ValueStatus<T> {
    return valueStatus(this.#entry, this.#refresher.inspect(this.#entry), this.#policy.clock.monotonic());
  }

  /**
   * Loads now, due or not, also while paused or cooling down; joins the load that runs, if one does. Resolves with
   * the value; rejects with `LoadError`, `LoadTimeoutError` or, after `close`, `ClosedError`.
   */
  refresh(): Promise<T> {
    return this.#refresher.refresh(this.#entry);
  }

  /**
   * Marks the value as out of date: the next read starts a reload, and is served the old value meanwhile. With
   * `drop` the value is forgotten too: the next read waits. A load under way began before, so it is aborted and its
   * result dropped; who waits for it waits for its successor, which starts at once, also while paused. A cool-down
   * stays in force.
   */
  invalidate(options?: InvalidateOptions): void {
    this.#refresher.invalidate(this.#entry, options?.drop === true);
  }

  /**
   * Puts a value in by hand, loaded just now. It wins over a load under way, which is aborted, and goes to those
   * who wait for that. The schedule is asked for the next execute time; a cool-down ends.
   *
   * @throws {OptionError} for `undefined` without `allowUndefined`, and for a promise, which is to be awaited first.
   */
  set(value: T): void {
    checkValue(this.#policy, undefined, value);
    this.#refresher.set(this.#entry, value);
  }

  /** Nothing is due, neither here nor elsewhere in the group: the whole of a fresh read. */
  #isFresh(clock: CoarseClock): boolean {
    clock.update();
    return clock.instant < this.#entry.freshUntil && clock.instant < this.#refresher.door.readsFrom;
  }
}
