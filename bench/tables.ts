import type { Allocation } from './allocation.ts';
import type { Behaviour } from './behaviour.ts';
import type { Figure, SingleReads } from './fresh-read.ts';
import type { GroupCost } from './group-cost.ts';
import type { IdleKeyBytes } from './idle-keys.ts';
import type { IdleValues } from './idle-values.ts';
import type { KeyedCounts } from './keyed-counts.ts';
import type { KeyedFigure, KeyedReads } from './keyed-read.ts';
import type { LoadCost, LoadFigure } from './load-cost.ts';
import type { Latency, ReloadLatency } from './reload-latency.ts';
import type { ReloadStall } from './reload-stall.ts';
import type { Stampede } from './stampede.ts';
import { count, nanoseconds, ratio, table } from './table.ts';

export function freshReadTable(title: string, figures: readonly Figure[]): string {
  const rows = figures.toSorted((a, b) => a.ns - b.ns);
  return table(
    [title, 'ns', 'to floor', 'to tickless'],
    rows.map(({ name, ns, toFloor, toTickless }) => [name, ns.toFixed(1), ratio(toFloor), ratio(toTickless)]),
  );
}

export function singleReadTable({ floorNs, ticklessNs, toFloor }: SingleReads): string {
  return table(
    ['One fresh read without a promise in each microtask', 'ns, without the microtask', 'to floor'],
    [
      ['floor: clock + field', floorNs.toFixed(1), ratio(1)],
      ['tickless', ticklessNs.toFixed(1), ratio(toFloor)],
    ],
  );
}

export function allocationTable(allocations: readonly Allocation[]): string {
  return table(
    ['Allocated by one of a million fresh reads in a burst', 'bytes'],
    allocations.map(({ name, bytes }) => [name, bytes.toFixed(3)]),
  );
}

export function behaviourTable(behaviours: readonly Behaviour[]): string {
  return table(
    ['Loads', 'outage, 40 reads', 'of them served', 'overlapping', '10 first reads'],
    behaviours.map((each) => [
      each.name,
      each.outageLoads,
      each.outageServed,
      each.overlappingLoads ?? '-',
      each.firstReadLoads,
    ]),
  );
}

export function keyedReadTable(title: string, all: readonly KeyedReads[], kind: 'sync' | 'awaited'): string {
  const names = all[0]?.[kind].map(({ name }) => name) ?? [];
  const of = (reads: KeyedReads, wanted: string): KeyedFigure | undefined =>
    reads[kind].find(({ name }) => name === wanted);
  return table(
    [title, ...all.flatMap((reads) => [`${keysTitle(reads)}, ns`, 'to lru-cache'])],
    names.map((name) => [
      name,
      ...all.flatMap((reads) => {
        const { ns = Number.NaN, toLruCache = Number.NaN } = of(reads, name) ?? {};
        return [ns.toFixed(1), ratio(toLruCache)];
      }),
    ]),
  );
}

function keysTitle({ keys, order }: KeyedReads): string {
  if (keys === 1) return '1 key';
  return order === 'random' ? `${count(keys)}, random` : `${count(keys)} keys`;
}

export function idleKeysTable(keys: number, figures: readonly IdleKeyBytes[]): string {
  return table(
    [`${count(keys)} idle keys, keys and values apart`, 'bytes per key', 'to lru-cache with a ttl'],
    figures.map(({ name, bytes, toLruCache }) => [name, bytes.toFixed(1), ratio(toLruCache)]),
  );
}

export function groupTable(sizes: readonly number[], costs: readonly GroupCost[]): string {
  const [smallest, ...larger] = sizes as [number, ...number[]];
  return table(
    [
      'Group with piggyback, ns',
      'in no group',
      `${count(smallest)} members`,
      ...larger.flatMap((size) => [count(size), `to ${smallest}`]),
    ],
    costs.map(({ name, figures }) => {
      const at = (size: number) => figures.find(({ members }) => members === size);
      const ns = (size: number): string => nanoseconds(at(size)?.ns);
      return [
        name,
        ns(0),
        ns(smallest),
        ...larger.flatMap((size) => [ns(size), ratio(at(size)?.toSmallest ?? Number.NaN)]),
      ];
    }),
  );
}

export function keyedCountsTable({ batches, largestShare, startedByRequest }: KeyedCounts): string {
  return table(
    ['Counts', ''],
    [
      ['calls of loadMany for 10,000 first reads at once, 500 a batch', batches],
      [
        '100,000 keys loaded together: most that are loaded again in a tenth of a period',
        `${(100 * largestShare).toFixed(1)} %`,
      ],
      ['loads started by requestStart() of 10,000 members, 10 of them due', startedByRequest],
    ],
  );
}

export function reloadStallTable(bytes: number, stalls: readonly ReloadStall[]): string {
  const title = `Longest stall while ${bytes / 1e6} MB of JSON are reloaded`;
  const columns = [
    'here, ms of work',
    'loadInWorker',
    'to here',
    'and a store',
    'to here',
    'adopted',
    'to here',
  ];
  return table(
    [title, ...columns],
    stalls.map(({ shape, here, ...others }) => [
      shape,
      here.worked.toFixed(0),
      ...[others.thread, others.publish, others.adopt].flatMap(({ worked }) => [
        worked.toFixed(0),
        (worked / here.worked).toFixed(3),
      ]),
    ]),
  );
}

export function reloadLatencyTable(latencies: readonly ReloadLatency[]): string {
  const columns = (of: Latency) => [of.p50, of.p99, of.p999].map(nanoseconds);
  return table(
    [
      'A read with 1,000 readers, ns',
      'fresh: p50',
      'p99',
      'p99.9',
      'a reload runs: p50',
      'p99',
      'p99.9',
      'p99 to fresh',
    ],
    latencies.map(({ name, fresh, reloading }) => [
      name,
      ...columns(fresh),
      ...columns(reloading),
      ratio(reloading.p99 / fresh.p99),
    ]),
  );
}

export function loadCostTable(costs: readonly LoadCost[]): string {
  const columns = (figure: LoadFigure | undefined): string[] =>
    figure === undefined ? ['-', '-'] : [nanoseconds(figure.ns), ratio(figure.toLruCache)];
  return table(
    [
      'A load of one key, ns',
      'first reads in turn',
      'to lru-cache',
      'all at once',
      'to lru-cache',
      'forced',
      'to lru-cache',
    ],
    costs.map(({ name, oneByOne, atOnce, forced }) => [
      name,
      ...columns(oneByOne),
      ...columns(atOnce),
      ...columns(forced),
    ]),
  );
}

export function stampedeTable(stampedes: readonly Stampede[]): string {
  return table(
    [
      '10,000 first reads at once',
      'loads',
      'in all, ms',
      'to lru-cache',
      'ms of the processor',
      'to lru-cache',
    ],
    stampedes.map(({ name, loads, elapsed, worked, elapsedToLruCache, workedToLruCache }) => [
      name,
      loads,
      elapsed.toFixed(1),
      ratio(elapsedToLruCache),
      worked.toFixed(1),
      ratio(workedToLruCache),
    ]),
  );
}

export function idleValuesTable(title: string, idle: readonly IdleValues[] | undefined): string {
  return table(
    [title, 'ms of the processor', 'wake-ups', 'preemptions'],
    idle?.map(({ name, cpuMs, wakeUps, preemptions }) => [name, cpuMs.toFixed(2), wakeUps, preemptions]) ?? [
      ['not measured: needs Linux', '-', '-', '-'],
    ],
  );
}
