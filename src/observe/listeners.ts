import { optionError } from '../option-error.ts';
import { callUserCode } from './call-user-code.ts';
import { EVENT_TYPES, type EventFilter, type EventType, type TicklessEvent } from './events.ts';
import { guardedInstrument, type Instrument } from './instrument.ts';
import type { SafeLogger } from './logger.ts';

type Listener = (event: TicklessEvent) => unknown;

/** The listeners of one member, or of all members of a group. */
export class Listeners {
  /** There are none, and no instruments either. Each event looks at it first. */
  isEmpty: boolean = true;
  readonly #name: string;
  readonly #logger: SafeLogger;
  readonly #byType: Map<EventFilter, Set<Listener>> = new Map();
  /** Made with the first one: most members never have any. */
  instruments: Set<Instrument> | undefined;
  /** The last event that was reported of each outage. */
  #outages: WeakMap<object, EventType> | undefined;

  /** @param name of the member or the group, in errors. @param logger for the errors of instruments. */
  constructor(name: string, logger: SafeLogger) {
    this.#name = name;
    this.#logger = logger;
  }

  /** @throws {TicklessError} `OPTION` for an unknown type, and when the listener is not a function. */
  on(type: EventFilter, listener: Listener): () => void {
    const problem =
      type !== '*' && !EVENT_TYPES.includes(type)
        ? { option: 'type', rule: `must be * or one of ${EVENT_TYPES.join(', ')}`, received: type }
        : { option: 'listener', rule: 'must be a function', received: listener };
    if (problem.option === 'type' || typeof listener !== 'function') {
      throw optionError([problem], { member: this.#name });
    }
    // One wrapper per call: the same function twice is two listeners, each with its own unsubscribe.
    const entry: Listener = (event) => listener(event);
    const listeners = this.#byType.get(type) ?? new Set();
    this.#byType.set(type, listeners.add(entry));
    this.isEmpty = false;
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.#byType.get(type) === listeners) this.#byType.delete(type);
      this.#left();
    };
  }

  /** @returns removes it. */
  instrument(given: Instrument): () => void {
    const instrument = guardedInstrument(given, (error) => this.#logger.fault('an instrument threw', error));
    this.instruments ??= new Set();
    this.instruments.add(instrument);
    this.isEmpty = false;
    return () => {
      if (this.instruments?.delete(instrument) && this.instruments.size === 0) this.instruments = undefined;
      this.#left();
    };
  }

  #left(): void {
    this.isEmpty = this.#byType.size === 0 && this.instruments === undefined;
  }

  has(type: EventType): boolean {
    if (this.isEmpty) return false;
    const isHeard = this.#byType.has(type) || this.#byType.has('*');
    return isHeard || this.wanted.some(({ event }) => event !== undefined);
  }

  /** The instruments that have subscribers. */
  get wanted(): readonly Instrument[] {
    return [...(this.instruments ?? [])].filter(({ isWanted }) => isWanted);
  }

  /** Calls those of its type in the order of registration, those of `*`, the instruments. The error of one is logged. */
  call(event: TicklessEvent, logger: SafeLogger): void {
    for (const type of [event.type, '*'] as const) {
      const listeners = this.#byType.get(type);
      for (const listener of [...(listeners ?? [])]) {
        if (!listeners?.has(listener)) continue; // unsubscribed by one before it
        callUserCode(
          () => listener(event),
          (error) => logger.fault(`listener of ${type} threw`, error),
        );
      }
    }
    if (this.instruments === undefined) return;
    for (const instrument of this.wanted) instrument.event?.(event);
  }

  /** Whether these listeners have not heard of that event of the outage. It counts as heard from now on. */
  isNews(outage: object, type: EventType): boolean {
    if (!this.has(type) || this.#outages?.get(outage) === type) return false;
    this.#outages ??= new WeakMap();
    this.#outages.set(outage, type);
    return true;
  }

  clear(): void {
    this.#byType.clear();
    this.instruments = undefined;
    this.#left();
  }
}
