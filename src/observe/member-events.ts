import type { ExecutionOutcome, ExecutionRecord, ExecutionStart } from '../data/execution-record.ts';
import type { Clock } from '../time/clock.ts';
import type { Counters } from './counters.ts';
import type { EventDetails, EventFilter, EventType, RoundDetails, TicklessEvent } from './events.ts';
import { ExecutionLog } from './execution-log.ts';
import { ExecutionTraces } from './instrument.ts';
import { Listeners } from './listeners.ts';
import type { SafeLogger } from './logger.ts';

/** Ends of loads that have run to their end: they are timed. */
const TIMED: readonly ExecutionOutcome[] = ['loaded', 'kept', 'failed', 'refused', 'timed-out'];

/** The events of one value, cache or executor: counts them, and calls its listeners and those of its group. */
export class Events {
  readonly counters: Counters;
  readonly executions: ExecutionLog;
  readonly #name: string;
  readonly #now: () => number;
  readonly #logger: SafeLogger;
  readonly own: Listeners;
  #ofGroup: Listeners | undefined;

  /** @param ofGroup those that listen to all members of its group. */
  constructor(
    name: string,
    {
      now,
      clock,
      logger,
    }: { readonly now: () => number; readonly clock: Clock; readonly logger: SafeLogger },
    counters: Counters,
    ofGroup?: Listeners,
  ) {
    this.counters = counters;
    this.executions = new ExecutionLog(now, clock);
    this.#name = name;
    this.#now = now;
    this.#logger = logger;
    this.own = new Listeners(name, logger);
    this.#ofGroup = ofGroup;
  }

  on(type: EventFilter, listener: (event: TicklessEvent) => unknown): () => void {
    return this.own.on(type, listener);
  }

  /** An execution is about to begin. `undefined`: there is no instrument that has subscribers. */
  begin(details: ExecutionStart): ExecutionTraces | undefined {
    const group = this.#ofGroup;
    if (this.own.instruments === undefined && group?.instruments === undefined) return undefined;
    const wanted = [...(group?.wanted ?? []), ...this.own.wanted];
    const traces = wanted.flatMap((instrument) => instrument.begin?.(this.#name, details) ?? []);
    return traces.length === 0 ? undefined : new ExecutionTraces(traces);
  }

  has(type: EventType): boolean {
    return this.own.has(type) || this.#ofGroup?.has(type) === true;
  }

  /** An execution has ended. */
  ended(record: ExecutionRecord<Error>): void {
    const { outcome, attempts, took } = record;
    const { counters } = this;
    counters.count(outcome);
    if (attempts > 0 && TIMED.includes(outcome)) counters.loading.add(took);
    this.executions.add(record);
    this.emit('load-ended', record);
  }

  /** A step in the cluster. */
  round(details: RoundDetails): void {
    this.counters.count(details.outcome);
    this.emit('round', details);
  }

  /**
   * Counts the event and calls its listeners: its own, then those of the group. One that throws is logged; the others are
   * still called.
   *
   * @param details a function is called only where there is a listener.
   * @param hidden details that are not enumerable.
   * @param outage listeners of the group hear of it once, whatever the number of members that report it.
   */
  emit<E extends EventType>(
    type: E,
    details: EventDetails[E] | (() => EventDetails[E]),
    hidden?: PropertyDescriptorMap,
    outage?: object,
  ): void {
    if (type !== 'load-ended' && type !== 'round') this.counters.count(type); // these two by their outcomes
    if (this.own.isEmpty && this.#ofGroup?.isEmpty !== false) return; // the usual case, at the price of a comparison
    if (!this.has(type)) return;
    const own = typeof details === 'function' ? (details as () => EventDetails[E])() : details;
    const shown = { type, name: this.#name, at: this.#now(), ...(own as object) };
    const event = Object.freeze(Object.defineProperties(shown, hidden ?? {})) as TicklessEvent;
    this.own.call(event, this.#logger);
    if (outage === undefined || this.#ofGroup?.isNews(outage, type)) this.#ofGroup?.call(event, this.#logger);
  }

  /** Forgets all listeners. */
  clear(): void {
    this.own.clear();
    this.#ofGroup = undefined;
  }
}
