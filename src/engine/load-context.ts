/**
 * Why a load runs. `first`: there was no value yet; `due`: a read found that the next execute time has passed;
 * `forced`: `refresh()` or `execute()`; `invalidated`: the first one after `invalidate()`, also where there was no value.
 */
export type Trigger = 'first' | 'due' | 'forced' | 'invalidated';

/** What a task is told about the execution it makes. */
export interface TaskContext {
  /**
   * Aborted when the execution is over before the task is: at its deadline, superseded by `invalidate` or `set`, or
   * at the end of `close`. What the task brings after that is dropped. Never the signal of a reader.
   */
  readonly signal: AbortSignal;
  /** 1 for the first try of this execution, 2 for the first retry, and so on. */
  readonly attempt: number;
  readonly trigger: Trigger;
  /** No caller waited for it when it started. */
  readonly background: boolean;
  /**
   * The fencing token of the lease under which it runs; no such property without a lock, or where that was unavailable.
   * It grows with each execution in the cluster: a target that remembers the greatest one can refuse what comes late.
   */
  readonly token?: number;
}

/** What a load is told about the load it makes. */
export interface LoadContext<Previous = unknown> extends TaskContext {
  /**
   * The value that is served now, for conditional requests (`If-None-Match`, `If-Modified-Since`); `undefined`
   * before the first success and after `invalidate({ drop: true })`. Return `keep()` to leave it in place.
   */
  readonly previous:
    | { readonly value: Previous /** Epoch milliseconds. */; readonly loadedAt: number }
    | undefined;
}
