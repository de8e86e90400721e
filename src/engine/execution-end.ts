import { isLoadTimeoutError } from '../errors.ts';
import type { ExecutionEnd } from '../observe/instrument.ts';
import type { Outcome } from './flight.ts';
import type { LoadExecution } from './load-execution.ts';
import { isKept, type KeyedAnswer } from './load-result.ts';
import type { Again, Settlement } from './outcomes.ts';

/** The end of an execution for its trace, once its outcome is applied. */
export function executionEnd<T>(
  { round }: LoadExecution<T>,
  outcome: Outcome<KeyedAnswer<T>>,
  settlement: Settlement<T> | Again,
): ExecutionEnd {
  const { attempts } = outcome;
  const end = { attempts, token: round?.token };
  if (settlement.kind === 'failed') {
    const { error } = settlement;
    return { ...end, outcome: isLoadTimeoutError(error) ? 'timed-out' : 'failed', error };
  }
  if (round?.remote !== undefined) return { ...end, outcome: round.remote.result ? 'adopted' : 'deferred' };
  if (settlement.kind !== 'loaded') return { ...end, outcome: settlement.kind };
  const isUnchanged = outcome.kind === 'loaded' && isKept(outcome.result);
  return { ...end, outcome: isUnchanged ? 'kept' : 'loaded' };
}
