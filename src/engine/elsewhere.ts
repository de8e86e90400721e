import type { KeyedAnswer } from './load-result.ts';

/** What comes instead of a load's answer where another instance has loaded: its snapshot. */
export class Adopted<T> {
  readonly what: {
    /** `undefined` for a task, and for a key that the source does not have. */
    readonly value: T;
    readonly isAbsent: boolean;
    /** That of the snapshot; of a task: the token of the round. */
    readonly version: number;
    /** When it was loaded (monotonic), or a little before: it is never said to be younger than it is. */
    readonly loadedAt: number;
    /** When the next round begins (monotonic); `Infinity`: never by itself. */
    readonly dueAt: number;
    /** How long its load took, in milliseconds. */
    readonly took: number;
    /** The age limit that the load gave it, if it did. */
    readonly maxStalenessMs: number | undefined;
    readonly tags: readonly string[] | undefined;
    /** The instant was said by the load, not by the schedule. */
    readonly isDueSaid: boolean;
  };

  constructor(what: Adopted<T>['what']) {
    this.what = what;
  }
}

/** What comes instead of a load's answer where there is nothing to take over yet: all stays as it is for a while. */
export class StandBy {
  /** Milliseconds until it is looked at again. */
  readonly forMs: number;
  /** Only because nobody waited for the outcome when it was decided. */
  readonly isUnlessAwaited: boolean;

  constructor(forMs: number, isUnlessAwaited: boolean) {
    this.forMs = forMs;
    this.isUnlessAwaited = isUnlessAwaited;
  }
}

/** What an execution brings: the answer of its load, or what was found elsewhere in the cluster. */
export type FlightAnswer<T> = KeyedAnswer<T> | Adopted<T> | StandBy;
