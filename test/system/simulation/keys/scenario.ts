import type { Random } from '../random.ts';
import type { Faults } from '../scenario.ts';

/** The keys that are read, each with its tag. */
export const TAGS: Readonly<Record<string, string>> = { '1': 'x', '2': 'x', '3': 'y' };
export const KEYS: readonly string[] = Object.keys(TAGS);

/** The parameters of a world of keys. All times in milliseconds. */
export interface KeysScenario extends Faults {
  readonly instances: number;
  readonly maxKeys: number;
  readonly hasAccept: boolean;
  readonly hasSchema: boolean;
  /** The guard takes its time. */
  readonly isAsync: boolean;
  readonly timeout: number;
  readonly coolDown: { readonly initial: number; readonly factor: number; readonly max: number };
  readonly whenBackendDown: 'load' | 'skip';
  readonly propagateWithin: number;
  readonly lasts: number;
  readonly readsEvery: number;
  readonly ordersEvery: number;
  /** Milliseconds between two times of bad data. */
  readonly badEvery: number;
}

export function drawKeysScenario(random: Random): KeysScenario {
  const guards = random.pick(['none', 'accept', 'schema', 'both'] as const);
  const initial = random.pick([300, 1500]);
  const isCalm = random.chance(0.3);
  return {
    instances: random.whole(2, 3),
    maxKeys: random.whole(1, KEYS.length),
    hasAccept: guards === 'accept' || guards === 'both',
    hasSchema: guards === 'schema' || guards === 'both',
    isAsync: random.chance(0.3),
    leaseFor: random.pick([600, 2000, 6000]),
    period: random.pick([1000, 5000, 60_000]),
    timeout: random.pick([2000, 8000]),
    coolDown: { initial, factor: 2, max: initial * random.pick([4, 10]) },
    whenBackendDown: random.chance(0.7) ? 'load' : 'skip',
    propagateWithin: random.pick([100, 400, 1500]),
    lasts: random.pick([8000, 16_000]),
    readsEvery: random.pick([50, 150]),
    ordersEvery: random.pick([600, 2000]),
    badEvery: random.pick([1500, 5000]),
    misfortuneEvery: isCalm ? Number.POSITIVE_INFINITY : random.pick([600, 2000, 6000]),
  };
}

/** The name of the cache: that of its invalidation log in the store. */
export const NAME = 'lists';

/** The name of a key at the backend. */
export function nameOf(key: string): string {
  return `${NAME}["${key}"]`;
}
