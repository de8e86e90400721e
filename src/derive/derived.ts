import type { ReadOptions } from '../engine/reader.ts';
import { TicklessError } from '../errors.ts';
import { type JsonStatus, withJson } from '../json.ts';
import { messageOf, type SafeLogger } from '../observe/logger.ts';
import { OutageLog } from '../observe/outage-log.ts';
import type { Clock } from '../time/clock.ts';
import { ignoreRejection, isThenable, rejected } from '../time/deferred.ts';
import { engineOf, entryOf } from '../value/lifecycle.ts';
import { RefreshingValue } from '../value/refreshing-value.ts';
import { type InspectOptions, inspectsValues, type ValueStatus } from '../value/value-status.ts';

/** The state of a derived value at one instant. A copy: it does not change. */
export interface DerivedStatus<R> extends JsonStatus {
  /** The `name` option. */
  readonly name: string;
  /** The last result; not present while there is none, and with `values: false`. */
  readonly value?: R;
  /**
   * `empty`: nothing computed yet; `fresh`: computed from what the sources hold, and none of them is due; `stale`: a source is
   * due, or was replaced since; `too-stale`: a source is older than its `maxStaleness`.
   */
  readonly state: 'empty' | 'fresh' | 'stale' | 'too-stale';
  /** When the oldest of the values was loaded that the result was computed from, in epoch milliseconds. */
  readonly loadedAt: number | undefined;
  /** Milliseconds since then. */
  readonly age: number | undefined;
  /** `state` is `stale` or `too-stale`. */
  readonly isStale: boolean;
  /** How many versions of the sources in a row the function has thrown for; 0 after a result. */
  readonly failures: number;
  /** The error of the last version; `undefined` after a result. */
  readonly lastError: TicklessError | undefined;
}

/** Where a result comes from. */
interface Origin {
  /** The promises that the sources held. */
  readonly versions: readonly unknown[];
  /** When those were loaded (monotonic, by the clock of the derived value). */
  readonly loadedAt: readonly number[];
}

/** The fixed parts of a derived value. */
interface Definition<R> {
  readonly name: string;
  readonly sources: readonly NamedSource[];
  readonly compute: (...values: never[]) => R;
  readonly clock: Clock;
  readonly logger: SafeLogger;
}

/** A source with its name and its clock, and with what it is derived from. */
export interface NamedSource {
  readonly source: Source<unknown>;
  readonly name: string;
  readonly clock: Clock;
  /** The values at its beginnings, each once. */
  readonly values: readonly ValueSource<unknown>[];
  /** The derived values on the way, itself included, each once and after those that it is derived from. */
  readonly derived: readonly Derived<unknown>[];
  /** How many derived values follow one another on the longest way; 0: it is a value. */
  readonly depth: number;
}

/** The values that a read has got, by what holds them: a source may be dropped while others are waited for. */
type Read = ReadonlyMap<HeldValue<unknown>, unknown>;
const NOTHING_READ: Read = new Map();

/**
 * A value that is computed from others when it is read and they have changed since: made by {@link derive}.
 *
 * A read of it reads each `RefreshingValue` that it is derived from, directly or not, once, so they are kept fresh by it, and it
 * waits, rejects or throws as they do. It has no timer, no listener and nothing to close.
 */
export class Derived<R> {
  readonly #name: string;
  readonly #sources: readonly Source<unknown>[];
  readonly #values: readonly ValueSource<unknown>[];
  /** The derived values that it is derived from, each after its own sources. */
  readonly #before: readonly Derived<unknown>[];
  readonly #depth: number;
  readonly #compute: (...values: never[]) => R;
  readonly #clock: Clock;
  readonly #outage: OutageLog;
  /** The result that it holds now. */
  readonly #held: { value: R | undefined; promise: Promise<R> | undefined } = {
    value: undefined,
    promise: undefined,
  };
  #origin: Origin | undefined;
  /** The versions that were computed last, also where the function has thrown. */
  readonly #tried: unknown[];
  #failures = 0;
  #lastError: TicklessError | undefined;
  #isComputing = false;
  /** The promises of the last read, and its own for these. */
  readonly #reads: unknown[];
  #answer: Promise<R> | undefined;

  /** @internal */
  constructor({ name, sources, compute, clock, logger }: Definition<R>) {
    this.#name = name;
    this.#sources = sources.map(({ source }) => source);
    const values = sources.flatMap((source) => source.values).map((value) => [value.held, value] as const);
    this.#values = [...new Map(values).values()];
    this.#before = [...new Set(sources.flatMap(({ derived }) => derived))];
    this.#depth = 1 + Math.max(...sources.map(({ depth }) => depth));
    this.#compute = compute;
    this.#clock = clock;
    this.#outage = new OutageLog(logger, clock, { recovered: 'derived again' });
    this.#tried = sources.map(() => undefined);
    this.#reads = this.#values.map(() => undefined);
  }

  /** A derived value as the source of another one. @internal */
  static sourceOf(derived: Derived<unknown>): NamedSource {
    const source: Source<unknown> = { held: derived.#held, age: (known) => derived.#age(known) };
    return {
      source,
      name: derived.#name,
      clock: derived.#clock,
      values: derived.#values,
      derived: [...derived.#before, derived],
      depth: derived.#depth,
    };
  }

  /**
   * Reads the sources, and returns what follows from them. While none of them is replaced every call returns the same
   * resolved promise. The options are those of each source: a read waits until all have answered.
   *
   * Rejects with the error of a source whose read rejects. Rejects with `LOAD_FAILED` if the function throws and there is no
   * result of earlier versions; else that result stays.
   */
  get(options?: ReadOptions): Promise<R> {
    const values = this.#values;
    // A read by the function itself must not answer others.
    const isPlain = options === undefined && !this.#isComputing;
    if (!isPlain) return this.#next(values.map((value) => value.get(options)));
    const reads = this.#reads;
    let isSame = this.#answer !== undefined;
    for (let index = 0; index < values.length; index++) {
      const read = (values[index] as ValueSource<unknown>).get();
      if (read === reads[index]) continue;
      reads[index] = read;
      isSame = false;
    }
    // Functions that read one another may have computed something else meanwhile.
    if (isSame && (this.#before.length === 0 || this.#isUpToDate())) return this.#answer as Promise<R>;
    this.#answer = this.#next([...reads] as Promise<unknown>[]);
    return this.#answer;
  }

  /**
   * Reads the sources without a promise, and returns what follows from them.
   *
   * @throws the error of the first source whose `current` throws; all of them are read.
   * @throws {TicklessError} `LOAD_FAILED` if the function throws and there is no result of earlier versions.
   */
  get current(): R {
    const values = this.#values;
    let failed: { readonly error: unknown } | undefined;
    for (let index = 0; index < values.length; index++) {
      try {
        (values[index] as ValueSource<unknown>).current;
      } catch (error) {
        failed ??= { error };
      }
    }
    if (failed !== undefined) throw failed.error;
    return this.#follow(NOTHING_READ).value;
  }

  /** The last result as it is; `undefined` while there is none. Reads no source and computes nothing, never throws. */
  peek(): R | undefined {
    return this.#held.value;
  }

  /** The last result, its age, and the state of its sources. Computes nothing. @throws {TicklessError} `OPTION` for an unknown option. */
  inspect(options?: InspectOptions): DerivedStatus<R> {
    const hasValue = inspectsValues(this.#name, options);
    const isLoaded = this.#origin !== undefined;
    const state = this.#state();
    const age = isLoaded ? this.#age() : undefined;
    return withJson({
      name: this.#name,
      ...(isLoaded && hasValue ? { value: this.#held.value as R } : {}),
      state,
      loadedAt: age === undefined ? undefined : this.#clock.now() - age,
      age,
      isStale: state === 'stale' || state === 'too-stale',
      failures: this.#failures,
      lastError: this.#lastError,
    });
  }

  #state(): DerivedStatus<R>['state'] {
    const states = this.#values.map(({ state }) => state);
    if (this.#origin === undefined) return 'empty';
    if (states.includes('too-stale')) return 'too-stale';
    const isCurrent = this.#isCurrent && this.#before.every((derived) => derived.#isCurrent);
    return isCurrent && states.every((state) => state === 'fresh') ? 'fresh' : 'stale';
  }

  /** The result is that of what the sources hold. */
  get #isCurrent(): boolean {
    const { versions } = this.#origin ?? {};
    return (
      versions !== undefined && this.#sources.every(({ held }, index) => held.promise === versions[index])
    );
  }

  /** Of the oldest value that the result was computed from; one that was kept has the age of that. */
  #age(known: KnownAges = new Map()): number {
    const found = known.get(this);
    if (found !== undefined) return found;
    const { versions, loadedAt } = this.#origin as Origin;
    const now = this.#clock.monotonic();
    const ages = this.#sources.map((source, index) =>
      source.held.promise === versions[index] ? source.age(known) : now - (loadedAt[index] as number),
    );
    const age = Math.max(...ages);
    known.set(this, age);
    return age;
  }

  /** The result that follows from reads of all values. */
  #next(reads: readonly Promise<unknown>[]): Promise<R> {
    if (reads.every((read, index) => read === this.#values[index]?.held.promise)) {
      try {
        return this.#follow(NOTHING_READ).promise;
      } catch (error) {
        return rejected(error);
      }
    }
    const followed = Promise.all(reads).then((values) => {
      const read = new Map(this.#values.map(({ held }, index) => [held, values[index]]));
      return this.#follow(read).value;
    });
    return ignoreRejection(followed);
  }

  /** Computes first all that it is derived from, each once, then its own result, where something was replaced. */
  #follow(read: Read): { readonly value: R; readonly promise: Promise<R> } {
    for (const derived of this.#before) derived.#update(read);
    return this.#update(read);
  }

  #isUpToDate(): boolean {
    const tried = this.#tried;
    for (let index = 0; index < tried.length; index++) {
      const { promise } = (this.#sources[index] as Source<unknown>).held;
      if (promise === undefined || promise !== tried[index]) return false;
    }
    return true;
  }

  /** Computes the result of what the sources hold, unless that was tried before. */
  #update(read: Read): { readonly value: R; readonly promise: Promise<R> } {
    if (this.#isUpToDate() || this.#isComputing) return this.#result();
    const held = this.#sources.map((source) => source.held);
    const isGone = (one: HeldValue<unknown>): boolean => one.promise === undefined && !read.has(one);
    if (held.some(isGone)) {
      throw new TicklessError('NOT_LOADED', 'a source was dropped while it was read', { member: this.#name });
    }
    const values = held.map((one) => (one.promise === undefined ? read.get(one) : one.value));
    const now = this.#clock.monotonic();
    const ages: KnownAges = new Map();
    const loadedAt = this.#sources.map((source) => now - source.age(ages));
    const versions = held.map(({ promise }) => promise);
    for (const [index, version] of versions.entries()) this.#tried[index] = version;
    this.#isComputing = true;
    try {
      const compute = this.#compute;
      const value = compute(...(values as never[]));
      if (isThenable(value)) {
        ignoreRejection(Promise.resolve(value));
        throw new TypeError(
          'the function returned a promise, and must be synchronous; derive from a value that loads',
        );
      }
      this.#held.value = value;
      this.#held.promise = Promise.resolve(value);
      this.#origin = { versions, loadedAt };
      this.#failures = 0;
      this.#lastError = undefined;
      this.#outage.succeeded();
    } catch (cause) {
      this.#failed(cause);
    } finally {
      this.#isComputing = false;
    }
    return this.#result();
  }

  /** The last result stays, and is not computed again before a source is replaced. */
  #failed(cause: unknown): void {
    const message = `the function of derive() failed: ${messageOf(cause)}`;
    this.#failures += 1;
    this.#lastError = new TicklessError('LOAD_FAILED', message, { member: this.#name, cause });
    const what = this.#origin === undefined ? 'reads are refused' : 'the result of before stays';
    const text = (): string => `the function of derive() failed, ${what}`;
    this.#outage.failed({ retryAt: this.#clock.monotonic(), text, cause });
  }

  #result(): { readonly value: R; readonly promise: Promise<R> } {
    if (this.#origin !== undefined) return this.#held as { value: R; promise: Promise<R> };
    throw this.#lastError ?? new TicklessError('NOT_LOADED', 'is being computed', { member: this.#name });
  }
}

/** The value that a source holds. Its promise is another one after each replacement, and the same after `keep()`. */
interface HeldValue<T> {
  readonly value: T | undefined;
  /** `undefined`: there is no value. */
  readonly promise: Promise<T> | undefined;
}

/** The ages of derived values that one question has found already: a value may be reached in many ways. */
type KnownAges = Map<unknown, number>;

/** A source, as a derived value sees it. */
interface Source<T> {
  /** The same object as long as the source lives. */
  readonly held: HeldValue<T>;
  /** Milliseconds since what it holds was loaded. */
  age(known: KnownAges): number;
}

/** A `RefreshingValue` as a source, of a derived value or of one that this is derived from. */
export class ValueSource<T> implements Source<T> {
  readonly held: HeldValue<T>;
  readonly #value: RefreshingValue<T>;

  constructor(value: RefreshingValue<T>) {
    this.held = entryOf(value);
    this.#value = value;
  }

  get(options?: ReadOptions): Promise<T> {
    return this.#value.get(options);
  }

  get current(): T {
    return this.#value.current;
  }

  age(): number {
    return engineOf(this.#value).options.clock.monotonic() - entryOf(this.#value).loadedAt;
  }

  get state(): ValueStatus<T>['state'] {
    return this.#value.inspect({ values: false }).state;
  }
}

/** It can be a {@link ValueSource}. */
export function isValue(received: unknown): received is RefreshingValue<unknown> {
  return received instanceof RefreshingValue;
}
