import {
  type ExecutionStatus,
  isTicklessError,
  type TicklessEvent,
  type ValueStatus,
} from '../../../src/index.ts';
import { Held, type Holding } from './held.ts';
import type { Instance } from './instance.ts';

/** The value of a load. */
export interface Loaded {
  /** The number of the load, or of the value that was set by hand. */
  readonly serial: number;
  /** The state of the source when that load began. -1: set by hand. */
  readonly revision: number;
}

/** One call of a load. */
export interface LoadRun {
  /** The number of its value. Grows in the order of all loads and changes of the world. */
  readonly serial: number;
  readonly subject: Subject;
  readonly trigger: string;
  readonly attempt: number;
  readonly token: number | undefined;
  readonly signal: AbortSignal;
  /** Loaded with other keys: they share one signal. */
  readonly isBatched: boolean;
  readonly revision: number;
  /** By the clock of the world. */
  readonly begunAt: number;
  /** By the monotonic clock of its machine. */
  readonly begunAtOwn: number;
  /** When its machine noticed the end; `undefined`: it is running. */
  endedAt: number | undefined;
  endedAtOwn: number | undefined;
  /** `same`: another object, equal to the value that was in place when it began. */
  brought: 'value' | 'kept' | 'same' | 'absent' | 'error' | undefined;
  /** The serial of the value that it brings again; `undefined`: it brings none again. */
  same: number | undefined;
  /** It was aborted before it ended. */
  wasStopped: boolean;
}

/** A change of a subject by hand. */
export interface Change {
  readonly kind: 'set' | 'invalidate' | 'drop' | 'tag' | 'pause' | 'resume' | 'reschedule' | 'close';
  /** In the order of loads and changes. */
  readonly order: number;
  readonly at: number;
  /** The value that was set. */
  readonly value?: Loaded;
}

/** A call of the public surface. */
export interface Call {
  readonly what: 'get' | 'current' | 'refresh' | 'request' | 'execute';
  readonly order: number;
  readonly at: number;
  /** The value before the call. */
  readonly held: Holding;
  readonly wasLoaded: boolean;
  /** The call returns the value before it. */
  readonly isServed: boolean;
  /** One key of a call for many, which settles when all keys are settled. */
  readonly isOfMany: boolean;
  /** It may wait although there is a value: the caller chose to. */
  readonly mayWait: boolean;
  /** The longest that it waits, in milliseconds. */
  readonly patience: number;
  /** The caller may abort its wait. */
  readonly signal: AbortSignal | undefined;
  /** It did not settle at once. */
  hasWaited: boolean;
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
}

/** Checks one or two rules for one subject. */
export interface Watch {
  began?(run: LoadRun): void;
  ended?(run: LoadRun): void;
  emitted?(event: TicklessEvent): void;
  changed?(change: Change): void;
  /** Called before a read. */
  reads?(): void;
  settled?(call: Call): void;
  /** An event has run in the instance, with all its immediate consequences. */
  stepped?(): void;
  /** As {@link stepped}, but the instance must not be inspected. */
  unseen?(): void;
}

/** The options, in milliseconds. */
export interface SubjectOptions {
  readonly holdsValue: boolean;
  /** The name in the lock and the store; `undefined`: it has neither. */
  readonly lockName: string | undefined;
  readonly hasLock: boolean;
  readonly hasStore: boolean;
  readonly timeout: number;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly mayLoadWithoutLock: boolean;
  /** It has an age limit beyond which it is not served. */
  readonly mayBeTooStale: boolean;
  /** From the end of a load; `undefined`: another kind of schedule, or jittered. */
  delay: number | undefined;
}

/** The status of a value or a task. */
export type Status = ExecutionStatus & Partial<Pick<ValueStatus<Loaded>, 'age' | 'isStale'>>;

/** One value, key or task of one instance, and its watches. */
export class Subject {
  readonly id: string;
  readonly instance: Instance;
  readonly options: SubjectOptions;
  readonly peek: () => Loaded | undefined;
  readonly inspect: () => Status | undefined;
  /** Its running loads. */
  readonly running: Set<LoadRun> = new Set();
  /** Its waiting calls. */
  readonly waiting: Set<Call> = new Set();
  /** The status after the present step. */
  status: Status | undefined;
  /** The last change; no load that began before it answers a call that came after it. */
  mark: Change | undefined;
  /** Calls waited at that change: they may get a result that is older than an invalidation. */
  wasAwaited: boolean = false;
  /** A load, or the look for a snapshot, was under way at that change: what it returns is due at once after an invalidation. */
  wasRunning: boolean = false;
  /** The last of them that set or dropped the value: no load that began before it is served. */
  replaced: Change | undefined;
  /** All drops: calls before one may get the result of a load that is not held. */
  readonly drops: Change[] = [];
  readonly held: Held = new Held(this);
  readonly #watches: Watch[] = [this.held];

  constructor(
    id: string,
    instance: Instance,
    options: SubjectOptions,
    peek: () => Loaded | undefined,
    inspect: () => Status | undefined,
  ) {
    this.id = id;
    this.instance = instance;
    this.options = options;
    this.peek = peek;
    this.inspect = inspect;
  }

  watchedBy(...watches: Watch[]): void {
    this.#watches.push(...watches);
  }

  began(run: LoadRun): void {
    this.running.add(run);
    for (const watch of this.#watches) watch.began?.(run);
  }

  ended(run: LoadRun): void {
    this.running.delete(run);
    for (const watch of this.#watches) watch.ended?.(run);
  }

  emitted(event: TicklessEvent): void {
    // An evicted key loses its value set by hand and its invalidations.
    if (event.type === 'evicted') this.mark = this.replaced = undefined;
    for (const watch of this.#watches) watch.emitted?.(event);
  }

  changed(change: Change): void {
    if (['set', 'invalidate', 'drop'].includes(change.kind)) {
      this.mark = change;
      this.wasAwaited = this.waiting.size > 0;
      this.wasRunning = this.instance.isUnseen || this.status?.running === true;
    }
    if (change.kind === 'set' || change.kind === 'drop') this.replaced = change;
    if (change.kind === 'drop') this.drops.push(change);
    for (const watch of this.#watches) watch.changed?.(change);
  }

  /** Called before each read. */
  reads(): void {
    for (const watch of this.#watches) watch.reads?.();
  }

  /** A call has settled. */
  settled(call: Call, outcome: NonNullable<Call['outcome']>): void {
    call.outcome = outcome;
    this.waiting.delete(call);
    for (const watch of this.#watches) watch.settled?.(call);
  }

  called(call: Call, promise: Promise<unknown>, onSettled: () => void): void {
    this.waiting.add(call);
    const settle = (outcome: NonNullable<Call['outcome']>): void => {
      this.settled(call, outcome);
      onSettled();
    };
    promise.then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error }),
    );
  }

  stepped(): void {
    const { lastError } = this.status ?? {};
    this.status = this.inspect();
    // The cache does not remember the key: to it this one is new. Snapshots of before the change are not taken over, unless the
    // store can not know their age: a write from before has arrived late, after it had come back empty.
    const mayAgeWrongly = this.instance.world.backend.losses > 0;
    if (this.status === undefined && (isTicklessError(lastError, 'ABSENT') || mayAgeWrongly))
      this.mark = this.replaced = undefined;
    for (const watch of this.#watches) watch.stepped?.();
  }

  unseen(): void {
    this.status = undefined;
    for (const watch of this.#watches) watch.unseen?.();
  }
}
