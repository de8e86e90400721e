import type { Clock } from '../../../src/index.ts';
import type { Timer } from '../../../src/time/clock.ts';
import type { Random } from './random.ts';
import type { Happening, Timeline } from './timeline.ts';

/** The start of the world, in epoch milliseconds. */
const BEGINNING: number = Date.UTC(2026, 10, 20, 12);

/** The greatest lateness of a timer. */
const LATE_MS = 2;

/** The errors of the clocks of a machine. */
export interface ClockFault {
  /** The offset of the wall clock, in milliseconds. */
  readonly offset: number;
  /** Milliseconds of the machine per real millisecond. */
  readonly rate: number;
}

/**
 * A process: its clocks, its timers, and the messages that it receives. It may be suspended for a while, which delays
 * timers and messages. After a crash nothing of it runs any more.
 */
export class Machine implements Clock {
  readonly name: string;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #rate: number;
  readonly #bornAt: number;
  #offset: number;
  readonly #timers: Set<SimulatedTimer> = new Set();
  /** The events that were delayed while it was suspended. */
  #missed: (() => void)[] | undefined;
  #catchesUpUntil = -1;
  #hasCrashed = false;
  /** An event has run in it since the last check. */
  isTouched: boolean = false;

  constructor(name: string, timeline: Timeline, random: Random, { offset, rate }: ClockFault) {
    this.name = name;
    this.#timeline = timeline;
    this.#random = random;
    this.#rate = rate;
    this.#offset = offset;
    this.#bornAt = timeline.now;
  }

  monotonic(): number {
    return 1000 + (this.#timeline.now - this.#bornAt) * this.#rate;
  }

  now(): number {
    return Math.floor(this.exactNow());
  }

  /** As {@link now}, with fractions of a millisecond. */
  exactNow(): number {
    return BEGINNING + this.#bornAt + this.#offset + this.monotonic();
  }

  stepWall(ms: number): void {
    this.#offset += ms;
  }

  setTimeout(callback: () => void, delayMs: number): Timer {
    const due = this.monotonic() + Math.max(0, delayMs);
    const late = delayMs > 0 && this.#random.chance(0.3) ? this.#random.between(0, LATE_MS) : 0;
    const timer = new SimulatedTimer(this.#timeline, this.#timers, due, () => {
      // A slow clock may be a rounding error short of it.
      while (delayMs > 0 && this.monotonic() < due) this.#timeline.now += 1e-9 * (1 + this.#timeline.now);
      callback();
    });
    timer.planned = this.#plan(Math.max(0, delayMs) / this.#rate + late, timer.fire);
    return timer;
  }

  /** Delivers an event from outside after a delay in milliseconds. */
  receive(inMs: number, happen: () => void): void {
    this.#plan(inMs, happen);
  }

  /** The number of running timers that are not due yet. */
  get timersAhead(): number {
    let count = 0;
    for (const { due } of this.#timers) if (due > this.monotonic()) count += 1;
    return count;
  }

  /** Whether a timer keeps the process alive. */
  get isHeld(): boolean {
    for (const { due, isHeld } of this.#timers) if (isHeld && due > this.monotonic()) return true;
    return false;
  }

  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  /** It is neither suspended nor behind with delayed events. */
  get isAwake(): boolean {
    return !this.#hasCrashed && this.#missed === undefined && this.#timeline.now > this.#catchesUpUntil;
  }

  get isStill(): boolean {
    return this.#missed !== undefined;
  }

  standStill(): void {
    this.#missed ??= [];
  }

  /** Runs the delayed events one after the other. */
  goOn(): void {
    const missed = this.#missed;
    if (missed === undefined) return;
    this.#missed = undefined;
    this.#catchesUpUntil = this.#timeline.now + 1;
    for (const happen of missed) this.#plan(this.#random.between(0, 1), happen);
  }

  crash(): void {
    this.#hasCrashed = true;
    for (const timer of this.#timers) timer.cancel();
  }

  #plan(inMs: number, happen: () => void): Happening {
    const occur = (): void => {
      if (this.#hasCrashed) return;
      this.isTouched = true;
      if (this.#missed === undefined) happen();
      else this.#missed.push(happen);
    };
    return this.#timeline.plan(inMs, occur);
  }
}

class SimulatedTimer implements Timer {
  /** By the clock of its machine. */
  readonly due: number;
  planned: Happening | undefined;
  /** The timer keeps the process alive. */
  isHeld: boolean = false;
  readonly fire: () => void;
  readonly #timeline: Timeline;
  readonly #timers: Set<SimulatedTimer>;

  constructor(timeline: Timeline, timers: Set<SimulatedTimer>, due: number, callback: () => void) {
    this.#timeline = timeline;
    this.#timers = timers;
    this.due = due;
    timers.add(this);
    this.fire = () => {
      if (this.#timers.delete(this)) callback();
    };
  }

  cancel(): void {
    this.#timers.delete(this);
    if (this.planned !== undefined) this.#timeline.cancel(this.planned);
  }

  ref(): void {
    this.isHeld = true;
  }

  unref(): void {
    this.isHeld = false;
  }
}
