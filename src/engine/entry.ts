import type { Execution } from '../schedule/schedule.ts';
import { type LoadHandle, Waiters } from './waiters.ts';

/**
 * All that is remembered of one value (or one task) between its executions. Data only: what to do with it is
 * decided in `decide.ts` and done in `refresher.ts`.
 *
 * Instants are on the monotonic clock, but for `nextExecuteTime` and those inside `last`, which are what the wall
 * clock showed; `clockOffset` ties the two together.
 */
export class Entry<T> {
  /** Which of many it is; `undefined` for the one entry of a value or task. */
  readonly key: unknown;
  /** What tells it from others: the key, or what `keyOf` makes of it. */
  readonly id: unknown;
  /** A read before this instant is fresh and looks no further: the lesser of `dueAt` and `lookAt`. */
  freshUntil: number = Number.NEGATIVE_INFINITY;
  value: T | undefined = undefined;
  /** Resolved with `value`; the same object for every read while the value lives. */
  promise: Promise<T> | undefined = undefined;
  isLoaded: boolean = false;

  /** When the load of the value ended, or that which said that there is none (monotonic). */
  loadedAt: number = Number.NEGATIVE_INFINITY;
  /** From here on a read starts a load. */
  dueAt: number = Number.NEGATIVE_INFINITY;
  /** When both clocks are compared next. */
  lookAt: number = Number.NEGATIVE_INFINITY;
  maxStalenessMs: number = Number.POSITIVE_INFINITY;
  /** The age limit that the load gave this value, if it did. */
  maxStalenessOverrideMs: number | undefined = undefined;
  isInvalidated: boolean = false;
  /** What the load said of this value of a cache: the groups that it belongs to. */
  tags: readonly string[] | undefined = undefined;

  /** Failures in a row. */
  failures: number = 0;
  lastError: Error | undefined = undefined;
  /** No read starts a load before this. */
  coolDownUntil: number = Number.NEGATIVE_INFINITY;
  /** Somebody else in the cluster is at it: before this nobody starts a load unless he waits for the outcome. */
  deferredUntil: number = Number.NEGATIVE_INFINITY;

  /** The load under way. Set before it starts, cleared before anybody learns that it ended. */
  flight: LoadHandle | undefined = undefined;
  /** Who waits for the next value; taken out before they are settled. */
  waiters: Waiters<T> | undefined = undefined;

  /** What is known of it in the cluster, where there is one. */
  shared: SharedState | undefined = undefined;

  /** The last successful execution, as the schedule was told of it. */
  last: Execution | undefined = undefined;
  /** The instant that was answered for the next execution, epoch milliseconds. */
  nextExecuteTime: number = Number.NEGATIVE_INFINITY;
  /** The schedule's own last answer, also where the load or a cool-down had the last word. */
  scheduledFor: number | undefined = undefined;
  /** `nextExecuteTime` is the schedule's answer: it is asked again when the clock was stepped. */
  isScheduled: boolean = false;
  /** Wall clock minus monotonic clock when the instants above were taken. */
  clockOffset: number = 0;

  constructor(key?: unknown, id: unknown = key) {
    this.key = key;
    this.id = id;
  }
}

/** What is known of an entry in the cluster: by its lock and its store. */
export interface SharedState {
  /** The version of the snapshot that the value is, published or adopted; 0: none. */
  version: number;
  /** The version of the last snapshot that could not be used; it is not looked at again. */
  useless: number;
  /** The value was loaded without the lock, or set by hand: it has no version. */
  isLocal: boolean;
  /** The token of the round that was seen under way elsewhere since the last invalidation; it is looked for next. */
  awaits: number | undefined;
  /** The next time the lock is asked, the hold of a round that is done does not count: the schedule is another one. */
  passesHold: boolean;
  /** Who held the lease when it was last asked for; this instance included. */
  holder: { readonly owner: string; readonly host: string; readonly token: number } | undefined;
  /** The request for a lease that has not been answered: asked again, it gives the same one. */
  request: UnansweredRequest | undefined;
  /** The round under way, or the last one while it publishes and gives its lease back. */
  round: RoundUnderWay | undefined;
}

/** A request for a lease. It may have been carried out. */
export interface UnansweredRequest {
  readonly id: string;
  /** When it was sent for the first time (monotonic): its lease began no earlier. */
  readonly sentAt: number;
}

/** One execution of an entry in a cluster, as far as others wait for its end. See `cluster/round.ts`. */
export interface RoundUnderWay {
  /** Its lease is given back, or has expired. Never rejects. */
  readonly over: Promise<void>;
  /** It holds a lease. */
  readonly isHolder: boolean;
  /** Somebody has joined it who asks for a load of his own time. */
  readonly isUrged: boolean;
  urge(): void;
}

/** The state of an entry in the cluster. */
export function sharedOf(entry: Entry<unknown>): SharedState {
  entry.shared ??= {
    version: 0,
    useless: 0,
    isLocal: false,
    awaits: undefined,
    passesHold: false,
    holder: undefined,
    request: undefined,
    round: undefined,
  };
  return entry.shared;
}

/** Forgets the value, and all that was said of it. */
export function forget(entry: Entry<unknown>): void {
  entry.isLoaded = false;
  entry.value = entry.promise = entry.last = undefined;
  entry.scheduledFor = entry.maxStalenessOverrideMs = undefined;
}

/** What events say of the key, where there is one. */
export function keyOf({ key }: Entry<unknown>): { readonly key?: unknown } {
  return key === undefined ? {} : { key };
}

/** Where to wait for the next value of an entry. */
export function waitersOf<T>(entry: Entry<T>): Waiters<T> {
  entry.waiters ??= new Waiters(entry.flight);
  return entry.waiters;
}

/** Takes out all who wait: who comes from now on waits for what comes after. */
export function takeWaiters<T>(entry: Entry<T>): Waiters<T> | undefined {
  const { waiters } = entry;
  entry.waiters = undefined;
  waiters?.follow(undefined);
  return waiters;
}
