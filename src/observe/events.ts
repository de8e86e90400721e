import type { Trigger } from '../data/execution-record.ts';
import type { ValueMeta } from '../data/value-meta.ts';

interface Keyed {
  /** The key, in a `RefreshingCache`; no such property elsewhere. */
  readonly key?: unknown;
}

/** The details of all events of a load. */
export interface LoadDetails extends Keyed {
  readonly trigger: Trigger;
  /** No caller waited for it when it was started. */
  readonly background: boolean;
}

/** The details of the events of a load that has ended. */
export interface LoadEndDetails extends LoadDetails {
  /** Milliseconds from its start to its end. */
  readonly duration: number;
  /** How many times the load was called: 1 plus the retries. */
  readonly attempts: number;
}

/** Field by field: a spread with further fields takes microseconds. */
export function loadEnd(
  { trigger, background, key }: LoadDetails,
  attempts: number,
  duration: number,
): LoadEndDetails {
  return key === undefined
    ? { trigger, background, attempts, duration }
    : { trigger, background, key, attempts, duration };
}

/** The details of the events of a lock that another instance holds. */
export interface ElsewhereDetails extends Keyed {
  /** Milliseconds. */
  readonly retryAfter: number;
  readonly owner: string;
  readonly host: string;
  readonly token: number;
}

/** A cool-down that has begun. */
export interface CoolingDown {
  /** Epoch milliseconds. */
  readonly until: number;
  /** Milliseconds. */
  readonly delay: number;
  /** Failures in a row. */
  readonly failures: number;
  readonly error: Error;
}

/**
 * Why a value was replaced. `loaded`: by a load here; `adopted`: by the snapshot of another instance; `set`: by hand;
 * `rolled-back`: by an older version; `restored`: by the value of the option `initial`.
 */
export type ChangeCause = 'loaded' | 'adopted' | 'set' | 'rolled-back' | 'restored';

export interface EventDetails<V = unknown> {
  /**
   * A load begins. Exactly one of the next four follows, or none of them when it is aborted by `set`, a drop or
   * `close`. With a lock: once the lease is there; where another instance has loaded, none begins.
   */
  'load-started': LoadDetails;
  /** A load returned a value. */
  'load-succeeded': LoadEndDetails & {
    readonly nextExecuteTime: number;
    /** It returned `absent()`: the source does not have the key. Not present where it returned a value. */
    readonly isAbsent?: boolean;
    /** The `meta` that it returned: where the value is from. Not present: none. */
    readonly meta?: ValueMeta;
  };
  /**
   * A load returned `keep()`, or with the option `unchanged` what is in place: the old value has a new age. `attempts` is 0 where
   * another instance has loaded, and `duration` that of its load.
   */
  'load-kept': LoadEndDetails & { readonly nextExecuteTime: number; readonly meta?: ValueMeta };
  /**
   * A try of a load failed, and another one follows. `attempt` is 1 for the first. `pause` is the time until the next one begins, in
   * milliseconds: that of `retry`, or longer where the source asked for it. The error of the last try is that of `load-failed`.
   */
  'try-failed': LoadDetails & { readonly attempt: number; readonly error: Error; readonly pause: number };
  /** A load failed after all its tries. */
  'load-failed': LoadEndDetails & { readonly error: Error };
  /**
   * After `load-failed`: `schema` or `accept` refused the value that was loaded. Sizes as in the message of its `REFUSED` error, which is
   * the `error`.
   */
  'value-rejected': {
    readonly reason: string;
    readonly size: number | undefined;
    readonly previousSize: number | undefined;
    readonly error: Error;
  } & Keyed;
  /** A load was aborted at its deadline. */
  'load-timed-out': LoadEndDetails & { readonly error: Error };
  /** A load settled with a result after its deadline, or after it was superseded. The result is dropped. */
  'late-result-dropped': LoadDetails;
  /** After a failure: reads start no load before `until`. */
  'cooling-down': CoolingDown & Keyed;
  /** A read was served a value that is due for a reload. */
  'stale-served': { readonly age: number } & Keyed;
  /** A read found a value older than the `maxStaleness` of the member or of its load; `whenTooStale` decided what the read did. */
  'too-stale': { readonly age: number; readonly maxStaleness: number } & Keyed;
  /** The lock was acquired: the load runs here. */
  'lease-acquired': { readonly token: number } & Keyed;
  /** Another instance holds the lock, or the last round failed and backs off until `retryAfter` is over. */
  'lease-held-elsewhere': ElsewhereDetails;
  /** Another instance has completed the round; the next one begins after `retryAfter`. */
  'round-done-elsewhere': ElsewhereDetails;
  /** The lease ended while the load ran, or before its result was published; that result is not published. */
  'lease-lost': { readonly token: number; readonly error: Error } & Keyed;
  /** After `lease-acquired`, where the lease of the previous holder had expired: it crashed, or was paused. */
  'took-over': { readonly token: number } & Keyed;
  /** The snapshot of another instance is served here from now on; `age` in milliseconds. */
  'snapshot-adopted': { readonly version: number; readonly age: number } & Keyed;
  /** A snapshot could not be used: another format, refused by the codec or the schema. */
  'snapshot-rejected': { readonly version: number; readonly error: Error } & Keyed;
  /**
   * A value took the place of another, or the place where none was: once per replacement, also with an equal value, in the
   * order of the replacements. Not after `keep()`, and not where a value leaves (a drop, `delete`, `clear`, an absent or
   * evicted key). Emitted when all is in place, before readers that wait go on; a listener may read, set or invalidate.
   *
   * `value` and `previous` are not enumerable: they are not part of a log of all events, and a spread leaves them out.
   */
  changed: {
    readonly value: V;
    /** The value before; not present where there was none. */
    readonly previous?: V;
    /**
     * The version of the snapshot that the value is. Of a load under a lock the token, which is the version once it is
     * published; `undefined` without a lock, and for a value set by hand or an initial one.
     */
    readonly version: number | undefined;
    readonly cause: ChangeCause;
  } & Keyed;
  /** The value that was loaded here is in the store. */
  published: { readonly version: number } & Keyed;
  /** The store has a newer version than the one that was loaded here. */
  'publish-refused': { readonly token: number | undefined; readonly version: number } & Keyed;
  /**
   * The lock does not answer: once per outage, when a load of this member first finds it so. Listeners of a group hear of
   * it once for all members that use the lock object, with the name of the first. Not for a damaged record of one lock.
   */
  'lock-unavailable': { readonly error: Error };
  /**
   * The lock answers again: once after `lock-unavailable`, when it has answered any member that uses the lock object.
   * `lasted`: the milliseconds from the first failure of any member to that answer.
   */
  'lock-back': { readonly lasted: number };
  /** As `lock-unavailable`, for the store: a read, a write or a check of it had no answer. */
  'store-unavailable': { readonly error: Error };
  /** As `lock-back`, for the store. */
  'store-back': { readonly lasted: number };
  /**
   * A value left a full cache: those of other keys took its place. Not after `delete`, `clear` or an absent key,
   * whose values left on request. Emitted once all is in place, in its order with `changed`; a listener may load or set the
   * key again.
   */
  evicted: Keyed;
  paused: unknown;
  resumed: unknown;
  /** The last event: no load runs any longer, and all listeners are forgotten. */
  closed: unknown;
}

/** The types of all events. The union is closed: a `switch` over it can be exhaustive. */
export type EventType = keyof EventDetails;

/** A type of events, or `*` for all of them. */
export type EventFilter = EventType | '*';

/** The event of a type, of `*` any event: its own details, and what all events carry. `V` is the type of the value, for `changed`. */
export type EventOf<E extends EventFilter, V = unknown> = E extends EventType
  ? {
      readonly type: E;
      /** The `name` option of the value or executor. */
      readonly name: string;
      /** When it happened, in epoch milliseconds. */
      readonly at: number;
    } & EventDetails<V>[E]
  : EventOf<EventType, V>;

/** Any event. `V` is the type of the value, for `changed`. */
export type TicklessEvent<V = unknown> = EventOf<EventType, V>;

/** The types of all events, in the order of a load's life. Frozen. */
export const eventTypes: readonly EventType[] = /* @__PURE__ */ Object.freeze([
  'load-started',
  'try-failed',
  'load-succeeded',
  'load-kept',
  'load-failed',
  'value-rejected',
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
  'changed',
  'published',
  'publish-refused',
  'lock-unavailable',
  'lock-back',
  'store-unavailable',
  'store-back',
  'evicted',
  'paused',
  'resumed',
  'closed',
] as const);
