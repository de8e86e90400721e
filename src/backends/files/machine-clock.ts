import { readFileSync } from 'node:fs';
import { hrtime, versions } from 'node:process';

/** An instant on clocks that all processes of this machine share. Plain data. */
export interface Moment {
  /** Milliseconds on the clock named by `clock`. */
  readonly at: number;
  /** The wall clock, in epoch milliseconds. */
  readonly wall: number;
  /** Id of this boot of the machine; `null` where the system has none. */
  readonly boot: string | null;
  /**
   * `monotonic`: time since boot, not affected by steps of the wall clock. `uptime`: the same, in hundredths of a
   * second. `wall`: the wall clock, where processes share no other clock.
   */
  readonly clock: 'monotonic' | 'uptime' | 'wall';
}

/** Without a boot id: if wall clock and uptime differ by more than this, the machine has rebooted. */
const SAME_START_MS = 60_000;

/** On Deno and Bun the monotonic clock starts with the process. */
const isSharedMonotonic = !('deno' in versions || 'bun' in versions);

/** The clocks of this machine; detects on first use which of them exist. */
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
    return this.#clock === 'wall' ? wall : (uptime() ?? NaN);
  }
}

/** Milliseconds since boot. */
function uptime(): number | undefined {
  const seconds = Number.parseFloat(textOf('/proc/uptime') ?? '');
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}

/** Reads a file of a virtual file system, which needs no disk access. */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined; // not Linux, or not permitted
  }
}

/** Both instants are on the same clock of the same boot, so that their difference is elapsed time. */
export function isComparable(then: Moment, now: Moment): boolean {
  const isSameClock = then.boot === now.boot && then.clock === now.clock;
  return isSameClock && (then.at <= now.at || then.clock === 'wall');
}

/** The machine has certainly rebooted between both instants: no process of the first one is alive. */
export function hasRestarted(then: Moment, now: Moment): boolean {
  if (then.boot !== null && now.boot !== null) return then.boot !== now.boot;
  return then.clock === now.clock && then.clock !== 'wall' && then.at > now.at;
}

/** Elapsed milliseconds; by the wall clock if the machine has rebooted since, so they may be negative. */
export function passedSince(then: Moment, now: Moment): number {
  const wall = now.wall - then.wall;
  const other = now.at - then.at;
  const isSameStart = then.boot !== null || Math.abs(wall - other) <= SAME_START_MS;
  return isComparable(then, now) && isSameStart ? other : wall;
}

/** Whether parsed data is an instant: a number within the range of exact integers. */
export function isInstant(data: unknown): boolean {
  return typeof data === 'number' && Math.abs(data) <= Number.MAX_SAFE_INTEGER;
}

/** Whether parsed data is a {@link Moment}. */
export function isMoment(data: Partial<Record<string, unknown>>): boolean {
  const { at, wall, boot, clock } = data;
  const isClock = clock === 'monotonic' || clock === 'uptime' || clock === 'wall';
  return isInstant(at) && isInstant(wall) && (boot === null || typeof boot === 'string') && isClock;
}
