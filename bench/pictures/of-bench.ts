import type { Figures } from '../figures.ts';
import type { KeyedReads } from '../keyed-read.ts';
import { comparison } from './comparison.ts';
import { grouped, OURS, OURS_TOO, type Picture, THEIRS } from './picture.ts';
import { ranking } from './ranking.ts';

/** The figures of `npm run bench`. */
export function picturesOfBench({ machine, freshReads, keyedReads, behaviour }: Figures): Picture[] {
  const where = `Node ${machine.node.slice(1)}`;
  return [
    ranking({
      name: 'fresh-reads',
      title: 'A fresh read, awaited',
      subtitle: `Times an awaited promise that is already resolved; shorter is better. ${where}`,
      unit: 'times the floor (logarithmic)',
      isLogarithmic: true,
      figures: freshReads.awaited
        .filter(({ name }) => !name.startsWith('floor'))
        .map(({ name, toFloor }) => ({ name, value: toFloor })),
    }),
    comparison({
      name: 'keyed-reads',
      title: 'A fresh read by key, beside lru-cache',
      subtitle: `Times get of lru-cache with a ttl in the same kind of loop; lower is better. ${where}`,
      unit: 'times lru-cache get',
      cases: keyedReads.map(caseOf),
      figures: [
        {
          name: 'tickless current(key)',
          color: OURS,
          values: ratios(keyedReads, 'sync', 'tickless current(key)'),
        },
        {
          name: 'tickless get(key), awaited',
          color: OURS_TOO,
          values: ratios(keyedReads, 'awaited', 'tickless get(key)'),
        },
        {
          name: 'lru-cache fetch, awaited',
          color: THEIRS,
          values: ratios(keyedReads, 'awaited', 'lru-cache fetch, ttl'),
        },
      ],
    }),
    ranking({
      name: 'outage-loads',
      title: 'Loads while the source is down',
      subtitle: '40 reads, 25 ms apart, each of them due; fewer are better',
      unit: 'loads that were started',
      isLogarithmic: false,
      figures: behaviour.map(({ name, outageLoads }) => ({ name, value: outageLoads })),
    }),
  ];
}

function caseOf({ keys, order }: KeyedReads): string {
  if (keys === 1) return '1 key';
  return order === 'random' ? `${grouped(keys)} keys,\nrandom order` : `${grouped(keys)} keys`;
}

function ratios(all: readonly KeyedReads[], kind: 'sync' | 'awaited', wanted: string): number[] {
  return all.map((reads) => reads[kind].find(({ name }) => name === wanted)?.toLruCache ?? Number.NaN);
}
