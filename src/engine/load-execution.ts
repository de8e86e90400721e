import {
  type ExecutionEnd,
  type ExecutionRecord,
  type ExecutionStart,
  executionRecord,
} from '../data/execution-record.ts';
import type { TicklessError } from '../errors.ts';
import type { ExecutionTraces } from '../observe/instrument.ts';
import type { Events } from '../observe/member-events.ts';
import type { LazyAbort } from '../time/lazy-abort.ts';
import type { ActiveLoads } from './active-loads.ts';
import type { CoordinatedRound, Coordinator } from './coordinator.ts';
import type { EngineOptions } from './engine-options.ts';
import type { Entry } from './entry.ts';
import type { EntryOwner, KeyedOwner } from './entry-owner.ts';
import { Flight, type FlightEnd, type FlightScope } from './flight.ts';
import { type LoadContext, TryContext } from './load-context.ts';
import type { KeyedLoadReturn } from './load-result.ts';
import { type Outlivable, PreviousValue } from './previous-value.ts';
import { timeoutError } from './read-errors.ts';
import { retryAfterMs } from './retry-after.ts';
import type { RetryJitter } from './retry-jitter.ts';
import type { Timing } from './timing.ts';

/** The function that loads or executes; the same for a value, a key or a task. */
export type Load<T> = (
  context: LoadContext,
  entry: Entry<T>,
  abort: LazyAbort,
) => KeyedLoadReturn<T> | PromiseLike<KeyedLoadReturn<T>>;

/** The loader, as its executions see it. */
export interface ExecutionHost<T> {
  readonly options: EngineOptions;
  readonly events: Events;
  readonly timing: Timing;
  readonly rounds: Coordinator | undefined;
  readonly owner: EntryOwner<T> | undefined;
  readonly keys: KeyedOwner<T> | undefined;
  readonly initial: (() => void) | undefined;
  readonly active: ActiveLoads<T>;
  readonly jitter: RetryJitter;
  readonly load: Load<T>;
  settled(execution: LoadExecution<T>, end: FlightEnd<KeyedLoadReturn<T>>): void;
  /** Aborts the load under way. */
  abort(entry: Entry<T>, reason: Error): void;
  /** An aborted load has settled, or its deadline has passed. */
  gone(execution: LoadExecution<T>): void;
}

type Tries<T> = Promise<KeyedLoadReturn<T>>;

/** One execution of the load of an entry: a flight with the contexts of its tries, and its round in the cluster. */
export class LoadExecution<T> extends Flight<KeyedLoadReturn<T>> implements Outlivable {
  readonly entry: Entry<T>;
  readonly details: ExecutionStart;
  /** Monotonic; of a load behind a lock: when it had the lease. */
  startedAt: number;
  round: CoordinatedRound<T> | undefined = undefined;
  /** The promise of the value that was in place at the last try. */
  previous: Promise<T> | undefined = undefined;
  /** When it has settled: readers waited for it. */
  isAwaited: boolean = false;
  /** It was aborted since the store has a newer version: those that wait for it wait for the next one. */
  isOvertaken: boolean = false;
  /** For instruments; `undefined`: there are none. */
  readonly #trace: ExecutionTraces | undefined;
  #record: { bytes: number | undefined } | undefined;
  #duration: number | undefined = undefined;
  protected readonly wrap: ((tries: () => Tries<T>, scope: FlightScope) => Tries<T>) | undefined;
  readonly #host: ExecutionHost<T>;
  /** Of the last try. */
  #context: TryContext | undefined;

  constructor(host: ExecutionHost<T>, entry: Entry<T>, details: ExecutionStart) {
    const { options, rounds } = host;
    const { clock, retry, isRetryDefault, timeoutMs } = options;
    const startedAt = clock.monotonic();
    const leftMs = Math.min(timeoutMs, Math.max(0, entry.inheritedDeadline - startedAt));
    super(clock, leftMs, isRetryDefault && entry.failures > 0 ? undefined : retry, isRetryDefault);
    this.#host = host;
    this.entry = entry;
    this.details = details;
    this.#trace = host.events.begin(details);
    this.startedAt = startedAt;
    this.wrap = rounds && this.#inRound(rounds);
  }

  protected override attempt(attempt: number, abort: LazyAbort): ReturnType<Load<T>> {
    const { events, options } = this.#host;
    const { round } = this;
    if (round !== undefined && attempt === 1) {
      this.startedAt = this.clock.monotonic();
      events.emit('load-started', this.details);
      abort.signal.throwIfAborted(); // a listener may have superseded it
    }
    const context = new TryContext(this.details, attempt, abort);
    const { last, value, promise } = this.entry;
    this.previous = promise;
    if (options.kind !== 'task')
      context.previous = last && new PreviousValue(value, last.endedAt, last.meta, this);
    if (round?.token !== undefined) context.token = round.token;
    this.#context = context;
    const trace = this.#trace;
    return trace === undefined ? this.#load(context, abort) : this.#traced(trace, context, abort);
  }

  get outlivedInMs(): number {
    return this.#host.timing.outlivedInMs(this.entry);
  }

  #load(context: TryContext, abort: LazyAbort): ReturnType<Load<T>> {
    return this.#host.load(context, this.entry, abort);
  }

  #traced(trace: ExecutionTraces, context: TryContext, abort: LazyAbort): ReturnType<Load<T>> {
    return trace.call(context.attempt, () => this.#load(context, abort));
  }

  protected override jitterAfter(error: unknown): number {
    return this.#host.jitter.after(error);
  }

  protected override restAfter(error: unknown): number {
    return retryAfterMs(error, this.clock.now());
  }

  override get waitedFor(): string | undefined {
    const context = this.#context;
    const place = context && this.#host.options.loadLimit?.waitedFor(context);
    return this.round?.waitedFor ?? place ?? (context && TryContext.waitedFor(context));
  }

  protected override timeoutReason(attempts: number, cause: unknown): TicklessError {
    return timeoutError(this.#host.options, this.entry.key, attempts, cause, this.waitedFor);
  }

  protected override ended(reason: Error): void {
    const context = this.#context;
    if (context !== undefined) this.#host.options.loadLimit?.giveUp(context, reason);
    const record = this.#recordOf({ outcome: 'cancelled', error: reason }, this.measured());
    queueMicrotask(() => this.#report(record)); // unless its outcome is applied on this stack
  }

  /** Its result is here, or it is ended: how long it took, in milliseconds. The first call counts. */
  measured(): number {
    this.#duration ??= this.clock.monotonic() - this.startedAt;
    return this.#duration;
  }

  /** Its end, once its result is applied: for the log of the member, listeners and instruments. The first call counts. */
  report(end: ExecutionEnd): void {
    this.#report(this.#recordOf(end, this.measured()));
  }

  #report(record: ExecutionRecord<Error>): void {
    if (this.#record !== undefined) return;
    this.#record = record;
    this.#host.events.ended(record);
    this.#trace?.end(record);
  }

  #recordOf(end: ExecutionEnd, took: number): ExecutionRecord<Error> {
    const { attempts, tries, round, details } = this;
    const startedAt = this.#host.options.now() - (this.clock.monotonic() - this.startedAt);
    return executionRecord(
      details,
      { startedAt, took, attempts, tries, token: round?.token, bytes: round?.bytes },
      end,
    );
  }

  protected override settled(end: FlightEnd<KeyedLoadReturn<T>>): void {
    this.#host.settled(this, end);
  }

  protected override late(): void {
    const took = this.clock.monotonic() - this.startedAt;
    this.#host.events.ended(this.#recordOf({ outcome: 'late' }, took));
  }

  protected override gone(): void {
    this.#host.gone(this);
  }

  #inRound(rounds: Coordinator): NonNullable<LoadExecution<T>['wrap']> {
    return (tries, scope) => {
      this.round = this.#beginRound(rounds);
      return this.round.run(tries, scope);
    };
  }

  #beginRound(coordinator: Coordinator): CoordinatedRound<T> {
    const host = this.#host;
    const { entry } = this;
    const round: CoordinatedRound<T> = coordinator.begin(entry, {
      ...this.details,
      validSince: () => host.keys?.validity.validSince ?? -Infinity,
      began: () => {
        if (entry.flight !== this || this.outdatedBy === 'abort') return;
        this.outdatedBy = undefined;
        host.keys?.validity.loadBegan(entry);
      },
      published: (bytes) => {
        if (this.#record !== undefined) this.#record.bytes = bytes;
      },
      fail: (error) => this.fail(error),
      overtaken: (error) => {
        if (entry.flight !== this) return;
        this.isOvertaken = true;
        host.abort(entry, error);
        host.owner?.changed(entry);
      },
      over: () => {
        host.active.rounds.delete(round);
        host.owner?.changed(entry);
        host.active.ended();
      },
    });
    host.active.rounds.add(round);
    return round;
  }
}
