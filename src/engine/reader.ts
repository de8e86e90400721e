import { isTicklessError, type TicklessError } from '../errors.ts';
import type { Counters } from '../observe/counters.ts';
import type { Events } from '../observe/member-events.ts';
import type { WaitUntil } from '../observe/wait-until.ts';
import { durationArgument, namesArgument, ownOptions, signalArgument } from '../option-checks.ts';
import { ignoreRejection, rejected } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import { type Decision, decide, isDeferred, isDue, isTooStale } from './decide.ts';
import { type Entry, keyOf, waitersOf } from './entry.ts';
import { type Loader, nextTrigger, type ReadRules } from './loader.ts';
import { isOnStack } from './own-load.ts';
import { impatientError, isFailedLoad, notLoadedError, readError } from './read-errors.ts';
import type { ResolvedOptions } from './resolved-options.ts';
import type { WaitLimit } from './waiters.ts';

/** The options of one read. */
export interface ReadOptions {
  /**
   * The longest that this read waits, whatever for: a load, a place, a lock, a backend. Then it is served the value if that may be
   * served, else it rejects with `NOT_LOADED` or `TOO_STALE`; the load goes on. With it, a read of a value that is due
   * waits for a fresh one. 0: not at all; `Infinity`: as long as the load takes.
   * @default undefined: not at all where the value may be served, else as long as the load takes
   */
  readonly patience?: DurationLike | undefined;
  /**
   * The greatest age at which this read is served the value. The shortest of this, the option of the member and that of the load
   * counts. For an older value the read waits for the reload that it starts or finds running, due or not, also where
   * `whenTooStale` or `whenFailing` is `throw`. Reads that wait at a time share one load, which ignores what the lock says of the
   * round. If the reload fails, or may not start (cooling down, paused, closed), the read rejects with `TOO_STALE`, and the
   * error of the reload as its cause (`whenFailing: 'throw'`: with that error itself); of a pinned version with a `PINNED` error as
   * its cause. At least 0, which waits for a load each time; `Infinity`: no limit of this read. @default Infinity
   */
  readonly maxStaleness?: DurationLike | undefined;
  /** Ends this wait, and nothing else: the read rejects with the signal's reason, the load goes on for the others. */
  readonly signal?: AbortSignal | undefined;
  /** Receives a promise of the end of the load under way, if there is one. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** The names of {@link ReadOptions}. */
export const READ_OPTIONS: readonly (keyof ReadOptions)[] = [
  'maxStaleness',
  'patience',
  'signal',
  'waitUntil',
];

/** Goes on with a read after a wait. @param wasTooStale it has found a value beyond `maxStaleness` before. */
export type ReadAgain<T> = (options: ReadOptions | undefined, wasTooStale: boolean) => Promise<T>;

/** The options of one read, checked. */
interface Terms extends Required<Pick<ReadOptions, 'signal' | 'waitUntil'>> {
  /** Its own `maxStaleness`, in milliseconds; `Infinity`: none. */
  readonly ownMs: number;
  /** `undefined`: it waits only where it must, and then as long as the load takes. */
  readonly patienceMs: number | undefined;
}

const WITHOUT_OPTIONS: Terms = {
  ownMs: Infinity,
  patienceMs: undefined,
  signal: undefined,
  waitUntil: undefined,
};

/** Reads entries: carries out the decisions of `decide`. */
export class Reader<T> {
  readonly #loader: Loader<T>;
  readonly #options: ResolvedOptions;
  readonly #events: Events;
  readonly #counters: Counters;
  readonly #rules: ReadRules;

  constructor(loader: Loader<T>) {
    this.#loader = loader;
    this.#options = loader.options;
    this.#events = loader.events;
    this.#counters = loader.events.counters;
    this.#rules = loader.rules;
  }

  /**
   * A read that may wait.
   *
   * @param again the entry may have been passivated when the read goes on after a wait.
   * @param wasTooStale as of {@link ReadAgain}, of a read that goes on: it is counted already. `undefined`: it begins.
   */
  read(entry: Entry<T>, options?: ReadOptions, again?: ReadAgain<T>, wasTooStale?: boolean): Promise<T> {
    if (wasTooStale !== undefined) return this.#readOnce(entry, options, again, wasTooStale);
    if (!entry.isLoaded) this.#counters.misses += 1;
    const read = this.#readOnce(entry, options, again);
    this.#counters.read(read, entry, this.#loader.reporter);
    return read;
  }

  #readOnce(
    entry: Entry<T>,
    options: ReadOptions | undefined,
    again: ReadAgain<T> = (others, wasTooStale) => this.#readOnce(entry, others, undefined, wasTooStale),
    wasTooStale?: boolean,
  ): Promise<T> {
    if (!entry.isLoaded && options === undefined) {
      const joined = this.#join(entry, wasTooStale === undefined);
      if (joined !== undefined) return joined;
    }
    try {
      return this.#read(entry, options, again, wasTooStale);
    } finally {
      this.#loader.triggerPiggyback();
    }
  }

  /**
   * The next value, for a reader without options, where the first load has started: there is nothing to decide,
   * however many readers wait. `undefined` in any other state.
   */
  join(entry: Entry<T>): Promise<T> | undefined {
    const joined = this.#join(entry, true);
    if (joined === undefined) return undefined;
    this.#counters.misses += 1;
    this.#counters.read(joined, entry, this.#loader.reporter);
    return joined;
  }

  #join(entry: Entry<T>, begins: boolean): Promise<T> | undefined {
    const isOpen = this.#rules.runState === 'open';
    const isToJoin = entry.flight?.hasStarted === true && entry.flight.outdatedBy === undefined;
    if (entry.isLoaded || !isOpen || !isToJoin || isOnStack([entry])) return undefined;
    if (begins) this.#counters.waited += 1;
    const next = waitersOf(entry).next(undefined);
    this.#loader.triggerPiggyback();
    return next;
  }

  #read(
    entry: Entry<T>,
    given: ReadOptions | undefined,
    again: ReadAgain<T>,
    wasTooStale?: boolean,
  ): Promise<T> {
    let terms = WITHOUT_OPTIONS;
    if (given !== undefined && given !== null) {
      try {
        terms = this.#termsOf(given);
      } catch (error) {
        return rejected(error);
      }
    }
    const { ownMs, signal, patienceMs, waitUntil } = terms;
    const begins = wasTooStale === undefined;
    const decision = this.#decideToRead(entry, ownMs, wasTooStale);
    if (decision === 'wait-for-load') {
      if (signal?.aborted) return rejected(signal.reason);
      if (begins) this.#counters.waited += 1;
      const next = entry.isLoaded ? this.#fresh(entry, terms, again) : this.#first(entry, terms, again);
      this.#loader.callWaitUntil(entry, waitUntil);
      return next;
    }
    // The read is served the value of this moment, whatever listeners do from here on.
    const promise = entry.promise as Promise<T>;
    const isRejected = decision === 'reject' || decision === 'reject-and-start';
    const error = isRejected ? this.#readError(entry, ownMs) : undefined;
    const { clock } = this.#options;
    const mayBePatient = patienceMs !== undefined && patienceMs > 0 && begins; // it waits for a fresh value once
    const startsToWait =
      mayBePatient && decision === 'serve' && isDeferred(entry, this.#rules.runState, clock.monotonic());
    if (decision === 'serve-and-start' || decision === 'reject-and-start' || startsToWait) {
      this.#loader.startBehind(entry);
    }
    if (waitUntil !== undefined) this.#loader.callWaitUntil(entry, waitUntil);
    if (error !== undefined) return rejected(error);
    if (mayBePatient && entry.flight !== undefined && isDue(entry, clock.monotonic())) {
      this.#counters.waited += 1;
      return this.#patient(entry, terms, again);
    }
    this.#emitStale(entry);
    return promise;
  }

  /** @throws {TicklessError} `OPTION` for unknown or wrong options. */
  #termsOf(given: ReadOptions): Terms {
    const { name } = this.#options;
    const options = ownOptions(given);
    namesArgument(name, options, READ_OPTIONS);
    const { patience, maxStaleness = Infinity, signal, waitUntil } = options;
    const patienceMs = patience === undefined ? undefined : durationArgument(name, 'patience', patience);
    const ownMs = durationArgument(name, 'maxStaleness', maxStaleness);
    signalArgument(name, signal);
    return { ownMs, patienceMs, signal, waitUntil };
  }

  /** Goes on with a read after a wait that begins now, with the rest of its patience. */
  #goingOn(
    { ownMs, patienceMs, signal }: Terms,
    again: ReadAgain<T>,
    wasTooStale: boolean,
  ): () => Promise<T> {
    const { clock } = this.#options;
    const until = patienceMs === undefined ? undefined : clock.monotonic() + patienceMs;
    return () => {
      const patience = until === undefined ? undefined : Math.max(0, until - clock.monotonic());
      return again({ maxStaleness: ownMs, patience, signal }, wasTooStale);
    };
  }

  /** A read that can't wait. Throws when there is no value that may be served. */
  readNow(entry: Entry<T>): T {
    if (!entry.isLoaded) this.#counters.misses += 1;
    try {
      return this.#readNow(entry);
    } catch (error) {
      this.#counters.refused(error);
      const isTooEarly = isTicklessError(error, 'NOT_LOADED') && error.cause === undefined; // the load has not ended yet
      if (!isTooEarly || this.#rules.runState !== 'open') this.#loader.reporter.refused(entry, error, 1);
      throw error;
    } finally {
      this.#loader.triggerPiggyback();
    }
  }

  #readNow(entry: Entry<T>): T {
    const decision = this.#decideToRead(entry);
    if (decision === 'wait-for-load') {
      this.#loader.startNow(entry, nextTrigger(entry), true); // a synchronous load settles right here
      return this.#served(entry);
    }
    const value = entry.value as T;
    const isRejected = decision === 'reject' || decision === 'reject-and-start';
    const error = isRejected ? this.#readNowError(entry) : undefined;
    if (decision === 'serve-and-start' || decision === 'reject-and-start') this.#loader.startBehind(entry);
    if (error !== undefined) throw error;
    this.#emitStale(entry);
    return value;
  }

  #decideToRead(entry: Entry<T>, ownMs?: number, wasTooStale: boolean = false): Decision {
    const now = this.#loader.checkClocks(entry);
    if (!wasTooStale && entry.isLoaded && now - entry.loadedAt > entry.maxStalenessMs) {
      const age = now - entry.loadedAt;
      this.#events.emit('too-stale', () => ({ age, maxStaleness: entry.maxStalenessMs, ...keyOf(entry) }));
      return decide(entry, this.#rules, this.#loader.checkClocks(entry), ownMs); // anew: listeners may have changed everything
    }
    return decide(entry, this.#rules, now, ownMs);
  }

  /** The value, where its age allows to serve it. Throws otherwise. */
  #served(entry: Entry<T>): T {
    if (!entry.isLoaded || isTooStale(entry, this.#options.clock.monotonic()))
      throw this.#readNowError(entry);
    this.#emitStale(entry);
    return entry.value as T;
  }

  /** Waits for the first value. A snapshot of the store may be older than the read allows: then for a load as well. */
  #first(entry: Entry<T>, terms: Terms, again: ReadAgain<T>): Promise<T> {
    const { ownMs, signal } = terms;
    const goOn = this.#goingOn(terms, again, false);
    const next = this.#loader.next(entry, signal, nextTrigger(entry), this.#limitOf(entry, terms));
    if (ownMs === Infinity) return next;
    const oldest = this.#options.clock.monotonic() - ownMs; // there is no value that could be too stale
    return ignoreRejection(next.then((value) => (entry.loadedAt < oldest ? goOn() : value)));
  }

  /** The end of the patience of a read that waits because no value may be served. */
  #limitOf(entry: Entry<T>, { ownMs, patienceMs: ms }: Terms): WaitLimit | undefined {
    if (ms === undefined) return undefined;
    const { clock, name } = this.#options;
    // A value that has come meanwhile from a load before the last invalidation does not answer it.
    const error = (): Error => {
      const impatient = impatientError(entry, name, ms);
      const isTooOld = entry.isLoaded && isTooStale(entry, clock.monotonic(), ownMs);
      return isTooOld ? this.#readError(entry, ownMs, impatient) : impatient;
    };
    return { clock, ms, error };
  }

  /**
   * Waits for a reload of a value that is too old: if the load fails, the value still can't be served. The same if it is
   * pinned; that is checked no sooner than for other reads.
   */
  #fresh(entry: Entry<T>, terms: Terms, again: ReadAgain<T>): Promise<T> {
    const { ownMs, signal } = terms;
    const now = this.#options.clock.monotonic();
    const goOn = this.#goingOn(terms, again, isTooStale(entry, now));
    const isOwn = ownMs < entry.maxStalenessMs;
    const pinError = (): Error | undefined =>
      isOwn ? this.#loader.coordinator?.pinOf(entry)?.error() : undefined;
    const before = pinError();
    const mayCheck = entry.flight !== undefined || (isDue(entry, now) && now >= entry.deferredUntil);
    if (before !== undefined && !mayCheck) return rejected(this.#readError(entry, ownMs, before));
    // Another instance's finished round cannot have a younger value. Not after an invalidation: there the newer snapshot is enough.
    const isForced = isOwn && before === undefined && entry.flight?.outdatedBy === undefined;
    const serve = (value: T): T | Promise<T> => {
      const pinned = pinError();
      if (pinned !== undefined) throw this.#readError(entry, ownMs, pinned);
      return before === undefined ? value : goOn();
    };
    const refuse = (error: unknown): never => {
      const isForAge = entry.isLoaded && isFailedLoad(error); // the value may have been dropped meanwhile
      throw isForAge ? this.#readError(entry, ownMs) : error;
    };
    const trigger = isForced ? 'forced' : nextTrigger(entry);
    const next = this.#loader.next(entry, signal, trigger, this.#limitOf(entry, terms));
    return ignoreRejection(next.then(serve, refuse));
  }

  #patient(entry: Entry<T>, terms: Terms, again: ReadAgain<T>): Promise<T> {
    const { clock } = this.#options;
    const { patienceMs = 0, signal } = terms;
    const goOn = this.#goingOn(terms, again, isTooStale(entry, clock.monotonic()));
    const ended = this.#loader.waitersFor(entry).nextWithin(patienceMs, clock, signal);
    return ignoreRejection(ended.then(goOn, (error) => (signal?.aborted ? rejected(error) : goOn())));
  }

  #emitStale(entry: Entry<T>): void {
    const now = this.#options.clock.monotonic();
    if (!isDue(entry, now) || this.#loader.coordinator?.pinOf(entry) !== undefined) return;
    this.#events.emit('stale-served', () => ({ age: now - entry.loadedAt, ...keyOf(entry) }));
  }

  #readError(entry: Entry<T>, ownMs?: number, reason?: Error): TicklessError {
    return readError(entry, this.#rules, this.#options, ownMs, reason);
  }

  /** As {@link #readError}, for a read that can't wait: without a value, and unless the key is absent, it is "not loaded". */
  #readNowError(entry: Entry<T>): TicklessError {
    if (entry.isLoaded || isTicklessError(entry.lastError, 'ABSENT')) return this.#readError(entry);
    return notLoadedError(entry, this.#rules.runState, this.#options.name);
  }
}
