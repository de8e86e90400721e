import type { ExecutionStatus, TicklessEvent, ValueStatus } from '../../../src/index.ts';
import { Held, type Holding } from './held.ts';
import type { Instance } from './instance.ts';

/** What a load brings. */
export interface Loaded {
  /** Which load it was; of what was set by hand: a number of its own. */
  readonly serial: number;
  /** The state of the source when that load began. -1: set by hand. */
  readonly revision: number;
}

/** One call of a load. */
export interface LoadRun {
  /** Of what it brings. Grows in the order of all loads and changes of the world. */
  readonly serial: number;
  readonly subject: Subject;
  readonly trigger: string;
  readonly attempt: number;
  readonly token: number | undefined;
  readonly signal: AbortSignal;
  /** With other keys: its signal is that of all. */
  readonly isBatched: boolean;
  readonly revision: number;
  /** By the clock of the world. */
  readonly begunAt: number;
  /** By the monotonic clock of its machine. */
  readonly begunAtOwn: number;
  /** When its machine learnt of the end; `undefined`: it runs. */
  endedAt: number | undefined;
  endedAtOwn: number | undefined;
  brought: 'value' | 'kept' | 'absent' | 'error' | undefined;
  /** It was told to stop before it ended. */
  wasStopped: boolean;
}

/** Something that was done to a subject by hand. */
export interface Change {
  readonly kind: 'set' | 'invalidate' | 'drop' | 'tag' | 'pause' | 'resume' | 'reschedule' | 'close';
  /** In the order of loads and changes. */
  readonly order: number;
  readonly at: number;
  /** What was set. */
  readonly value?: Loaded;
}

/** A call of the public surface. */
export interface Call {
  readonly what: 'get' | 'current' | 'refresh' | 'request' | 'execute';
  readonly order: number;
  readonly at: number;
  /** What there was before. */
  readonly held: Holding;
  readonly wasLoaded: boolean;
  /** What there was is the answer. */
  readonly isServed: boolean;
  /** One key of a call for many, which is answered when all are. */
  readonly isOfMany: boolean;
  /** It may wait though there is a value: the caller chose to. */
  readonly mayWait: boolean;
  /** The caller may end his wait. */
  readonly signal: AbortSignal | undefined;
  /** It was not answered at once. */
  hasWaited: boolean;
  outcome: { readonly value: unknown } | { readonly error: unknown } | undefined;
}

/** Looks at one subject, and knows one or two rules. */
export interface Watch {
  began?(run: LoadRun): void;
  ended?(run: LoadRun): void;
  told?(event: TicklessEvent): void;
  changed?(change: Change): void;
  /** It is about to be read. */
  reads?(): void;
  settled?(call: Call): void;
  /** Something has happened in the instance, with all that follows from it at once. */
  stepped?(): void;
  /** As {@link stepped}, but nobody may look. */
  unseen?(): void;
}

/** What its options say. Milliseconds. */
export interface SubjectOptions {
  readonly holdsValue: boolean;
  /** In the lock and the store; `undefined`: it has neither. */
  readonly lockName: string | undefined;
  readonly hasLock: boolean;
  readonly hasStore: boolean;
  readonly timeout: number;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly mayLoadWithoutLock: boolean;
  /** It has an age limit, beyond which it is not served. */
  readonly mayBeTooStale: boolean;
  /** Counted from the end of a load; `undefined`: another kind of schedule, or spread. */
  delay: number | undefined;
}

/** What can be seen of a value or a task. */
export type Status = ExecutionStatus & Partial<Pick<ValueStatus<Loaded>, 'age' | 'isStale'>>;

/** One value, key or task of one instance, and all that looks at it. */
export class Subject {
  readonly id: string;
  readonly instance: Instance;
  readonly options: SubjectOptions;
  readonly peek: () => Loaded | undefined;
  readonly inspect: () => Status | undefined;
  /** Its loads that run. */
  readonly running: Set<LoadRun> = new Set();
  /** Its calls that wait. */
  readonly waiting: Set<Call> = new Set();
  /** As it is after the step that is looked at. */
  status: Status | undefined;
  /** The last change that loads which began before must not undo. */
  mark: Change | undefined;
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

  told(event: TicklessEvent): void {
    for (const watch of this.#watches) watch.told?.(event);
  }

  changed(change: Change): void {
    if (['set', 'invalidate', 'drop'].includes(change.kind)) this.mark = change;
    for (const watch of this.#watches) watch.changed?.(change);
  }

  /** Each read, before anything of it happens. */
  reads(): void {
    for (const watch of this.#watches) watch.reads?.();
  }

  /** A call has come to its end. */
  settled(call: Call, outcome: NonNullable<Call['outcome']>): void {
    call.outcome = outcome;
    this.waiting.delete(call);
    for (const watch of this.#watches) watch.settled?.(call);
  }

  called(call: Call, promise: Promise<unknown>, told: () => void): void {
    this.waiting.add(call);
    const settle = (outcome: NonNullable<Call['outcome']>): void => {
      this.settled(call, outcome);
      told();
    };
    promise.then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error }),
    );
  }

  stepped(): void {
    this.status = this.inspect();
    for (const watch of this.#watches) watch.stepped?.();
  }

  unseen(): void {
    this.status = undefined;
    for (const watch of this.#watches) watch.unseen?.();
  }
}
