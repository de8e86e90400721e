import { PiggybackTrigger } from '../engine/piggyback-trigger.ts';
import type { Clock } from '../time/clock.ts';
import { Deferred } from '../time/deferred.ts';
import { StepWatch } from '../time/step-watch.ts';
import { DueHeap } from './due-heap.ts';
import type { GroupSlot, Refreshable } from './refreshable.ts';

/** How many loads a pass keeps under way by default, so that they don't crowd out those of reads. */
export const PASS_CONCURRENCY = 4;

export interface DueQueueOptions {
  readonly clock: Clock;
  /** How many of its loads may run at a time. */
  readonly concurrency: number;
  /** Reads of members start passes. */
  readonly piggyback: boolean;
}

/** A caller that waits for all loads that were due at its call. */
interface Waiting {
  readonly until: number;
  readonly end: Deferred<void>;
}

/** A load under way, by the instant from which it might have been started. */
interface Running {
  readonly from: number;
  readonly member: Refreshable;
}

/** The step from one instant to the next, in milliseconds. */
const MOMENT_MS = 0.001;

/**
 * Starts the members that are due, soonest first, a few at a time.
 *
 * It works in passes. A request (or a read, with `piggyback`) begins a pass, which takes all that was due at that
 * instant, each member once: as one of its loads ends, the next begins. A member that falls due during the pass waits
 * for the next request. So a pass ends by itself, and nothing runs without a read or a request.
 */
export class DueQueue {
  /** Its instant is that of the soonest start. `Infinity`: no read starts a pass. */
  readonly piggyback: PiggybackTrigger = new PiggybackTrigger(() => this.read());
  /** The last pass takes what is due by this instant. */
  until: number = -Infinity;
  readonly #options: DueQueueOptions;
  readonly #stepWatch: StepWatch;
  readonly #heap: DueHeap = new DueHeap();
  readonly #members: (Refreshable | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #running: Set<Running> = new Set();
  readonly #waiting: Set<Waiting> = new Set();
  readonly #unscanned: Set<Refreshable> = new Set();
  #isClosed = false;
  /** A read has requested a pass that is about to begin. */
  #isPassPending = false;

  constructor(options: DueQueueOptions) {
    this.#options = options;
    this.#stepWatch = new StepWatch(options.clock);
  }

  /** How many of its loads are under way. */
  get running(): number {
    return this.#running.size;
  }

  /** Adds a member. */
  join(member: Refreshable): GroupSlot {
    const place = this.#free.pop() ?? this.#members.length;
    this.#members[place] = member;
    const isIn = (): boolean => this.#members[place] === member;
    return {
      plan: (from) => {
        if (isIn()) this.#plan(place, from);
      },
      markUnscanned: () => {
        if (isIn()) this.#unscanned.add(member);
      },
      afterPass: () => this.until + MOMENT_MS,
      leave: () => {
        if (!isIn()) return;
        this.#plan(place, Infinity);
        this.#members[place] = undefined;
        this.#unscanned.delete(member);
        this.#free.push(place);
      },
    };
  }

  /** Begins a pass, for a read of a member: see {@link piggyback}. */
  read(): void {
    if (this.#isPassPending) return;
    this.#isPassPending = true;
    this.#refreshReads();
    // Behind the reader: many members may be due.
    Promise.resolve().then(() => {
      this.#isPassPending = false;
      this.#begin();
      this.#startDue();
    });
  }

  /** Begins a pass. */
  request(): void {
    this.#rescan();
    this.#begin();
    this.#startDue();
  }

  /**
   * Begins a pass that keeps the process alive. Resolves when all loads that were due by now are over. Never rejects.
   */
  requestAndWait(): Promise<void> {
    this.#rescan();
    this.#begin();
    const waiting = { until: this.until, end: new Deferred<void>() };
    this.#waiting.add(waiting);
    for (const { member } of this.#running) member.keepAlive();
    this.#startDue();
    return waiting.end.promise;
  }

  /** Starts no more loads. */
  close(): void {
    this.#isClosed = true;
    this.#startDue();
  }

  #plan(place: number, from: number): void {
    this.#heap.set(place, from);
    this.#refreshReads();
  }

  #rescan(): void {
    for (const member of this.#unscanned) {
      this.#unscanned.delete(member);
      member.rescan();
    }
  }

  #begin(): void {
    const now = this.#options.clock.monotonic();
    if (now >= this.#stepWatch.checkAt && this.#stepWatch.hasStepped(now)) {
      for (const member of this.#members) member?.compareClocks();
    }
    // Later than the previous pass, also where the clock has not moved since.
    this.until = Math.max(now, this.until + 2 * MOMENT_MS);
  }

  #startDue(): void {
    while (!this.#isClosed && this.#running.size < this.#options.concurrency) {
      const { soonestAt } = this.#heap;
      if (soonestAt > this.until) break; // also where it is `Infinity`: the heap is empty
      this.#start(this.#heap.soonest as number, soonestAt);
    }
    this.#refreshReads();
    for (const waiting of this.#waiting) {
      if (this.#isUnfinished(waiting.until)) continue;
      this.#waiting.delete(waiting);
      waiting.end.resolve();
    }
  }

  #start(place: number, from: number): void {
    const member = this.#members[place] as Refreshable;
    const running = { from, member };
    this.#running.add(running);
    const ended = (): void => {
      this.#running.delete(running);
      this.#startDue();
    };
    if (member.startNext({ until: this.until, ended })) {
      if (this.#waiting.size > 0) member.keepAlive();
      return;
    }
    this.#running.delete(running);
    // It can't start anything now; it plans its slot when that changes.
    if (this.#heap.soonest === place && this.#heap.soonestAt <= this.until) this.#heap.delete(place);
  }

  /** A load that was due by that instant is under way, or waits for its turn. */
  #isUnfinished(until: number): boolean {
    if (!this.#isClosed && this.#heap.soonestAt <= until) return true;
    for (const { from } of this.#running) if (from <= until) return true;
    return false;
  }

  #refreshReads(): void {
    const isOpen = this.#options.piggyback && !this.#isClosed && !this.#isPassPending;
    const isBusy = this.#running.size >= this.#options.concurrency;
    this.piggyback.readsFrom =
      isOpen && !isBusy ? Math.min(this.#heap.soonestAt, this.#stepWatch.checkAt) : Infinity;
  }
}
