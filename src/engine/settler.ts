import type { ExecutionEnd, ExecutionOutcome } from '../data/execution-record.ts';
import { type ErrorCode, isTicklessError, TicklessError } from '../errors.ts';
import { messageOf } from '../observe/logger.ts';
import type { Changes } from './changes.ts';
import type { CoolingDown } from './cool-down.ts';
import type { RemoteResult } from './coordinator.ts';
import type { Entry } from './entry.ts';
import type { Flight, FlightEnd, FlightHost } from './flight.ts';
import type { OutdatedBy } from './load-handle.ts';
import type { LoadReporter } from './load-reporter.ts';
import { isKept, type LoadResult, readLoadResult, unlessUnchanged } from './load-result.ts';
import { absentError } from './read-errors.ts';
import type { ResolvedOptions } from './resolved-options.ts';

/** How the waiters of a load are to be settled. */
export type Settlement<T> = (
  | { readonly kind: 'loaded'; readonly value: T; readonly isKept?: boolean }
  | { readonly kind: 'absent' | 'failed'; readonly error: TicklessError }
) & {
  /** It may also be the answer of those that came after the load was superseded. */
  readonly isForAll: boolean;
  /** A platform waits for this too; readers do not. */
  readonly settled: Promise<void> | undefined;
  /** It has begun with this end. */
  readonly coolingDown?: CoolingDown | undefined;
};

/** The load has no result, and its readers wait for another one. */
export interface Reload {
  readonly kind: 'again';
  readonly wanted: 'read' | 'forced';
}

/** The engine, as its settler sees it. */
interface SettlerEngine<T> extends Pick<FlightHost<T>, 'options' | 'keys' | 'timing'> {
  readonly reporter: LoadReporter;
  readonly changes: Changes;
}

/** Applies the ends of flights to their entries, and reports them. */
export class Settler<T> {
  /** The last load returned no promise. */
  isSynchronous: boolean = false;
  readonly #engine: SettlerEngine<T>;

  constructor(engine: SettlerEngine<T>) {
    this.#engine = engine;
  }

  /** Applies and reports the end of a flight. Never throws: a failure of this code is a failed load, with a cool-down. */
  settle(run: Flight<T>, end: FlightEnd<T>): Settlement<T> | Reload {
    const { entry } = run;
    try {
      return this.#apply(run, end);
    } catch (cause) {
      const error = this.#errorOf(cause, run);
      this.#engine.timing.broken(entry, error);
      this.#engine.options.logger.error('the result of a load could not be applied', cause);
      return {
        kind: 'failed',
        error,
        isForAll: answersAll(run, end),
        settled: run.round?.fail(error),
      };
    }
  }

  /** Puts a value into place by hand. @param edition it is an earlier one, with the times of that. */
  set(entry: Entry<T>, value: T, edition?: RemoteResult<T>): void {
    if (edition === undefined) this.#engine.changes.note(entry, value, 'set', undefined);
    else this.#engine.changes.note(entry, value, 'rolled-back', 'unpublished');
    entry.endRefusal();
    entry.putValue(value);
    if (edition !== undefined) {
      edition.applyTo(entry, this.#engine.timing);
      this.#engine.reporter.recovered(entry, false);
      return;
    }
    const result = { origin: 'set', metadata: {} } as const;
    const coolingDown = this.#engine.timing.succeeded(entry, result, this.#engine.options.clock.monotonic());
    this.#engine.reporter.recovered(entry, coolingDown !== undefined);
    if (coolingDown !== undefined) this.#engine.reporter.brokenSchedule(entry, coolingDown);
  }

  /** Puts the snapshot of another instance into place, without a load. Throws if it can't be held. */
  adopt(entry: Entry<T>, remote: RemoteResult<T>): void {
    const { result } = remote;
    if (result === undefined) return;
    if (result !== 'absent') this.#engine.keys?.admit(entry, result);
    entry.endRefusal();
    this.#accept({ entry }, result, remote);
    this.#isOutdated(entry, result, undefined);
    this.#engine.reporter.recovered(entry, false);
  }

  #apply(run: Flight<T>, end: FlightEnd<T>): Settlement<T> | Reload {
    const { entry, round, outdatedBy } = run;
    const took = run.measured();
    if (end.kind === 'cancelled' || end.kind === 'timed-out') {
      return this.#failed(run, end, end.error, round?.over); // which is when the load has settled
    }
    const remote = end.kind === 'loaded' ? round?.remote : undefined;
    if (remote !== undefined && remote.result === undefined) return this.#deferred(run, remote);
    if (remote?.isInPlace?.(entry)) {
      if (!entry.isLoaded) return { kind: 'again', wanted: 'read' }; // "unchanged", of a value that was dropped
      const settled = undefined;
      return { kind: 'loaded', value: entry.value as T, isForAll: answersAll(run, end), settled };
    }
    if (end.kind === 'loaded' && isKept(end.result) && entry.promise !== run.previous) {
      void round?.discard();
      return { kind: 'again', wanted: 'forced' }; // "not modified", of a value that is not in place any more
    }
    let result: LoadResult<T> | 'absent';
    try {
      if (end.kind === 'failed') throw end.error;
      const { isUnchanged } = this.#engine.options;
      result =
        remote?.result ??
        unlessUnchanged(readLoadResult(end.result, entry, this.#engine.options), entry, isUnchanged);
      if (result !== 'absent') this.#engine.keys?.admit(entry, result);
      this.isSynchronous = end.isSynchronous;
    } catch (cause) {
      const error = this.#errorOf(cause, run);
      return this.#failed(run, end, error, round?.fail(error));
    }
    entry.endRefusal(); // also where its value is dropped
    const isDropped = outdatedBy === 'drop';
    const coolingDown = isDropped ? this.#engine.timing.discarded(entry) : this.#accept(run, result, remote);
    const isOutdated = isDropped || this.#isOutdated(entry, result, outdatedBy);
    this.#engine.reporter.recovered(entry, coolingDown !== undefined);
    let settled: Promise<void> | undefined;
    if (remote === undefined) {
      settled = isDropped
        ? round?.discard()
        : round?.complete({ isAbsent: result === 'absent', isKept: isKeptResult(result), took });
    }
    if (coolingDown !== undefined) this.#engine.reporter.brokenSchedule(entry, coolingDown);
    const isForAll = !isOutdated;
    if (result !== 'absent') {
      const isKept = isKeptResult(result);
      return { kind: 'loaded', value: result.value, isKept, isForAll, settled, coolingDown };
    }
    return {
      kind: 'absent',
      error: absentError(entry, this.#engine.options),
      isForAll,
      settled,
      coolingDown,
    };
  }

  /** Puts a result into the entry, with its times. @returns the cool-down, if the schedule failed. */
  #accept(
    { entry, startedAt = 0, round }: Pick<Flight<T>, 'entry'> & Partial<Flight<T>>,
    result: LoadResult<T> | 'absent',
    remote: RemoteResult<T> | undefined,
  ): CoolingDown | undefined {
    if (result === 'absent') {
      entry.forgetValue();
      this.#engine.timing.absent(entry, this.#engine.options.absentForMs);
    } else if (result.origin === 'kept') {
      entry.keepValue();
    } else {
      const { value } = result;
      if (remote === undefined) this.#engine.changes.note(entry, value, 'loaded', round?.token);
      else this.#engine.changes.note(entry, value, 'adopted', remote.version);
      entry.putValue(value);
    }
    remote?.applyTo(entry, this.#engine.timing);
    const isTimed = result === 'absent' || remote !== undefined;
    return isTimed ? undefined : this.#engine.timing.succeeded(entry, result, startedAt);
  }

  /** The result is in place, and was invalidated while it was loaded: it is due at once. */
  #isOutdated(
    entry: Entry<T>,
    result: LoadResult<T> | 'absent',
    outdatedBy: OutdatedBy | undefined,
  ): boolean {
    const isMarked = this.#engine.keys?.validity.isOutdated(entry, result) === true;
    const isOutdated = isMarked || outdatedBy === 'invalidate';
    if (isOutdated) this.#engine.timing.invalidated(entry);
    return isOutdated;
  }

  /** Another instance is executing, and there is no result yet. */
  #deferred({ entry, round, isAwaited }: Flight<T>, remote: RemoteResult<T>): Settlement<T> | Reload {
    remote.applyTo(entry, this.#engine.timing);
    const isFreshRequired = round?.isFreshRequired === true;
    // Readers may have come after the decision to defer.
    const mayWait = remote.endsWhenAwaited || isFreshRequired || !entry.isLoaded;
    if (mayWait && isAwaited) return { kind: 'again', wanted: isFreshRequired ? 'forced' : 'read' };
    return { kind: 'loaded', value: entry.value as T, isForAll: false, settled: undefined };
  }

  /** Those of the cluster and of a guard are passed on; any other is an error of the load. */
  #errorOf(cause: unknown, run: Flight<T>): TicklessError {
    const { key } = run.entry;
    const { name: member } = this.#engine.options;
    // The load may itself have read another value or key, which has failed so; that is `LOAD_FAILED` here.
    const isOwn = isTicklessError(cause) && cause.member === member && Object.is(cause.key, key);
    if (isOwn && PASSED_ON.includes(cause.code)) return cause;
    const text = messageOf(cause);
    const others = new Set(run.tries.map(({ error }) => messageOf(error)));
    others.delete(text);
    const before = others.size === 0 ? '' : `; earlier tries: ${[...others].join('; ')}`;
    const details = { member, key, attempts: run.attempts, cause };
    return new TicklessError('LOAD_FAILED', `load failed: ${text}${before}`, details);
  }

  #failed(
    run: Flight<T>,
    end: FlightEnd<T>,
    error: TicklessError,
    settled: Promise<void> | undefined,
  ): Settlement<T> {
    const { entry } = run;
    const coolingDown = this.#engine.timing.failed(entry, error);
    this.#engine.reporter.failed(entry, run.details, end, coolingDown);
    return { kind: 'failed', error, isForAll: answersAll(run, end), settled, coolingDown };
  }
}

/** Errors of the cluster and of a guard. */
const PASSED_ON: readonly ErrorCode[] = ['LEASE_LOST', 'BACKEND_DOWN', 'REFUSED'];

function isKeptResult(result: LoadResult<unknown> | 'absent'): boolean {
  return result !== 'absent' && result.origin === 'kept';
}

/** It answers those too that came after it was superseded: a cancelled one answers all that wait. */
function answersAll<T>({ outdatedBy }: Flight<T>, { kind }: FlightEnd<T>): boolean {
  return kind === 'cancelled' || outdatedBy === undefined;
}

/** The end of an execution, once its result is applied. */
export function executionEnd<T>(
  { entry, round }: Flight<T>,
  end: FlightEnd<T>,
  settlement: Settlement<T> | Reload,
  { now, clock, absentForMs }: Pick<ResolvedOptions, 'now' | 'clock' | 'absentForMs'>,
): ExecutionEnd {
  if (settlement.kind === 'again') {
    // The load of "not modified", of a value that is not in place any more, was for nothing.
    return { outcome: round?.remote === undefined ? 'cancelled' : 'deferred' };
  }
  const { kind, coolingDown } = settlement;
  const retryAt = coolingDown?.until;
  if (kind === 'failed')
    return { outcome: failureOf(end, settlement.error), error: settlement.error, retryAt };
  const outcome = outcomeOf(round, settlement);
  if (outcome === 'deferred') return { outcome };
  const isAbsent = kind === 'absent';
  const dueAt = entry.isInvalidated ? now() : entry.nextExecuteTime;
  return {
    outcome,
    error: coolingDown?.error, // of the schedule
    retryAt,
    nextExecuteTime: isAbsent ? now() + Math.ceil(absentForMs) : dueAt,
    age: isAbsent ? undefined : outcome === 'adopted' ? clock.monotonic() - entry.loadedAt : 0,
    isAbsent,
    version: round?.remote?.version ?? (outcome === 'loaded' ? round?.token : undefined),
  };
}

function outcomeOf<T>(round: Flight<T>['round'], settlement: Settlement<T>): ExecutionOutcome {
  if (round?.remote !== undefined) return round.remote.result ? 'adopted' : 'deferred';
  return settlement.kind === 'loaded' && settlement.isKept ? 'kept' : 'loaded';
}

function failureOf({ kind }: FlightEnd<unknown>, error: Error): ExecutionOutcome {
  if (kind === 'cancelled' || kind === 'timed-out') return kind;
  if (isTicklessError(error, 'REFUSED')) return 'refused';
  return isTicklessError(error, 'TIMED_OUT') ? 'timed-out' : 'failed';
}
