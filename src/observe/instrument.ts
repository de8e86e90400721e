import type { ExecutionOutcome } from '../data/execution-record.ts';
import type { LoadDetails, TicklessEvent } from './events.ts';

/** Hears of the events of a member or a group, and surrounds its executions: for traces. Its methods never throw. */
export interface Instrument {
  /** It has subscribers. Asked before each event and each execution: nothing else is paid without them. */
  readonly isWanted: boolean;
  event?(event: TicklessEvent): void;
  /** An execution is about to begin, on the stack of the read or request that starts it. */
  begin?(name: string, details: LoadDetails): ExecutionTrace | undefined;
}

/** The end of an execution. */
export interface ExecutionEnd {
  /** Also `deferred`: no load ran, another instance is loading; `again`: its result was of no use, another execution follows. */
  readonly outcome: ExecutionOutcome | 'deferred' | 'again';
  /** How many times the load was called. */
  readonly attempts: number;
  /** The fencing token of its lease; `undefined`: it had none. */
  readonly token: number | undefined;
  /** `undefined`: it did not fail. */
  readonly error?: Error | undefined;
}

/** One execution, as an instrument sees it. */
export interface ExecutionTrace {
  /** Runs one call of the load, and returns its result. */
  call<R>(attempt: number, load: () => R): R;
  /** Called once. */
  end?(end: ExecutionEnd): void;
}

/** The traces of one execution; the first one is outermost. */
export class ExecutionTraces {
  readonly #traces: readonly ExecutionTrace[];

  constructor(traces: readonly ExecutionTrace[]) {
    this.#traces = traces;
  }

  call<R>(attempt: number, load: () => R): R {
    return this.#traces.reduceRight((inner, trace) => () => trace.call(attempt, inner), load)();
  }

  end(end: ExecutionEnd): void {
    for (const trace of this.#traces) trace.end?.(end);
  }
}
