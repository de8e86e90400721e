import type { ValueMeta } from '../data/value-meta.ts';
import type { RemoteResult } from '../engine/coordinator.ts';
import type { Entry } from '../engine/entry.ts';
import type { LoadResult } from '../engine/load-result.ts';
import { shorterLimit } from '../engine/next-execution.ts';
import type { ResolvedOptions } from '../engine/resolved-options.ts';
import type { Timing } from '../engine/timing.ts';
import type { StoredHeaders } from '../schedule/stored-headers.ts';
import type { ClusterMember } from './cluster-member.ts';
import { clusterStateOf } from './cluster-state.ts';
import { limitWhilePinned, PIN_CHECK_MS, type Pin } from './pin.ts';
import { logPin } from './pinned-entry.ts';

/** A load, or an execution of a task, on another instance. */
export interface RemoteLoad<T> {
  /** `undefined` for a task, and for a key that the source does not have. */
  readonly value: T;
  readonly isAbsent: boolean;
  /** The version of the snapshot; of a task the token of the round. */
  readonly version: number;
  /** When it was loaded (monotonic), or a little before: its age is never understated. */
  readonly loadedAt: number;
  /** When the next round begins (monotonic); `Infinity`: never by itself. */
  readonly dueAt: number;
  /** How long its load took, in milliseconds. */
  readonly took: number;
  /** The age limit that the load returned with it, if any. */
  readonly maxStalenessMs: number | undefined;
  /** That is the answer of the schedule there. */
  readonly isLimitScheduled: boolean;
  readonly tags: readonly string[] | undefined;
  /** The due time comes from the load, not from the schedule. */
  readonly isDueTimeOverridden: boolean;
  readonly pin: Pin | undefined;
  readonly meta: ValueMeta | undefined;
  readonly headers: StoredHeaders | undefined;
  /** The token of the round: the version, or that of a round which has confirmed it. */
  readonly round: number;
  /** The value is the one in place: it was confirmed. */
  readonly isKept: boolean;
  readonly digest: string | undefined;
}

/** Adopts the load of another instance: its snapshot replaces the value here. */
export class Adoption<T> implements RemoteResult<T> {
  readonly endsWhenAwaited: boolean = false;
  readonly result: LoadResult<T> | 'absent';
  readonly version: number;
  readonly #member: ClusterMember;
  readonly #remote: RemoteLoad<T>;

  constructor(member: ClusterMember, remote: RemoteLoad<T>) {
    const { isAbsent, value, tags, maxStalenessMs, isKept } = remote;
    this.#member = member;
    this.#remote = remote;
    this.version = remote.version;
    const origin = isKept ? 'kept' : 'loaded';
    this.result = isAbsent ? 'absent' : { origin, value, metadata: { tags, maxStalenessMs } };
  }

  /** When its load began (monotonic), or a little before. */
  get startedAt(): number {
    return this.#remote.loadedAt - this.#remote.took;
  }

  get isPinned(): boolean {
    return this.#remote.pin !== undefined;
  }

  /** The pin of the version, if it has one. */
  get pin(): Pin | undefined {
    return this.#remote.pin;
  }

  isInPlace(entry: Entry<T>): boolean {
    const { held, newestRound } = clusterStateOf(entry);
    const { isKept, round } = this.#remote;
    // Where the value was replaced meanwhile, there is nothing to keep.
    if (isKept) return !entry.isLoaded || held.version !== this.version || newestRound >= round;
    const isTask = this.#member.options.kind === 'task'; // which is due anew with each answer
    return !isTask && entry.isLoaded && held.as === 'published' && held.version >= this.version;
  }

  applyTo(entry: Entry<T>, timing: Timing): void {
    const { version, loadedAt, dueAt, took, maxStalenessMs, isDueTimeOverridden, pin } = this.#remote;
    const { round, digest, meta, headers, isLimitScheduled } = this.#remote;
    const { options } = this.#member;
    const now = options.clock.monotonic();
    const state = clusterStateOf(entry);
    const before = state.held;
    state.happened({ on: 'adopted', version, pin });
    logPin(entry, before, this.#member);
    state.confirmed(version, round, false);
    if (digest !== undefined) state.text = { version, digest };
    if (this.result === 'absent') {
      timing.absent(entry, Math.max(0, dueAt - now));
      return;
    }
    timing.adopted(entry, {
      ageMs: now - loadedAt,
      nextExecuteTime: options.now() + Math.ceil(dueAt - now),
      maxStalenessMs: pin
        ? limitWhilePinned(pin, loadedAt, options.maxStalenessMs)
        : shorterLimit(maxStalenessMs, options.maxStalenessMs),
      took,
      isDueTimeOverridden,
      isPinned: pin !== undefined,
      meta,
      headers,
      isLimitScheduled,
    });
  }
}

/** Another instance is executing, and there is no result yet: the entry stays as it is for a while. */
export class Deferral<T> implements RemoteResult<T> {
  readonly result: undefined = undefined;
  readonly version: undefined = undefined;
  readonly endsWhenAwaited: boolean;
  readonly #options: ResolvedOptions;
  readonly #forMs: number;

  /**
   * @param forMs milliseconds until the entry is checked again.
   * @param endsWhenAwaited only as long as no caller waits for the result.
   */
  constructor(options: ResolvedOptions, forMs: number, endsWhenAwaited: boolean) {
    this.#options = options;
    this.#forMs = forMs;
    this.endsWhenAwaited = endsWhenAwaited;
  }

  applyTo(entry: Entry<T>, timing: Timing): void {
    timing.deferred(entry, this.#forMs);
    if (this.#options.kind !== 'task' || entry.isLoaded) return;
    entry.putValue(undefined as T);
    timing.executedElsewhere(entry, this.#forMs);
  }
}

/** The version in place is pinned: it is not due before the next check. */
export class StillPinned<T> implements RemoteResult<T> {
  readonly result: undefined = undefined;
  readonly version: undefined = undefined;
  readonly endsWhenAwaited: boolean = false;
  readonly #forMs: number;

  constructor(forMs: number) {
    this.#forMs = forMs;
  }

  applyTo(entry: Entry<T>, timing: Timing): void {
    if (!entry.isLoaded) return; // a check may have dropped it meanwhile
    timing.pinned(entry, Math.min(PIN_CHECK_MS, this.#forMs));
  }
}
