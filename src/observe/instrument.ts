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
  /**
   * - `loaded`, `kept`, `absent`: the load returned a value, `keep()`, `absent()`;
   * - `failed`, `timed-out`: it did not, after all its tries;
   * - `adopted`: no load ran, the result of another instance was taken over;
   * - `deferred`: no load ran, another instance is loading;
   * - `again`: its result was of no use, another execution follows;
   * - `aborted`: ended by `set`, a drop or `close`.
   */
  readonly outcome:
    | 'loaded'
    | 'kept'
    | 'absent'
    | 'failed'
    | 'timed-out'
    | 'adopted'
    | 'deferred'
    | 'again'
    | 'aborted';
  /** How many times the load was called. */
  readonly attempts: number;
  /** The fencing token of its lease; `undefined`: it had none. */
  readonly token: number | undefined;
  readonly error?: Error;
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
  #hasEnded = false;

  constructor(traces: readonly ExecutionTrace[]) {
    this.#traces = traces;
  }

  call<R>(attempt: number, load: () => R): R {
    return this.#traces.reduceRight((inner, trace) => () => trace.call(attempt, inner), load)();
  }

  /** The first call counts. */
  end(end: ExecutionEnd): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    for (const trace of this.#traces) trace.end?.(end);
  }
}
