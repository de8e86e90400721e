import { isLoadTimeoutError } from '../errors.ts';
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
  const about = { attempts: end.attempts, token: round?.token };
  if (settlement.kind === 'failed') {
    const { error } = settlement;
    return { ...about, outcome: isLoadTimeoutError(error) ? 'timed-out' : 'failed', error };
  }
  if (round?.remote !== undefined) return { ...about, outcome: round.remote.result ? 'adopted' : 'deferred' };
  if (settlement.kind !== 'loaded') return { ...about, outcome: settlement.kind };
  const isUnchanged = end.kind === 'loaded' && isKept(end.result);
  return { ...about, outcome: isUnchanged ? 'kept' : 'loaded' };
}
