import { readFileSync } from 'node:fs';
import { hrtime, versions } from 'node:process';

/** When something was written, by clocks that all processes of this machine share. Plain data. */
export interface Moment {
  /** Milliseconds on the clock that `clock` names. */
  readonly at: number;
  /** The wall clock, in epoch milliseconds. */
  readonly wall: number;
  /** This start of the machine; `null` where the system does not tell. */
  readonly boot: string | null;
  /**
   * `monotonic`: goes on from the start of the machine, whatever is done to the wall clock. `uptime`: as well, to the
   * hundredth of a second. `wall`: the wall clock, where there is no other that processes share.
   */
  readonly clock: 'monotonic' | 'uptime' | 'wall';
}

/** Without the name of its start: a machine whose wall clock and other clock have moved apart so far was restarted. */
const SAME_START_MS = 60_000;

/** The clocks of Deno and Bun begin with the process. */
const isSharedMonotonic = !('deno' in versions || 'bun' in versions);

/** The clocks of this machine. Which ones there are is found out at the first look at them. */
export class MachineClock {
  #boot: string | null | undefined;
  #clock: Moment['clock'] | undefined;

  now(): Moment {
    this.#boot ??= textOf('/proc/sys/kernel/random/boot_id')?.trim() ?? null;
    this.#clock ??= isSharedMonotonic ? 'monotonic' : uptime() === undefined ? 'wall' : 'uptime';
    const wall = Date.now();
    return { at: this.#read(wall), wall, boot: this.#boot, clock: this.#clock };
  }

  #read(wall: number): number {
    if (this.#clock === 'monotonic') return Number(hrtime.bigint()) / 1e6;
    return this.#clock === 'wall' ? wall : (uptime() ?? Number.NaN);
  }
}

/** Milliseconds since the start of the machine. */
function uptime(): number | undefined {
  const seconds = Number.parseFloat(textOf('/proc/uptime') ?? '');
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}

/** Of a file that the system makes up: reading it touches no disk. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // not Linux, or not allowed
  }
}

/** What was written is by the same clock as now, so that instants compare. */
export function isComparable(then: Moment, now: Moment): boolean {
  const isSameClock = then.boot === now.boot && then.clock === now.clock;
  return isSameClock && (then.at <= now.at || then.clock === 'wall');
}

/** The machine was certainly restarted in between: no process of then is still there. */
export function hasRestarted(then: Moment, now: Moment): boolean {
  if (then.boot !== null && now.boot !== null) return then.boot !== now.boot;
  return then.clock === now.clock && then.clock !== 'wall' && then.at > now.at;
}

/** Milliseconds that have passed since, never under 0. By the wall clock where the machine was restarted since. */
export function passedSince(then: Moment, now: Moment): number {
  const wall = now.wall - then.wall;
  const other = now.at - then.at;
  const isSameStart = then.boot !== null || Math.abs(wall - other) <= SAME_START_MS;
  return Math.max(0, isComparable(then, now) && isSameStart ? other : wall);
}

/** Whether data that was read is an instant: so far from the end of the numbers that one can reckon with it. */
export function isInstant(data: unknown): boolean {
  return typeof data === 'number' && Math.abs(data) <= Number.MAX_SAFE_INTEGER;
}

/** Whether data that was read is such. */
export function isMoment(data: Partial<Record<string, unknown>>): boolean {
  const { at, wall, boot, clock } = data;
  const isClock = clock === 'monotonic' || clock === 'uptime' || clock === 'wall';
  return isInstant(at) && isInstant(wall) && (boot === null || typeof boot === 'string') && isClock;
}
