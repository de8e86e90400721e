// The races of the gate for speed: ratios to a reference in the same process. The bounds leave room for a busy machine;
// the targets are in the tables of `npm run bench`.

import { LRUCache } from 'lru-cache';
import { memoryBackend } from '../dist/backends/memory.js';
import { RefreshGroup, RefreshingCache, RefreshingValue } from '../dist/index.js';
import { KEEP_MS } from './candidates/candidate.ts';
import { measureLoadCosts } from './load-cost.ts';
import { awaitedKeyedLoop, awaitedLoop, keyedLoop, type Loop, syncLoop } from './loop.ts';
import { contestant, ratioOf, shuffled, takeTurns, VALUE } from './turns.ts';

/** A figure, and its bound. */
export interface Judged {
  readonly name: string;
  readonly beside: string;
  readonly figure: number;
  readonly most: number;
}

/** A bound on the time of one loop relative to another. */
interface Race {
  readonly name: string;
  readonly beside: string;
  readonly most: number;
  readonly loop: Loop;
  readonly besideLoop: Loop;
  /** Long enough to read all keys. */
  readonly sliceMs?: number;
}

const ROUNDS = 60;

function valueRaces(): Race[] {
  const made = (): RefreshingValue<number> => {
    const value = new RefreshingValue({ name: 'gate', load: async () => VALUE, schedule: KEEP_MS });
    value.set(VALUE);
    return value;
  };
  const lru = (): LRUCache<string, number> =>
    new LRUCache({ max: 100, ttl: KEEP_MS, fetchMethod: () => VALUE });
  const [burst, besideFloor, single, awaited, besideFetch] = [made(), made(), made(), made(), made()];
  const [get, fetch] = [lru().set('key', VALUE), lru().set('key', VALUE)];
  const held = { value: VALUE, promise: Promise.resolve(VALUE) };
  return [
    {
      name: 'value.current in a burst',
      loop: syncLoop(() => besideFloor.current),
      beside: 'floor: clock + field',
      besideLoop: syncLoop(() => (performance.now() >= 0 ? held.value : 0)),
      most: 0.5,
    },
    {
      name: 'value.current in a burst',
      loop: syncLoop(() => burst.current),
      beside: 'lru-cache get, ttl',
      besideLoop: syncLoop(() => get.get('key')),
      most: 0.8,
    },
    {
      name: 'value.current, one in each microtask',
      loop: awaitedLoop(() => single.current),
      beside: 'floor: clock + field',
      besideLoop: awaitedLoop(() => (performance.now() >= 0 ? held.value : 0)),
      most: 1.4,
    },
    {
      name: 'await value.get()',
      loop: awaitedLoop(() => awaited.get()),
      beside: 'floor: resolved promise',
      besideLoop: awaitedLoop(() => held.promise),
      most: 1.4,
    },
    {
      name: 'await value.get()',
      loop: awaitedLoop(() => besideFetch.get()),
      beside: 'lru-cache fetch, ttl',
      besideLoop: awaitedLoop(() => fetch.fetch('key')),
      most: 1,
    },
  ];
}

/** Of keys that the caches of a processor hold. */
const MOST_OF_READS = 1.8;
/** Of more keys a read waits for memory, in our columns too: longer where other processes keep the memory busy. */
const MOST_FROM_MEMORY = 2.5;

function keyedRaces(count: number, order: 'as loaded' | 'random', sliceMs?: number): Race[] {
  const loaded = shuffled(Array.from({ length: count }, (_, i) => `key:${i}`));
  const keys = order === 'random' ? shuffled(loaded) : loaded;
  const caches = [0, 1].map(() => {
    const load = (_key: string): number => VALUE;
    const cache = new RefreshingCache({ name: 'gate', max: count, load, schedule: KEEP_MS });
    for (const key of loaded) cache.current(key);
    return cache;
  });
  const lrus = [0, 1].map(() => {
    const lru = new LRUCache<string, number>({ max: count, ttl: KEEP_MS });
    for (const key of loaded) lru.set(key, VALUE);
    return lru;
  });
  const [[current, get], [lru, awaitedLru]] = [caches, lrus] as [
    [RefreshingCache<string, number>, RefreshingCache<string, number>],
    [LRUCache<string, number>, LRUCache<string, number>],
  ];
  const what = `of ${count.toLocaleString('en')} keys, ${order}`;
  const most = sliceMs === undefined ? MOST_OF_READS : MOST_FROM_MEMORY;
  const slices = sliceMs === undefined ? {} : { sliceMs };
  return [
    {
      name: `cache.current(key) ${what}`,
      loop: keyedLoop(keys, (key) => current.current(key)),
      beside: 'lru-cache get, ttl',
      besideLoop: keyedLoop(keys, (key) => lru.get(key)),
      most,
      ...slices,
    },
    {
      name: `await cache.get(key) ${what}`,
      loop: awaitedKeyedLoop(keys, (key) => get.get(key)),
      beside: 'lru-cache get, ttl, awaited',
      besideLoop: awaitedKeyedLoop(keys, (key) => awaitedLru.get(key)),
      most,
      ...slices,
    },
  ];
}

/** Reads that start other due members of the group. */
function groupRace(): Race {
  const read = (members: number): Loop => {
    const group = new RefreshGroup({ schedule: KEEP_MS });
    const values = Array.from({ length: members }, (_, i) =>
      group.value({ name: `v${i}`, load: async () => VALUE }),
    );
    for (const value of values) value.set(VALUE);
    const value = values[members >> 1] as RefreshingValue<number>;
    return syncLoop(() => value.current);
  };
  const [name, beside] = ['value.current in a group of 10,000', 'in a group of 10'];
  return { name, loop: read(10_000), beside, besideLoop: read(10), most: 1.5 };
}

/** Reads that start a check of the store once a second. */
function checksRace(): Race {
  const read = (propagateWithin: number): Loop => {
    const options = {
      name: 'gate',
      load: async () => VALUE,
      schedule: KEEP_MS,
      backend: memoryBackend(),
    };
    const value = new RefreshingValue({ ...options, propagateWithin });
    value.set(VALUE);
    return syncLoop(() => value.current);
  };
  const [name, beside] = ['value.current, propagateWithin 1 s', 'the same, 1 h'];
  return { name, loop: read(1000), beside, besideLoop: read(3_600_000), most: 1.2 };
}

async function ratio({ loop, besideLoop, sliceMs }: Race): Promise<number> {
  const [one, other] = [contestant('it', loop), contestant('beside', besideLoop)];
  await takeTurns([one, other], { rounds: ROUNDS, ...(sliceMs === undefined ? {} : { sliceMs }) });
  return ratioOf(one, other);
}

const LOADS = {
  oneByOne: 'cache.get(key) of new keys in turn',
  atOnce: 'cache.get(key) of new keys, all at once',
  forced: 'cache.refresh(key)',
} as const;
const MOST_OF_LOADS = 1.3;

/** The ratios of each way to `fetch` of lru-cache. */
async function loads(): Promise<Judged[]> {
  const [, measured] = await measureLoadCosts(['lru-cache', 'tickless']);
  return (Object.keys(LOADS) as (keyof typeof LOADS)[]).map((way) => ({
    name: LOADS[way],
    beside: 'lru-cache fetch',
    figure: measured?.[way]?.toLruCache ?? Infinity,
    most: MOST_OF_LOADS,
  }));
}

/** One race after the other. */
export async function measureRaces(): Promise<Judged[]> {
  const races = [
    ...valueRaces(),
    ...keyedRaces(1000, 'as loaded'),
    ...keyedRaces(100_000, 'as loaded', 8),
    ...keyedRaces(100_000, 'random', 8),
    groupRace(),
    checksRace(),
  ];
  const judged: Judged[] = [];
  for (const race of races) {
    const { name, beside, most } = race;
    judged.push({ name, beside, most, figure: await ratio(race) });
  }
  return [...judged, ...(await loads())];
}
