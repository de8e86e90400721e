import type { ReadOptions } from '../engine/reader.ts';
import { DeriveError, NotLoadedError } from '../errors.ts';
import { type JsonStatus, withJson } from '../json.ts';
import { messageOf, type SafeLogger } from '../observe/logger.ts';
import { OutageLog } from '../observe/outage-log.ts';
import type { Clock } from '../time/clock.ts';
import { ignoreRejection, isThenable, rejected } from '../time/deferred.ts';
import { type InspectOptions, inspectsValues } from '../value/value-status.ts';
import type { Source } from './sources.ts';

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
  readonly lastError: DeriveError | undefined;
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
  readonly sources: readonly Source<unknown>[];
  readonly compute: (...values: never[]) => R;
  readonly clock: Clock;
  readonly logger: SafeLogger;
}

/** A source with its name and its clock. */
export interface NamedSource {
  readonly source: Source<unknown>;
  readonly name: string;
  readonly clock: Clock;
}

/**
 * A value that is computed from others when it is read and they have changed since: made by {@link derive}.
 *
 * A read of it reads its sources, so they are kept fresh by it, and it waits, rejects or throws as they do. It has no timer, no
 * listener and nothing to close.
 */
export class Derived<R> {
  readonly #name: string;
  readonly #sources: readonly Source<unknown>[];
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
  #lastError: DeriveError | undefined;
  #isComputing = false;
  /** The promises of the last read, and its own for these. */
  readonly #reads: unknown[];
  #answer: Promise<R> | undefined;

  /** @internal */
  constructor({ name, sources, compute, clock, logger }: Definition<R>) {
    this.#name = name;
    this.#sources = sources;
    this.#compute = compute;
    this.#clock = clock;
    this.#outage = new OutageLog(logger, clock, { recovered: 'derived again' });
    this.#tried = sources.map(() => undefined);
    this.#reads = sources.map(() => undefined);
  }

  /** A derived value as the source of another one. @internal */
  static sourceOf(derived: Derived<unknown>): NamedSource {
    const source: Source<unknown> = {
      held: derived.#held,
      get: (options) => derived.get(options),
      get current() {
        return derived.current;
      },
      age: () => derived.#age(),
      inspect: (options) => derived.inspect(options),
    };
    return { source, name: derived.#name, clock: derived.#clock };
  }

  /**
   * Reads the sources, and returns what follows from them. While none of them is replaced every call returns the same
   * resolved promise. The options are those of each source: a read waits until all have answered.
   *
   * Rejects with the error of a source whose read rejects. Rejects with `DeriveError` if the function throws and there is no
   * result of earlier versions; else that result stays.
   */
  get(options?: ReadOptions): Promise<R> {
    const sources = this.#sources;
    // A read by the function itself must not answer others.
    const isPlain = options === undefined && !this.#isComputing;
    if (!isPlain) return this.#next(sources.map((source) => source.get(options)));
    const reads = this.#reads;
    let isSame = this.#answer !== undefined;
    for (let index = 0; index < sources.length; index++) {
      const read = (sources[index] as Source<unknown>).get();
      if (read === reads[index]) continue;
      reads[index] = read;
      isSame = false;
    }
    if (isSame) return this.#answer as Promise<R>;
    this.#answer = this.#next([...reads] as Promise<unknown>[]);
    return this.#answer;
  }

  /**
   * Reads the sources without a promise, and returns what follows from them.
   *
   * @throws the error of the first source whose `current` throws; all of them are read.
   * @throws {DeriveError} if the function throws and there is no result of earlier versions.
   */
  get current(): R {
    const sources = this.#sources;
    let failed: { readonly error: unknown } | undefined;
    for (let index = 0; index < sources.length; index++) {
      try {
        (sources[index] as Source<unknown>).current;
      } catch (error) {
        failed ??= { error };
      }
    }
    if (failed !== undefined) throw failed.error;
    return this.#isUpToDate() ? this.#result().value : this.#update([]).value;
  }

  /** The last result as it is; `undefined` while there is none. Reads no source and computes nothing, never throws. */
  peek(): R | undefined {
    return this.#held.value;
  }

  /** The last result, its age, and the state of its sources. Computes nothing. @throws {OptionError} for an unknown option. */
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
    const states = this.#sources.map((source) => source.inspect({ values: false }).state);
    if (this.#origin === undefined) return 'empty';
    if (states.includes('too-stale')) return 'too-stale';
    const { versions } = this.#origin;
    const isCurrent = this.#sources.every(({ held }, index) => held.promise === versions[index]);
    return isCurrent && states.every((state) => state === 'fresh') ? 'fresh' : 'stale';
  }

  /** Of the oldest value that the result was computed from; one that was kept has the age of that. */
  #age(): number {
    const { versions, loadedAt } = this.#origin as Origin;
    const now = this.#clock.monotonic();
    const ages = this.#sources.map((source, index) =>
      source.held.promise === versions[index] ? source.age() : now - (loadedAt[index] as number),
    );
    return Math.max(...ages);
  }

  /** The result that follows from reads of all sources. */
  #next(reads: readonly Promise<unknown>[]): Promise<R> {
    if (reads.every((read, index) => read === this.#sources[index]?.held.promise)) {
      try {
        return this.#update([]).promise;
      } catch (error) {
        return rejected(error);
      }
    }
    return ignoreRejection(Promise.all(reads).then((values) => this.#update(values).value));
  }

  #isUpToDate(): boolean {
    const tried = this.#tried;
    for (let index = 0; index < tried.length; index++) {
      const { promise } = (this.#sources[index] as Source<unknown>).held;
      if (promise === undefined || promise !== tried[index]) return false;
    }
    return true;
  }

  /**
   * Computes the result of what the sources hold, unless that was tried before.
   *
   * @param read the values that were just read, for sources that hold none any more: they were dropped meanwhile.
   */
  #update(read: readonly unknown[]): { readonly value: R; readonly promise: Promise<R> } {
    if (this.#isUpToDate() || this.#isComputing) return this.#result();
    const held = this.#sources.map((source) => source.held);
    const values = held.map(({ promise, value }, index) => (promise === undefined ? read[index] : value));
    if (read.length === 0 && held.some(({ promise }) => promise === undefined)) {
      throw new NotLoadedError('a source was dropped while it was read', { cacheName: this.#name });
    }
    const now = this.#clock.monotonic();
    const loadedAt = this.#sources.map((source) => now - source.age());
    const versions = held.map(({ promise }) => promise);
    for (const [index, version] of versions.entries()) this.#tried[index] = version;
    this.#isComputing = true;
    try {
      const value = this.#compute(...(values as never[]));
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
    const isHeard = this.#origin === undefined;
    const message = `the function of derive() failed: ${messageOf(cause)}`;
    this.#failures += 1;
    this.#lastError = new DeriveError(message, { cacheName: this.#name, cause });
    const text = (): string => 'the function of derive() failed, the result of before stays';
    this.#outage.failed({ retryAt: this.#clock.monotonic(), isHeard, text, cause });
  }

  #result(): { readonly value: R; readonly promise: Promise<R> } {
    if (this.#origin !== undefined) return this.#held as { value: R; promise: Promise<R> };
    throw this.#lastError ?? new NotLoadedError('is being computed', { cacheName: this.#name });
  }
}
