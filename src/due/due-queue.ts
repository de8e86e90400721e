import type { Door, GroupSlot, Refreshable } from '../group/membership.ts';
import type { Clock } from '../time/clock.ts';
import { Deferred } from '../time/deferred.ts';
import { StepWatch } from '../time/step-watch.ts';
import { DueHeap } from './due-heap.ts';

export interface DueQueueOptions {
  readonly clock: Clock;
  /** How many loads of its own may run at a time. */
  readonly concurrency: number;
  /** What falls due within this time is started too. */
  readonly lookAheadMs: number;
  /** Reads of members start rounds. */
  readonly piggyback: boolean;
}

/** Somebody who waits until all has been loaded that was due when he asked. */
interface Waiting {
  readonly until: number;
  readonly end: Deferred<void>;
}

/** A load under way, by the instant from which it might have been started. */
interface Running {
  readonly from: number;
  readonly member: Refreshable;
}

/** A moment, in milliseconds: what comes right after an instant. */
const MOMENT_MS = 0.001;

/**
 * Starts what is due among many, soonest first, a few at a time.
 *
 * It works in rounds. A round is begun by a request (or by a read, with `piggyback`) and takes all that was due at
 * that instant, each member once: as a load of it ends, the next begins. What falls due while it goes on waits for the
 * next request, so that it comes to an end by itself, and nothing happens without somebody asking.
 */
export class DueQueue implements Door {
  /** A read of a member at or after this instant is to call {@link read}. `Infinity`: none. */
  readsFrom: number = Number.POSITIVE_INFINITY;
  /** The instant by which the last round takes what is due. */
  until: number = Number.NEGATIVE_INFINITY;
  readonly #options: DueQueueOptions;
  readonly #watch: StepWatch;
  readonly #heap: DueHeap = new DueHeap();
  readonly #members: (Refreshable | undefined)[] = [];
  readonly #free: number[] = [];
  readonly #running: Set<Running> = new Set();
  readonly #waiting: Set<Waiting> = new Set();
  readonly #unseen: Set<Refreshable> = new Set();
  #isClosed = false;
  /** A read has begun a round that is about to start. */
  #isReadFrom = false;

  constructor(options: DueQueueOptions) {
    this.#options = options;
    this.#watch = new StepWatch(options.clock);
  }

  /** Loads of its own under way. */
  get running(): number {
    return this.#running.size;
  }

  /** A place for one more. */
  join(member: Refreshable): GroupSlot {
    const place = this.#free.pop() ?? this.#members.length;
    this.#members[place] = member;
    const isIn = (): boolean => this.#members[place] === member;
    return {
      door: this,
      lookAheadMs: this.#options.lookAheadMs,
      plan: (from) => {
        if (isIn()) this.#plan(place, from);
      },
      markUnseen: () => {
        if (isIn()) this.#unseen.add(member);
      },
      afterRound: () => this.until + MOMENT_MS,
      leave: () => {
        if (!isIn()) return;
        this.#plan(place, Number.POSITIVE_INFINITY);
        this.#members[place] = undefined;
        this.#unseen.delete(member);
        this.#free.push(place);
      },
    };
  }

  /** Begins a round, for a read of a member at or after {@link readsFrom}. */
  read(): void {
    if (this.#isReadFrom) return;
    this.#isReadFrom = true;
    this.#refreshReads();
    // Behind the reader: what is due may be much.
    Promise.resolve().then(() => {
      this.#isReadFrom = false;
      this.#begin();
      this.#startDue();
    });
  }

  /** Begins a round. */
  request(): void {
    this.#lookAtUnseen();
    this.#begin();
    this.#startDue();
  }

  /**
   * Begins a round that the process is to live through. Resolves when all loads are over that were due by now. Never
   * rejects.
   */
  requestAndHold(): Promise<void> {
    this.#lookAtUnseen();
    this.#begin();
    const waiting = { until: this.until, end: new Deferred<void>() };
    this.#waiting.add(waiting);
    for (const { member } of this.#running) member.hold();
    this.#startDue();
    return waiting.end.promise;
  }

  /** Starts nothing any more. */
  close(): void {
    this.#isClosed = true;
    this.#startDue();
  }

  #plan(place: number, from: number): void {
    this.#heap.set(place, from);
    this.#refreshReads();
  }

  #lookAtUnseen(): void {
    for (const member of this.#unseen) {
      this.#unseen.delete(member);
      member.look();
    }
  }

  #begin(): void {
    const now = this.#options.clock.monotonic();
    if (now >= this.#watch.checkAt && this.#watch.hasStepped(now)) {
      for (const member of this.#members) member?.compareClocks();
    }
    // Later than the round before, also where the clock has stood still since.
    this.until = Math.max(now, this.until + 2 * MOMENT_MS);
  }

  #startDue(): void {
    while (!this.#isClosed && this.#running.size < this.#options.concurrency) {
      const { soonestAt } = this.#heap;
      if (soonestAt > this.until) break; // also where it is `Infinity`: there is none
      this.#start(this.#heap.soonest as number, soonestAt);
    }
    this.#refreshReads();
    for (const waiting of this.#waiting) {
      if (this.#isGoingOn(waiting.until)) continue;
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
      if (this.#waiting.size > 0) member.hold();
      return;
    }
    this.#running.delete(running);
    // It can't start what it has; it will tell when that changes.
    if (this.#heap.soonest === place && this.#heap.soonestAt <= this.until) this.#heap.delete(place);
  }

  /** Something that was due by that instant is being loaded, or waits for its turn. */
  #isGoingOn(until: number): boolean {
    if (!this.#isClosed && this.#heap.soonestAt <= until) return true;
    for (const { from } of this.#running) if (from <= until) return true;
    return false;
  }

  #refreshReads(): void {
    const isOpen = this.#options.piggyback && !this.#isClosed && !this.#isReadFrom;
    const isBusy = this.#running.size >= this.#options.concurrency;
    this.readsFrom = isOpen && !isBusy ? Math.min(this.#heap.soonestAt, this.#watch.checkAt) : Infinity;
  }
}
