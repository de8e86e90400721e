import type { ExecutionStart, Trigger } from '../data/execution-record.ts';
import type { ValueMeta } from '../data/value-meta.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import { waitedFor } from '../time/waited-for.ts';

/** The argument of a task. */
export interface TaskContext {
  /**
   * Aborted when the execution is over before the task is: at its deadline, superseded by `set` or a drop, or
   * at the end of `close`. A result that comes after that is dropped. Never the signal of a reader.
   */
  readonly signal: AbortSignal;
  /** 1 for the first try of this execution, 2 for the first retry, and so on. */
  readonly attempt: number;
  readonly trigger: Trigger;
  /** No caller waited for it when it started. */
  readonly background: boolean;
  /**
   * The fencing token of the lease under which it runs; no such property without a lock, or where that was unavailable.
   * It grows with each execution in the cluster: a target that remembers the greatest one can refuse late writes.
   */
  readonly token?: number;
}

/** The argument of a load. */
export interface LoadContext<Previous = unknown> extends TaskContext {
  /**
   * The value that is served now, also that of the option `initial`, for conditional requests (`If-None-Match`,
   * `If-Modified-Since`); `undefined` while there is none: before the first success, and after
   * `invalidate({ drop: true })`. Return `keep()` to leave it in place.
   */
  readonly previous:
    | {
        readonly value: Previous;
        /** Epoch milliseconds. */
        readonly loadedAt: number;
        /** The `meta` that its load returned, on this instance or another one; `undefined`: none. */
        readonly meta?: ValueMeta | undefined;
      }
    | undefined;
}

/**
 * The result of a load can be its `previous` the next time: `unknown`, else a type that no options have. A constraint of the type
 * parameters would keep compilers from inferring the value before they look at its guards.
 */
export type FitsPrevious<Value, Previous> = [Value] extends [Previous]
  ? unknown
  : { readonly load: 'its result does not have the type of previous' };

/** Node 20 takes microseconds to make a signal. Later versions need less for that than for a property that makes it when it is read. */
const { process } = globalThis as { process?: { versions?: { node?: string } } };
const areSignalsSlow = process?.versions?.node?.startsWith('20.') === true;

/** The context of one try, of a value, key or task. Its signal is a property of the context itself, so that a copy has it too. */
export class TryContext implements LoadContext {
  declare readonly signal: AbortSignal;
  readonly trigger: Trigger;
  readonly background: boolean;
  readonly attempt: number;
  /** Not there for a task. */
  declare previous: LoadContext['previous'];
  /** There for a key of a cache only. */
  declare readonly key?: unknown;
  declare token?: number;
  readonly #abort: LazyAbort;
  #batch: (() => string) | undefined = undefined;

  constructor({ trigger, background, key }: ExecutionStart, attempt: number, abort: LazyAbort) {
    this.trigger = trigger;
    this.background = background;
    this.attempt = attempt;
    this.#abort = abort;
    if (key !== undefined) this.key = key;
    if (areSignalsSlow) Object.defineProperty(this, 'signal', TryContext.#signal);
    else this.signal = abort.signal;
  }

  /** The load is that of a key in a batch, which keeps it waiting. */
  static inBatch(context: LoadContext, text: () => string): void {
    if (context instanceof TryContext) context.#batch = text;
  }

  /** For people: the reason for which its load is still waiting. `undefined`: not known. */
  static waitedFor(context: TryContext): string | undefined {
    const hung = context.#batch?.() ?? waitedFor(context.#abort.signal);
    return hung && `waiting for ${hung}`;
  }

  /** Makes it when it is first read. The same getter for all: one made for each is slow. */
  static readonly #signal: PropertyDescriptor & { readonly __proto__: null } = {
    __proto__: null, // whatever others have added to `Object.prototype`
    enumerable: true,
    configurable: true,
    get(this: TryContext) {
      return this.#abort.signal;
    },
  };
}
