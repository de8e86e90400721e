import type { Trigger } from '../engine/load-context.ts';
import { OptionError } from '../errors.ts';
import { callUserCode } from './call-user-code.ts';
import type { SafeLogger } from './logger.ts';

interface Keyed {
  /** The key, in a `RefreshingCache`; no such property elsewhere. */
  readonly key?: unknown;
}

/** What is told of a load. */
export interface LoadDetails extends Keyed {
  readonly trigger: Trigger;
  /** No caller waited for it when it was started. */
  readonly background: boolean;
}

/** What is told of a load that has ended. */
export interface LoadEndDetails extends LoadDetails {
  /** Milliseconds from its start to its end. */
  readonly duration: number;
  /** How many times the load was called: 1 plus the retries. */
  readonly attempts: number;
}

/** What is told of a lock that somebody else has. */
export interface ElsewhereDetails extends Keyed {
  /** Milliseconds. */
  readonly retryAfter: number;
  readonly owner: string;
  readonly host: string;
  readonly token: number;
}

interface EventDetails {
  /**
   * A load begins. Exactly one of the next four follows, or none of them when it is superseded. With a lock: once the
   * lease is there; where another instance has loaded, none begins.
   */
  'load-started': LoadDetails;
  /** A load brought a value. */
  'load-succeeded': LoadEndDetails & {
    readonly nextExecuteTime: number;
    /** It said `absent()`: the source has no such key. No such property where it brought a value. */
    readonly isAbsent?: boolean;
  };
  /** A load said `keep()`: the old value has a new age. */
  'load-kept': LoadEndDetails & { readonly nextExecuteTime: number };
  /** A load failed after all its tries. A listener to it replaces the log line. */
  'load-failed': LoadEndDetails & { readonly error: Error };
  /** A load was aborted at its deadline. A listener to it replaces the log line. */
  'load-timed-out': LoadEndDetails & { readonly error: Error };
  /** A load brought something after its deadline, or after it was superseded; that is forgotten. */
  'late-result-dropped': LoadDetails;
  /** After a failure: no load is started by a read before `until`. */
  'cooling-down': {
    /** Epoch milliseconds. */
    readonly until: number;
    /** Milliseconds. */
    readonly delay: number;
    /** Failures in a row. */
    readonly failures: number;
    readonly error: Error;
  } & Keyed;
  /** A read was answered with a value that is due for a reload. */
  'stale-served': { readonly age: number } & Keyed;
  /** A read met a value older than `maxStaleness`; `whenTooStale` says what became of the read. */
  'too-stale': { readonly age: number; readonly maxStaleness: number } & Keyed;
  /** The lock was acquired: the load runs here. */
  'lease-acquired': { readonly token: number } & Keyed;
  /** Somebody else holds the lock, or its last round failed and backs off until `retryAfter` is over. */
  'lease-held-elsewhere': ElsewhereDetails;
  /** Somebody else has completed the round; the next one begins after `retryAfter`. */
  'round-done-elsewhere': ElsewhereDetails;
  /** The lease ended while the load ran, or before its result was published; that result is not published. */
  'lease-lost': { readonly token: number; readonly error: Error } & Keyed;
  /** After `lease-acquired`, where the holder before had let its lease expire: it crashed, or stood still. */
  'took-over': { readonly token: number } & Keyed;
  /** What another instance has loaded is served here from now on; `age` in milliseconds. */
  'snapshot-adopted': { readonly version: number; readonly age: number } & Keyed;
  /**
   * A snapshot could not be used: another format, refused by the codec or the schema. A listener replaces the log line.
   */
  'snapshot-rejected': { readonly version: number; readonly error: Error } & Keyed;
  /** What was loaded here is in the store. */
  published: { readonly version: number } & Keyed;
  /** The store holds a newer version than the one that was loaded here. */
  'publish-refused': { readonly token: number | undefined; readonly version: number } & Keyed;
  paused: unknown;
  resumed: unknown;
  /** The last event of all: nothing runs any more, and all listeners are forgotten. */
  closed: unknown;
}

/** The types of all events. The union is closed: a `switch` over it can be exhaustive. */
export type EventType = keyof EventDetails;

/** The event of a type: its own details, and what all events carry. */
export type EventOf<E extends EventType> = E extends EventType
  ? {
      readonly type: E;
      /** The `name` option of the value or executor. */
      readonly name: string;
      /** When it happened, in epoch milliseconds. */
      readonly at: number;
    } & EventDetails[E]
  : never;

/** Any event. */
export type TicklessEvent = EventOf<EventType>;

/** The types of all events, in the order of a load's life. Frozen. */
export const eventTypes: readonly EventType[] = /* @__PURE__ */ Object.freeze([
  'load-started',
  'load-succeeded',
  'load-kept',
  'load-failed',
  'load-timed-out',
  'late-result-dropped',
  'cooling-down',
  'stale-served',
  'too-stale',
  'lease-acquired',
  'lease-held-elsewhere',
  'round-done-elsewhere',
  'lease-lost',
  'took-over',
  'snapshot-adopted',
  'snapshot-rejected',
  'published',
  'publish-refused',
  'paused',
  'resumed',
  'closed',
] as const);

type Listener<E extends EventType> = (event: EventOf<E>) => unknown;

/** The listeners of one value or executor. Costs nothing while nobody listens. */
export class Events {
  readonly #name: string;
  readonly #now: () => number;
  readonly #logger: SafeLogger;
  readonly #listeners: Map<EventType, Set<Listener<never>>> = new Map();

  constructor(name: string, now: () => number, logger: SafeLogger) {
    this.#name = name;
    this.#now = now;
    this.#logger = logger;
  }

  on<E extends EventType>(type: E, listener: Listener<E>): () => void {
    if (!eventTypes.includes(type)) {
      throw new OptionError(
        [{ option: 'type', rule: `must be one of ${eventTypes.join(', ')}`, received: type }],
        { cacheName: this.#name },
      );
    }
    if (typeof listener !== 'function') {
      const problem = { option: 'listener', rule: 'must be a function', received: listener };
      throw new OptionError([problem], { cacheName: this.#name });
    }
    // A wrapper of its own per call: the same function twice is two listeners, each with its own unsubscribe.
    const entry = (event: EventOf<E>): unknown => listener(event);
    const listeners = this.#listeners.get(type) ?? new Set();
    this.#listeners.set(type, listeners.add(entry));
    return () => {
      listeners.delete(entry);
      if (listeners.size === 0 && this.#listeners.get(type) === listeners) this.#listeners.delete(type);
    };
  }

  has(type: EventType): boolean {
    return this.#listeners.has(type);
  }

  /** Calls the listeners of the type in the order they came. One that throws is logged and harms nobody. */
  emit<E extends EventType>(type: E, details: EventDetails[E]): void {
    const listeners = this.#listeners.get(type);
    if (listeners === undefined) return;
    const event = Object.freeze({ type, name: this.#name, at: this.#now(), ...(details as object) });
    for (const listener of [...listeners]) {
      if (!listeners.has(listener)) continue; // unsubscribed by one before it
      callUserCode(
        () => listener(event as never),
        (error) => this.#logger.error(`listener of ${type} threw`, error),
      );
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
