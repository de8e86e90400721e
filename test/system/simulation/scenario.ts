import type { Random } from './random.ts';

/** What misfortunes must know of a scenario. All times in milliseconds. */
export interface Faults {
  readonly leaseFor: number;
  readonly period: number;
  /** Milliseconds between two misfortunes of the world. */
  readonly misfortuneEvery: number;
}

/** The parameters of a world, drawn from the seed in advance. All times in milliseconds. */
export interface Scenario extends Faults {
  readonly instances: number;
  /** Without faults and without actions of operators. */
  readonly isCalm: boolean;
  readonly hasLock: boolean;
  /** Beside a lock. */
  readonly hasStore: boolean;
  readonly timeout: number;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly retries: number;
  /** Loads that bring the value in place again are `keep()`; else it is another object with the same text. */
  readonly unchanged: 'deep' | 'by serial' | undefined;
  /** `Infinity`: none. */
  readonly maxStaleness: number;
  readonly whenTooStale: 'wait' | 'throw';
  readonly whenBackendDown: 'load' | 'skip';
  /** The keys are loaded by `loadMany`. */
  readonly isBatched: boolean;
  /** The keys use locks too. */
  readonly hasKeyLocks: boolean;
  readonly isGrouped: boolean;
  readonly piggyback: boolean;
  /** The concurrency of a group of three members. */
  readonly concurrency: number;
  /** The `max` of the cache, of four keys. */
  readonly maxKeys: number;
  /** One listener throws, and another one reads. */
  readonly hasMeddlers: boolean;
  /** The duration before all faults are repaired. */
  readonly lasts: number;
  /** Milliseconds between two reads of an instance, on average. */
  readonly readsEvery: number;
  /** Milliseconds between two changes by hand of an instance. */
  readonly changesEvery: number;
}

/** The greatest offset of a wall clock. */
const WALL_OFFSET_MS = 6 * 3_600_000;

/** The greatest drift of a clock, in milliseconds per millisecond. */
const CLOCK_DRIFT = 1e-4;

export function drawScenario(random: Random): Scenario {
  const isCalm = random.chance(0.15);
  const hasLock = random.chance(0.8);
  const period = random.pick([300, 1000, 3000]);
  const initial = random.pick([50, 300, 1500]);
  return {
    instances: hasLock ? random.whole(1, 4) : random.whole(1, 2),
    isCalm,
    hasLock,
    hasStore: random.chance(0.8) && hasLock,
    leaseFor: random.pick([300, 600, 2000, 6000]),
    period,
    timeout: random.pick([500, 2000, 8000]),
    coolDown: { initial, factor: random.pick([1, 2, 3]), max: initial * random.pick([1, 4, 20]) },
    retries: random.pick([0, 0, 1, 2]),
    maxStaleness: random.chance(0.4) ? period * random.pick([1.02, 2, 4]) : Infinity,
    whenTooStale: random.pick(['wait', 'throw']),
    whenBackendDown: random.chance(0.7) ? 'load' : 'skip',
    isBatched: random.chance(0.4),
    hasKeyLocks: random.chance(0.5),
    isGrouped: random.chance(0.5),
    piggyback: random.chance(0.5),
    concurrency: random.pick([1, 2, 4]),
    maxKeys: random.whole(1, 4),
    hasMeddlers: random.chance(0.3),
    lasts: random.pick([3, 6, 12]) * period + random.whole(500, 4000),
    readsEvery: random.pick([15, 60, 250]),
    changesEvery: isCalm ? Infinity : random.pick([150, 600, Infinity]),
    misfortuneEvery: isCalm ? Infinity : random.pick([300, 1000, 3000]),
    unchanged: random.pick(['deep', 'by serial', undefined]),
  };
}

/** The errors of the clocks of a machine. */
export function drawClockFault(random: Random): { readonly offset: number; readonly rate: number } {
  return {
    offset: random.between(-WALL_OFFSET_MS, WALL_OFFSET_MS),
    rate: 1 + random.between(-CLOCK_DRIFT, CLOCK_DRIFT),
  };
}
