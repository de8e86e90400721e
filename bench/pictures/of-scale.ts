import type { ScaleFigures } from '../figures.ts';
import { growth } from './growth.ts';
import { grouped, OURS, OURS_TOO, type Picture, THEIRS, THEIRS_TOO } from './picture.ts';

/** The figures of `npm run bench:scale`. */
export function picturesOfScale({
  machine,
  groupCosts,
  dueCosts,
  keyedReads,
  readers,
  instances,
}: ScaleFigures): Picture[] {
  const where = `Node ${machine.node.slice(1)}`;
  const keyed = (kind: 'sync' | 'awaited', wanted: string): [number, number][] =>
    keyedReads.map((reads) => [
      reads.keys,
      reads[kind].find(({ name }) => name === wanted)?.ns ?? Number.NaN,
    ]);
  return [
    growth({
      name: 'cost-of-members',
      title: 'Cost against the members of a group',
      subtitle: `With piggyback: a read also starts what is due elsewhere in the group. ${where}`,
      of: 'members of the group',
      unit: 'nanoseconds',
      from: 10,
      lines: groupCosts
        .filter(({ name }) => !name.startsWith('fresh read that starts')) // its line would lie on that of requestStart()
        .map(({ name, figures }) => ({
          name,
          points: figures
            .filter(({ members }) => members > 0)
            .map(({ members, ns }) => [members, ns] as const),
        })),
    }),
    growth({
      name: 'cost-of-due-members',
      title: 'Cost of requestStart() against the members that are due',
      subtitle: `Their loads are in it. ${where}`,
      of: 'members that are due',
      unit: 'microseconds',
      from: 1,
      lines: [
        {
          name: `in a group of ${grouped(dueCosts[0]?.members ?? 0)}`,
          points: dueCosts.map(({ due, ns }) => [due, (due * ns) / 1000] as const),
        },
      ],
    }),
    growth({
      name: 'cost-of-keys',
      title: 'Cost of a fresh read against the keys of a cache',
      subtitle: `Read in random order. ${where}`,
      of: 'keys',
      unit: 'nanoseconds per read',
      from: 1,
      lines: [
        { name: 'tickless current(key)', color: OURS, points: keyed('sync', 'tickless current(key)') },
        { name: 'lru-cache get, ttl', color: THEIRS, points: keyed('sync', 'lru-cache get, ttl') },
        {
          name: 'tickless get(key), awaited',
          color: OURS_TOO,
          points: keyed('awaited', 'tickless get(key)'),
        },
        {
          name: 'lru-cache get, ttl, awaited',
          color: THEIRS_TOO,
          points: keyed('awaited', 'lru-cache get, ttl'),
        },
      ],
    }),
    growth({
      name: 'cost-of-readers',
      title: 'Cost of a read against the readers at one time',
      subtitle: `Of one value; each read has its share of the one load that they start. ${where}`,
      of: 'readers',
      unit: 'nanoseconds per read',
      from: 1,
      lines: readers.map(({ name, figures }) => ({
        name,
        points: figures.map((figure) => [figure.readers, figure.ns] as const),
      })),
    }),
    growth({
      name: 'cost-of-instances',
      title: 'Cost of a round against the instances of a cluster',
      subtitle: 'All of them read all the time. The commands are those to the backend',
      of: 'instances',
      unit: 'in each round',
      from: 1,
      lines: [
        {
          name: 'loads',
          color: OURS,
          points: instances.map((each) => [each.instances, each.loads] as const),
        },
        {
          name: 'commands of all',
          color: THEIRS,
          points: instances.map((each) => [each.instances, each.commands] as const),
        },
        {
          name: 'commands of each instance',
          color: OURS_TOO,
          points: instances.map((each) => [each.instances, each.commands / each.instances] as const),
        },
      ],
    }),
  ];
}
