import type { Refreshable } from '../due/refreshable.ts';
import type { Refresher } from '../engine/refresher.ts';

/** One problem of a member. */
export interface HealthProblem {
  /** The `name` of the member. */
  readonly name: string;
  /** The key, where the problem concerns one key of a `RefreshingCache`. */
  readonly key?: unknown;
  /**
   * - `not-loaded`: `required`, and there was no success yet;
   * - `too-stale`: older than `maxStaleness`, and `whenTooStale` forbids to serve it. Fatal if its reload fails too, or
   *   may not start; else the next read reloads it;
   * - `failing`: the last execution failed; the old value is still served. Of a cache: the last loads of some keys failed;
   * - `value-rejected`: the same, because `schema` or `accept` refused what was loaded;
   * - `lock-unavailable`, `store-unavailable`: it could not be asked the last time; `whenLockUnavailable` decides
   *   whether loads go on meanwhile;
   * - `checks-failing`: changes of other instances are not known here: see `propagateWithin`;
   * - `burning`: fewer reads of the last hour than the option `freshness` wants were served within its age;
   * - `paused`, `closed`: it starts no loads.
   */
  readonly kind:
    | 'not-loaded'
    | 'too-stale'
    | 'failing'
    | 'value-rejected'
    | 'lock-unavailable'
    | 'store-unavailable'
    | 'checks-failing'
    | 'burning'
    | 'paused'
    | 'closed';
  /** Reads fail because of it, and will go on failing. */
  readonly isFatal: boolean;
  /** One line for people. */
  readonly message: string;
  /** The error of the last execution, if that failed. */
  readonly error?: Error | undefined;
}

/** A member, as its group sees it. */
export interface Member extends Refreshable {
  readonly name: string;
  readonly isRequired: boolean;
  readonly refresher: Pick<
    Refresher<unknown>,
    'pause' | 'resume' | 'close' | 'options' | 'coordinator' | 'events'
  >;
  health(): HealthProblem[];
  status(hasValues: boolean): unknown;
  /** Each executes what has had no success yet, and resolves with its success: the member, or a required key. */
  firstLoads(): readonly (() => Promise<void>)[];
}
