import { isLeaseLostError, isLoadError, isLoadTimeoutError, isLockUnavailableError } from '../errors.ts';
import { durationArgument, signalArgument } from '../options/resolve-options.ts';
import type { WaitUntil } from '../options/shared-options.ts';
import { ignoreRejection, rejected } from '../time/deferred.ts';
import type { DurationLike } from '../time/duration.ts';
import { type Decision, isDue, isTooStale } from './decide.ts';
import { type Entry, keyOf, waitersOf } from './entry.ts';
import { nextTrigger, type Starter } from './starter.ts';

/** What a caller may ask of one read. */
export interface ReadOptions {
  /**
   * How long to wait for a fresh value when the present one is due: after that, or when the load fails, the old one
   * is served. 0: not at all; `Infinity`: as long as the load takes. Of no effect on a read that waits for the load
   * in any case (the first one, and beyond `maxStaleness` with `wait`) or that is refused. @default 0
   */
  readonly patience?: DurationLike | undefined;
  /** Ends this wait, and nothing else: the read rejects with the signal's reason, the load goes on for the others. */
  readonly signal?: AbortSignal | undefined;
  /** Is given a promise of the end of the load under way, if there is one. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** Reads entries: carries out what `decide` decides. */
export class Reader<T> {
  readonly #starter: Starter<T>;

  constructor(starter: Starter<T>) {
    this.#starter = starter;
  }

  /**
   * A read that may wait.
   *
   * @param again reads anew, after patience: the entry may have been put to rest meanwhile.
   */
  read(entry: Entry<T>, options?: ReadOptions, again?: () => Promise<T>): Promise<T> {
    const joined = options === undefined ? this.join(entry) : undefined;
    if (joined !== undefined) return joined;
    try {
      return this.#read(entry, options ?? {}, again);
    } finally {
      this.#starter.wakeOthers();
    }
  }

  /**
   * The next value, for a reader who asks for nothing else, where the first load has begun: there is nothing to be
   * decided, however many come. `undefined`: there is.
   */
  join(entry: Entry<T>): Promise<T> | undefined {
    const isOpen = this.#starter.gate === 'open';
    if (entry.isLoaded || !isOpen || entry.flight?.hasBegun !== true) return undefined;
    const next = waitersOf(entry).next(undefined);
    this.#starter.wakeOthers();
    return next;
  }

  #read(entry: Entry<T>, options: ReadOptions, again: (() => Promise<T>) | undefined): Promise<T> {
    let patienceMs = 0;
    if (options.patience !== undefined || options.signal !== undefined) {
      try {
        patienceMs = durationArgument(this.#starter.policy.name, 'patience', options.patience ?? 0);
        signalArgument(this.#starter.policy.name, options.signal);
      } catch (error) {
        return rejected(error);
      }
    }
    const decision = this.#lookToRead(entry);
    if (decision === 'wait-for-load') {
      if (options.signal?.aborted) return rejected(options.signal.reason);
      const next = entry.isLoaded
        ? this.#fresh(entry, options.signal)
        : this.#starter.next(entry, options.signal);
      this.#starter.promiseEnd(entry, options.waitUntil);
      return next;
    }
    // What is served is what was there when it was decided, whatever listeners do.
    const promise = entry.promise as Promise<T>;
    const error =
      decision === 'reject' || decision === 'reject-and-start' ? this.#starter.refusal(entry) : undefined;
    const startsToWait = patienceMs > 0 && decision === 'serve' && this.#starter.isStandingBy(entry);
    if (decision === 'serve-and-start' || decision === 'reject-and-start' || startsToWait) {
      this.#starter.startBehind(entry);
    }
    this.#starter.promiseEnd(entry, options.waitUntil);
    if (error !== undefined) return rejected(error);
    if (
      patienceMs > 0 &&
      entry.flight !== undefined &&
      isDue(entry, this.#starter.policy.clock.monotonic())
    ) {
      return this.#patient(entry, patienceMs, options.signal, again);
    }
    this.#starter.tellStale(entry);
    return promise;
  }

  /** A read that can't wait. Throws when there is nothing that may be served. */
  readNow(entry: Entry<T>): T {
    try {
      return this.#readNow(entry);
    } finally {
      this.#starter.wakeOthers();
    }
  }

  #readNow(entry: Entry<T>): T {
    const decision = this.#lookToRead(entry);
    if (decision === 'wait-for-load') {
      this.#starter.startNow(entry, nextTrigger(entry), true); // a synchronous load lands right here
      return this.#served(entry);
    }
    const value = entry.value as T;
    const error =
      decision === 'reject' || decision === 'reject-and-start' ? this.#starter.refusalNow(entry) : undefined;
    if (decision === 'serve-and-start' || decision === 'reject-and-start') this.#starter.startBehind(entry);
    if (error !== undefined) throw error;
    this.#starter.tellStale(entry);
    return value;
  }

  #lookToRead(entry: Entry<T>): Decision {
    const now = this.#starter.lookAtClocks(entry);
    if (entry.isLoaded && this.#starter.events.has('too-stale')) {
      const age = now - entry.loadedAt;
      const maxStaleness = entry.maxStalenessMs;
      if (age > maxStaleness) {
        this.#starter.events.emit('too-stale', { age, maxStaleness, ...keyOf(entry) });
        return this.#starter.look(entry); // after the listeners, who may have changed everything
      }
    }
    return this.#starter.decide(entry, now);
  }

  /** The value, where age and policy allow to serve it. Throws the refusal otherwise. */
  #served(entry: Entry<T>): T {
    const { whenTooStale, clock } = this.#starter.policy;
    const isServed = entry.isLoaded && (whenTooStale === 'serve' || !isTooStale(entry, clock.monotonic()));
    if (!isServed) throw this.#starter.refusalNow(entry);
    this.#starter.tellStale(entry);
    return entry.value as T;
  }

  /** Waits as `next` does, for a read of a value that is too stale: the failure of the load means it can't be served. */
  #fresh(entry: Entry<T>, signal: AbortSignal | undefined): Promise<T> {
    const refuse = (error: unknown): never => {
      throw isFailure(error) ? this.#starter.refusal(entry) : error;
    };
    return ignoreRejection(this.#starter.next(entry, signal).catch(refuse));
  }

  #patient(
    entry: Entry<T>,
    patienceMs: number,
    signal: AbortSignal | undefined,
    again: () => Promise<T> = () => this.read(entry),
  ): Promise<T> {
    const ended = waitersOf(entry).nextWithin(patienceMs, this.#starter.policy.clock, signal);
    const readAfterFailure = (error: unknown): Promise<T> => (signal?.aborted ? rejected(error) : again());
    return ignoreRejection(ended.then(again, readAfterFailure));
  }
}

/** The execution has failed; not: the reader's own signal, or the end of `close`. */
function isFailure(error: unknown): boolean {
  return (
    isLoadError(error) ||
    isLoadTimeoutError(error) ||
    isLockUnavailableError(error) ||
    isLeaseLostError(error)
  );
}
