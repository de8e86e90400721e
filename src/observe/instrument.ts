import type { ExecutionRecord, ExecutionStart } from '../data/execution-record.ts';
import { ignoreThenable } from '../time/deferred.ts';
import { callUserCode } from './call-user-code.ts';
import type { TicklessEvent } from './events.ts';

export type { ExecutionRecord, ExecutionStart } from '../data/execution-record.ts';

/** Hears of the events of a member or a group, and surrounds its executions: for traces. See {@link guardedInstrument}. */
export interface Instrument {
  /** It has subscribers. Asked before each event and each execution: nothing else is paid without them. */
  readonly isWanted: boolean;
  event?(event: TicklessEvent): void;
  /** An execution is about to begin, on the stack of the read or request that starts it. */
  begin?(name: string, details: ExecutionStart): ExecutionTrace | undefined;
}

/** One execution, as an instrument sees it. */
export interface ExecutionTrace {
  /** Runs one call of the load, and returns its result. */
  call<R>(attempt: number, load: () => R): R;
  /** Called once. */
  end?(record: ExecutionRecord<Error>): void;
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

  end(record: ExecutionRecord<Error>): void {
    for (const trace of this.#traces) trace.end?.(record);
  }
}

/**
 * The same instrument, whose errors change nothing: its tracer, exporter or subscribers are code of others. Each load runs once, with
 * its own result, whatever the instrument does.
 *
 * @param onError receives what it throws, or rejects with.
 */
export function guardedInstrument(instrument: Instrument, onError: (error: unknown) => void): Instrument {
  const guarded = <R>(action: () => R): R | undefined => {
    let result: R | undefined;
    callUserCode(() => {
      result = action();
      return result;
    }, onError);
    return result;
  };
  const { event, begin } = instrument;
  return {
    get isWanted(): boolean {
      return guarded(() => instrument.isWanted) === true;
    },
    ...(event && { event: (of) => guarded(() => event.call(instrument, of)) }),
    ...(begin && {
      begin: (name, details) => {
        const trace = guarded(() => begin.call(instrument, name, details));
        return trace && guardedTrace(trace, onError);
      },
    }),
  };
}

function guardedTrace(trace: ExecutionTrace, onError: (error: unknown) => void): ExecutionTrace {
  return {
    call(attempt, load) {
      const once = callOnce(load);
      try {
        ignoreThenable(trace.call(attempt, once.call));
      } catch (error) {
        if (!once.hasThrown(error)) onError(error);
      }
      return once.call();
    },
    end: (record) => callUserCode(() => trace.end?.(record), onError),
  };
}

/** A function that is called once: further calls return, or throw, the same. */
function callOnce<R>(action: () => R): { call(): R; hasThrown(error: unknown): boolean } {
  let end: { readonly result: R } | { readonly thrown: unknown } | undefined;
  const called = (): NonNullable<typeof end> => {
    try {
      return { result: action() };
    } catch (thrown) {
      return { thrown };
    }
  };
  return {
    call() {
      end ??= called();
      if ('thrown' in end) throw end.thrown;
      return end.result;
    },
    hasThrown: (error) => end !== undefined && 'thrown' in end && end.thrown === error,
  };
}
