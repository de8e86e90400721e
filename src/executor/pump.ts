import type { Clock } from '../clock.ts';
import type { Door, Seat, Startable } from '../membership.ts';
import { Deferred } from './deferred.ts';
import { DueHeap } from './due-heap.ts';
import { clockStep } from './next-execution.ts';
import { LOOK_EVERY_MS } from './timetable.ts';

export interface PumpOptions {
  readonly clock: Clock;
  /** How many loads of its own may run at a time. */
  readonly concurrency: number;
  /** What falls due within this time is started too. */
  readonly lookAheadMs: number;
  /** Reads of members start rounds. */
  readonly piggyback: boolean;
}

/**
 * Starts what is due among many, soonest first, a few at a time.
 *
 * It works in rounds. A round is begun by a request (or by a read, with `piggyback`) and takes all that was due at
 * that instant: as a load of it ends, the next begins. What falls due while it goes on waits for the next request, so
 * that it comes to an end by itself, and nothing happens without somebody asking.
 */
export class Pump implements Door {
  /** A read of a member at or after this instant is to call {@link read}. `Infinity`: none. */
  readsFrom: number = Number.POSITIVE_INFINITY;
  readonly #options: PumpOptions;
  readonly #heap: DueHeap = new DueHeap();
  readonly #members: (Startable | undefined)[] = [];
  readonly #free: number[] = [];
  #running = 0;
  /** The instant of the request that began the round. */
  #until: number = Number.NEGATIVE_INFINITY;
  #isHeld = false;
  #roundEnd: Deferred<void> | undefined;
  #isClosed = false;
  /** When both clocks are compared next, and what their difference was. */
  #lookAt: number = Number.NEGATIVE_INFINITY;
  #clockOffset = 0;

  constructor(options: PumpOptions) {
    this.#options = options;
    this.#look(options.clock.monotonic());
  }

  /** Loads of its own under way. */
  get running(): number {
    return this.#running;
  }

  /** A place for one more. */
  join(member: Startable): Seat {
    const place = this.#free.pop() ?? this.#members.length;
    this.#members[place] = member;
    const { lookAheadMs } = this.#options;
    return {
      door: this,
      lookAheadMs,
      plan: (from) => {
        if (this.#members[place] === member) this.#plan(place, from);
      },
      ended: () => this.#ended(),
      leave: () => {
        if (this.#members[place] !== member) return;
        this.#plan(place, Number.POSITIVE_INFINITY);
        this.#members[place] = undefined;
        this.#free.push(place);
      },
    };
  }

  /** A read of a member, at or after {@link readsFrom}. */
  read(): void {
    this.#begin(false);
  }

  /** @returns the end of the round, if the process is to be held until then. Never rejects. */
  request(hold: boolean): Promise<void> | undefined {
    if (hold) this.#roundEnd ??= new Deferred();
    const end = this.#roundEnd?.promise;
    this.#begin(hold);
    return end;
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

  #ended(): void {
    this.#running -= 1;
    this.#startDue();
  }

  #begin(hold: boolean): void {
    const now = this.#options.clock.monotonic();
    if (now >= this.#lookAt) this.#compareClocks(now);
    this.#until = now;
    this.#isHeld ||= hold;
    this.#startDue();
  }

  #startDue(): void {
    while (!this.#isClosed && this.#running < this.#options.concurrency) {
      const place = this.#heap.soonest;
      if (place === undefined || this.#heap.soonestAt > this.#until) break;
      this.#running += 1;
      if (!(this.#members[place] as Startable).startNext(this.#until, this.#isHeld)) {
        this.#running -= 1;
        // It can't start what it has; it will tell when that changes.
        if (this.#heap.soonest === place && this.#heap.soonestAt <= this.#until) this.#heap.delete(place);
      }
    }
    this.#refreshReads();
    if (this.#running > 0) return;
    const end = this.#roundEnd;
    this.#roundEnd = undefined;
    this.#isHeld = false;
    end?.resolve();
  }

  #compareClocks(now: number): void {
    const before = this.#clockOffset;
    this.#look(now);
    if (clockStep(before, this.#clockOffset) === 0) {
      this.#clockOffset = before; // so that a clock that creeps away is noticed in the end
      return;
    }
    for (const member of this.#members) member?.compareClocks();
  }

  #look(now: number): void {
    this.#lookAt = now + LOOK_EVERY_MS;
    this.#clockOffset = this.#options.clock.now() - now;
  }

  #refreshReads(): void {
    const isOpen = this.#options.piggyback && !this.#isClosed;
    const isBusy = this.#running >= this.#options.concurrency;
    this.readsFrom = isOpen && !isBusy ? Math.min(this.#heap.soonestAt, this.#lookAt) : Infinity;
  }
}
