import type { DueCost } from './due-cost.ts';
import type { InstanceCounts } from './instances.ts';
import type { KeyedReads } from './keyed-read.ts';
import type { ReadersCost } from './readers.ts';
import { count, nanoseconds, ratio, table } from './table.ts';

export function dueTable(costs: readonly DueCost[]): string {
  return table(
    ['requestStart() of a group', 'members', 'ns per due member', `to ${costs[0]?.due} due`],
    costs.map(({ members, due, ns, toFewest }) => [
      `${count(due)} due`,
      count(members),
      nanoseconds(ns),
      ratio(toFewest),
    ]),
  );
}

export function keysTable(all: readonly KeyedReads[]): string {
  const kinds = [
    { kind: 'sync', lruCache: 'lru-cache get, ttl', tickless: 'tickless current(key)' },
    { kind: 'awaited', lruCache: 'lru-cache get, ttl', tickless: 'tickless get(key)' },
  ] as const;
  return table(
    [
      'Fresh keyed read, ns',
      'lru-cache get',
      'tickless current',
      'to it',
      '… awaited',
      'tickless get',
      'to it',
    ],
    all.map((reads) => [
      reads.keys === 1 ? '1 key' : `${count(reads.keys)} keys`,
      ...kinds.flatMap(({ kind, lruCache, tickless }) => {
        const of = (wanted: string) => reads[kind].find(({ name }) => name === wanted);
        return [
          nanoseconds(of(lruCache)?.ns),
          nanoseconds(of(tickless)?.ns),
          ratio(of(tickless)?.toLruCache ?? Number.NaN),
        ];
      }),
    ]),
  );
}

export function readersTable(costs: readonly ReadersCost[]): string {
  const counts = costs[0]?.figures.map(({ readers }) => readers) ?? [];
  return table(
    ['ns per read, by number of concurrent readers', ...counts.map(count)],
    costs.map(({ name, figures }) => [name, ...figures.map(({ ns }) => nanoseconds(ns))]),
  );
}

export function instancesTable(counts: readonly InstanceCounts[]): string {
  return table(
    ['In each round of a cluster', 'loads', 'commands'],
    counts.map(({ instances, loads, commands }) => [
      instances === 1 ? '1 instance' : `${count(instances)} instances`,
      ...[loads, commands].map((calls) => calls.toFixed(1)),
    ]),
  );
}
