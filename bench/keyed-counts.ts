import { RefreshGroup, RefreshingCache } from '../dist/index.js';
import { FakeClock } from '../dist/testing/index.js';

/** Counts: the same on every machine, except for the randomness of the jitter. */
export interface KeyedCounts {
  /** Calls of `loadMany` for 10,000 first reads at once, with `batchSize: 500`. */
  readonly batches: number;
  /** Of 100,000 keys that were loaded together: the largest share that is loaded again in one tenth of a period. */
  readonly largestShare: number;
  /** The shares of all tenths, from the first in which one is loaded. */
  readonly shares: readonly number[];
  /** Loads that `requestStart()` starts in a group of 10,000 members of which 10 are due. */
  readonly startedByRequest: number;
}

const PERIOD_MS = 600_000;
const TENTH_MS = PERIOD_MS / 10;

export async function countKeyed(): Promise<KeyedCounts> {
  const shares = await countSpread(100_000);
  return {
    batches: await countBatches(10_000, 500),
    largestShare: Math.max(...shares),
    shares,
    startedByRequest: await countStarted(10_000, 10),
  };
}

async function countBatches(keys: number, batchSize: number): Promise<number> {
  let calls = 0;
  const loadMany = async (asked: readonly number[]): Promise<Map<number, number>> => {
    calls += 1;
    return new Map(asked.map((key) => [key, key]));
  };
  const cache = new RefreshingCache({ name: 'bench', max: keys, loadMany, batchSize });
  const values = await Promise.all(Array.from({ length: keys }, (_, key) => cache.get(key)));
  if (values.some((value, key) => value !== key)) throw new Error('a key got the value of another');
  return calls;
}

/** Each key is read once in each tenth of the period. */
async function countSpread(keys: number): Promise<number[]> {
  const clock = new FakeClock();
  let loads = 0;
  const load = (key: number): number => {
    loads += 1;
    return key;
  };
  const cache = new RefreshingCache({ name: 'bench', max: keys, load, schedule: PERIOD_MS, clock });
  const readAll = async (): Promise<number> => {
    const before = loads;
    for (let key = 0; key < keys; key++) cache.current(key);
    await clock.flush(); // the loads behind the reads
    return loads - before;
  };
  if ((await readAll()) !== keys) throw new Error('not all were loaded together');
  const shares: number[] = [];
  // A key that is reloaded first is not due again before the last of the others is.
  for (let left = keys; left > 0; ) {
    await clock.advance(TENTH_MS);
    const loaded = await readAll();
    if (loaded > 0) shares.push(loaded / keys);
    left -= loaded;
  }
  return shares;
}

async function countStarted(members: number, due: number): Promise<number> {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, schedule: { days: 365 } });
  let loads = 0;
  const load = async (): Promise<number> => ++loads;
  for (let i = 0; i < members; i++) {
    const options = { name: `v${i}`, load };
    const value =
      i % (members / due) === 0 ? group.value({ ...options, schedule: PERIOD_MS }) : group.value(options);
    value.set(0);
  }
  await clock.advance(PERIOD_MS);
  group.requestStart();
  await clock.flush();
  return loads;
}
