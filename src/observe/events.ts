import type { ExecutionRecord, ExecutionStart } from '../data/execution-record.ts';

interface Keyed {
  /** The key, in a `RefreshingCache`; no such property elsewhere. */
  readonly key?: unknown;
}

/**
 * Why a value was replaced. `loaded`: by a load here; `adopted`: by the snapshot of another instance; `set`: by hand;
 * `rolled-back`: by an older version; `restored`: by the value of the option `initial`.
 */
export type ChangeCause = 'loaded' | 'adopted' | 'set' | 'rolled-back' | 'restored';

/**
 * A step of a round, in which one instance of a cluster loads for all:
 * - `acquired`: this instance has the lease, and the load runs here;
 * - `took-over`: the same, where the lease of the previous holder had expired: it crashed, or was paused;
 * - `held`: another instance holds the lease, or the last round failed and backs off until `retryAfter` is over;
 * - `done`: another instance has completed the round; the next one begins after `retryAfter`;
 * - `lost`: the lease ended while the load ran, or before its result was published; that result is not published;
 * - `published`: the value of this instance is in the store;
 * - `publish-refused`: the store has a newer version than the one that was loaded here.
 */
export type RoundOutcome = (typeof ROUND_OUTCOMES)[number];

/** All of them. */
export const ROUND_OUTCOMES = [
  'acquired',
  'took-over',
  'held',
  'done',
  'lost',
  'published',
  'publish-refused',
] as const;

/** The details of each step of a round; those that a step does not have are not present. */
export interface RoundDetails extends Keyed {
  readonly outcome: RoundOutcome;
  /** The fencing token of the lease: of the holder, where that is another instance. */
  readonly token?: number | undefined;
  /** The version in the store: `published`, `publish-refused`. */
  readonly version?: number;
  /** The length of the text that was written, in bytes of UTF-8: `published`. */
  readonly bytes?: number;
  /** In milliseconds: `held`, `done`. */
  readonly retryAfter?: number;
  /** The holder: `held`, `done`. */
  readonly owner?: string;
  readonly host?: string;
  /** Why the lease is `lost`. */
  readonly error?: Error;
}

interface BackendDetails {
  /** As what it is used. */
  readonly backend: 'lock' | 'store';
}

export interface EventDetails<V = unknown> extends Record<EventType, unknown> {
  /** A load begins, and `load-ended` follows. With a lock: once the lease is there; where another instance has loaded, none begins. */
  'load-started': ExecutionStart;
  /**
   * An execution has ended, also one in which no load ran (`attempts` is 0). All of its result is in place, and readers that wait
   * go on after this.
   */
  'load-ended': ExecutionRecord<Error>;
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
  /** A read was served a value that is due for a reload. */
  'stale-served': { readonly age: number } & Keyed;
  /** A read found a value older than `maxStaleness`; `whenTooStale` decided what the read did. */
  'too-stale': { readonly age: number; readonly maxStaleness: number } & Keyed;
  /**
   * A value left a full cache: those of other keys took its place. Not after `delete`, `clear` or an absent key,
   * whose values left on request. Emitted once all is in place, in its order with `changed`; a listener may load or set the
   * key again.
   */
  evicted: Keyed;
  /** A step in the cluster: this instance or another one loads, and its value is published. */
  round: RoundDetails;
  /**
   * The lock or the store does not answer: once per outage, when a load, a read or a check of this member first finds it so.
   * Listeners of a group hear of it once for all members that use the same one, with the name of the first. Not for a damaged
   * record of one lock.
   */
  'backend-down': BackendDetails & { readonly error: Error };
  /**
   * It answers again: once after `backend-down`, when it has answered any member that uses it. `lasted`: the milliseconds from
   * the first failure of any member to that answer.
   */
  'backend-up': BackendDetails & { readonly lasted: number };
  paused: unknown;
  resumed: unknown;
  /** The last event: no load runs any longer, and all listeners are forgotten. */
  closed: unknown;
}

/** The types of all events. The union is closed: a `switch` over it can be exhaustive. */
export type EventType = (typeof EVENT_TYPES)[number];

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

/** The types of all events, in the order of a load's life. */
export const EVENT_TYPES = [
  'load-started',
  'load-ended',
  'changed',
  'stale-served',
  'too-stale',
  'evicted',
  'round',
  'backend-down',
  'backend-up',
  'paused',
  'resumed',
  'closed',
] as const;
