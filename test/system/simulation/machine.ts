import type { Clock, Timer } from '../../../src/index.ts';
import type { Random } from './random.ts';
import type { Happening, Timeline } from './timeline.ts';

/** When the world begins, in epoch milliseconds. */
const BEGINNING: number = Date.UTC(2026, 10, 20, 12);

/** Timers fire late by up to so much. */
const LATE_MS = 2;

/** How the clocks of a machine are wrong. */
export interface ClockFault {
  /** How far the wall clock is ahead, in milliseconds. */
  readonly offset: number;
  /** How many of its milliseconds pass in one. */
  readonly rate: number;
}

/**
 * A process: its clocks, its timers, and what reaches it from outside. It may stand still for a while; timers and
 * messages are late then. When it has crashed, nothing of it happens any more.
 */
export class Machine implements Clock {
  readonly name: string;
  readonly #timeline: Timeline;
  readonly #random: Random;
  readonly #rate: number;
  readonly #bornAt: number;
  #offset: number;
  readonly #timers: Set<SimulatedTimer> = new Set();
  /** What it has missed, while it stands still. */
  #missed: (() => void)[] | undefined;
  #catchesUpUntil = -1;
  #hasCrashed = false;
  /** Something has happened in it since it was last looked at. */
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
    return Math.floor(BEGINNING + this.#bornAt + this.#offset + this.monotonic());
  }

  stepWall(ms: number): void {
    this.#offset += ms;
  }

  setTimeout(callback: () => void, delayMs: number): Timer {
    const due = this.monotonic() + Math.max(0, delayMs);
    const late = delayMs > 0 && this.#random.chance(0.3) ? this.#random.between(0, LATE_MS) : 0;
    const timer = new SimulatedTimer(this.#timeline, this.#timers, due, () => {
      // A clock that runs slow may be a rounding error short of it.
      while (delayMs > 0 && this.monotonic() < due) this.#timeline.now += 1e-9 * (1 + this.#timeline.now);
      callback();
    });
    timer.planned = this.#plan(Math.max(0, delayMs) / this.#rate + late, timer.fire);
    return timer;
  }

  /** Something from outside reaches it, after so many milliseconds. */
  receive(inMs: number, happen: () => void): void {
    this.#plan(inMs, happen);
  }

  /** How many timers run that are not due yet. */
  get timersAhead(): number {
    let count = 0;
    for (const { due } of this.#timers) if (due > this.monotonic()) count += 1;
    return count;
  }

  /** One of them keeps the process alive. */
  get isHeld(): boolean {
    for (const { due, isHeld } of this.#timers) if (isHeld && due > this.monotonic()) return true;
    return false;
  }

  get hasCrashed(): boolean {
    return this.#hasCrashed;
  }

  /** It does what is to be done: it neither stands still nor has late things to do. */
  get isAwake(): boolean {
    return !this.#hasCrashed && this.#missed === undefined && this.#timeline.now > this.#catchesUpUntil;
  }

  get isStill(): boolean {
    return this.#missed !== undefined;
  }

  standStill(): void {
    this.#missed ??= [];
  }

  /** What it has missed happens now, one after the other. */
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
  /** It keeps the process alive. */
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
