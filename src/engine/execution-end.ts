import type { ExecutionEnd, ExecutionOutcome } from '../data/execution-record.ts';
import { isTicklessError } from '../errors.ts';
import type { Flight, FlightEnd } from './flight.ts';
import type { ResolvedOptions } from './resolved-options.ts';
import type { Reload, Settlement } from './settler.ts';

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
