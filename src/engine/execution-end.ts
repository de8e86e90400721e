import { isTicklessError } from '../errors.ts';
import type { ExecutionEnd } from '../observe/instrument.ts';
import type { FlightEnd } from './flight.ts';
import type { LoadExecution } from './load-execution.ts';
import { isKept, type KeyedLoadReturn } from './load-result.ts';
import type { Reload, Settlement } from './settler.ts';

/** The end of an execution for its trace, once its result is applied. */
export function executionEnd<T>(
  { round }: LoadExecution<T>,
  end: FlightEnd<KeyedLoadReturn<T>>,
  settlement: Settlement<T> | Reload,
): ExecutionEnd {
  const { attempts } = end;
  const token = round?.token;
  if (settlement.kind !== 'failed')
    return { outcome: outcomeOf(round, end, settlement), attempts, token, error: undefined };
  const { error } = settlement;
  return { outcome: isTicklessError(error, 'TIMED_OUT') ? 'timed-out' : 'failed', attempts, token, error };
}

function outcomeOf<T>(
  round: LoadExecution<T>['round'],
  end: FlightEnd<KeyedLoadReturn<T>>,
  { kind }: Exclude<Settlement<T>, { readonly kind: 'failed' }> | Reload,
): ExecutionEnd['outcome'] {
  if (round?.remote !== undefined) return round.remote.result ? 'adopted' : 'deferred';
  if (kind !== 'loaded') return kind;
  return end.kind === 'loaded' && isKept(end.result) ? 'kept' : 'loaded';
}
