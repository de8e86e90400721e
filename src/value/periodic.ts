import type { Entry } from '../engine/entry.ts';
import type { MemberEngine } from '../engine/member-engine.ts';
import type { ExecutionStatus } from '../engine/status.ts';
import type { WaitUntil } from '../observe/wait-until.ts';
import { namesArgument, ownOptions } from '../option-checks.ts';
import type { MemberOptions } from '../options/resolve-options.ts';
import { rejected } from '../time/deferred.ts';
import { engineOf, Lifecycle } from './lifecycle.ts';

/** The options of one `requestStart`. */
export interface RequestStartOptions {
  /**
   * `true`: resolve when the execution that is due or under way has succeeded, reject with its error; resolve at once
   * when none is due; reject with `COOLING_DOWN` when it may not start yet. While paused: resolve at once after the
   * first success, reject with `NOT_LOADED` before it. `false`: resolve at once. @default wait before the first success, don't after it
   */
  readonly wait?: boolean | undefined;
  /** Receives a promise of the end of the execution under way, if there is one. It never rejects. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** The entry of a value or an executor, for the classes of this package. */
export let entryOf: <T>(member: Periodic<T>) => Entry<T>;

/**
 * The common part of executors and values: one entry, started when it is requested and due, on a schedule that may
 * change.
 *
 * No promise that it returns becomes an unhandled rejection when the caller drops it.
 */
export abstract class Periodic<T> extends Lifecycle<T> {
  readonly #entry: Entry<T>;

  static {
    entryOf = (member) => member.#entry;
  }

  /** @internal */
  constructor({ group, isRequired, ...options }: MemberOptions, entry: Entry<T>, engine: MemberEngine<T>) {
    super(engine, (schedule) => {
      engine.timing.replaceSchedule(schedule);
      engine.rescheduled(entry);
    });
    this.#entry = entry;
    const status = (values: boolean): ExecutionStatus => this.inspect({ values });
    group?.addSingle({ self: this, options, isRequired, entry, engine, status });
  }

  /**
   * Starts the task or load if it is due and does not run.
   *
   * Before the first success (and after the value was dropped) it waits for the end of the execution that it starts or
   * finds running, and rejects with `LOAD_FAILED` or `TIMED_OUT`; while cooling down after a failure it rejects
   * at once with `COOLING_DOWN`, while paused with `NOT_LOADED`. A synchronous task or load runs on the caller's
   * stack. After the first success it resolves at once and the execution runs behind. Concurrent callers share one
   * execution, and its failure. Rejects with `CLOSED` after {@link close}.
   */
  requestStart(options?: RequestStartOptions): Promise<void> {
    const engine = engineOf(this);
    try {
      namesArgument(engine.options.name, options, ['wait', 'waitUntil']);
    } catch (error) {
      return rejected(error);
    }
    const { wait, waitUntil } = ownOptions(options ?? {});
    return engine.requestStart(this.#entry, wait, waitUntil);
  }

  /** The state at this instant. Starts nothing, never throws. */
  abstract inspect(options?: { readonly values?: boolean }): ExecutionStatus;

  /**
   * Aborts the execution under way, which counts as failed: its `signal` is aborted, callers that wait for it are rejected
   * with a `LOAD_FAILED` error whose `cause` is the reason, the old value stays, and the cool-down begins. In a cluster the round is
   * released as failed once the execution has stopped. One that ignores its signal keeps its place until it has settled,
   * at the latest until its deadline (30 s later with `timeout: Infinity`); no other begins meanwhile. Without a deadline
   * its place among `concurrency` is free at once.
   *
   * @param reason for the error and the log. @default none
   * @returns whether an execution was under way. Never throws.
   */
  cancel(reason?: unknown): boolean {
    return engineOf(this).cancel(this.#entry, reason);
  }
}
