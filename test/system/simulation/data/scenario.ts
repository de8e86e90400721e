import type { Random } from '../random.ts';
import type { Faults } from '../scenario.ts';

/** The parameters of a data world. All times in milliseconds. */
export interface DataScenario extends Faults {
  readonly instances: number;
  readonly hasLock: boolean;
  readonly hasStore: boolean;
  readonly keepVersions: number;
  /** Versions can be put back into place. */
  readonly hasPins: boolean;
  readonly hasAccept: boolean;
  readonly hasSchema: boolean;
  /** The guard takes its time. */
  readonly isAsync: boolean;
  readonly timeout: number;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  /** `Infinity`: none. */
  readonly maxStaleness: number;
  readonly whenTooStale: 'wait' | 'throw';
  readonly whenBackendDown: 'load' | 'skip';
  readonly lasts: number;
  readonly readsEvery: number;
  readonly ordersEvery: number;
  /** Milliseconds between two times of bad data. */
  readonly badEvery: number;
}

export function drawDataScenario(random: Random): DataScenario {
  const hasLock = random.chance(0.9);
  const hasStore = random.chance(0.9) && hasLock;
  const keepVersions = random.pick([1, 2, 3, 5]);
  const guards = random.pick(['accept', 'schema', 'both', 'both'] as const);
  const period = random.pick([500, 2000, 6000]);
  const initial = random.pick([300, 1500]);
  const isCalm = random.chance(0.3);
  return {
    instances: random.whole(1, 4),
    hasLock,
    hasStore,
    keepVersions,
    hasPins: hasStore && keepVersions > 1,
    hasAccept: guards !== 'schema',
    hasSchema: guards !== 'accept',
    isAsync: random.chance(0.3),
    leaseFor: random.pick([600, 2000, 6000]),
    period,
    timeout: random.pick([2000, 8000]),
    coolDown: { initial, factor: 2, max: initial * random.pick([4, 10]) },
    maxStaleness: random.chance(0.4) ? period * random.pick([1.5, 4]) : Infinity,
    whenTooStale: random.pick(['wait', 'throw']),
    whenBackendDown: random.chance(0.7) ? 'load' : 'skip',
    lasts: random.pick([8000, 16_000, 30_000]),
    readsEvery: random.pick([100, 400]),
    ordersEvery: random.pick([400, 1500, 4000]),
    badEvery: random.pick([1500, 5000]),
    misfortuneEvery: isCalm ? Infinity : random.pick([600, 2000, 6000]),
  };
}
