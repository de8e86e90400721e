import { type Instance, ManualCluster } from './cluster.ts';

interface TwoVersions {
  readonly cluster: ManualCluster;
  readonly a: Instance;
  readonly b: Instance;
}

/** Two instances that have `two`, of a store that has `one` too. */
export async function twoVersions(
  own: Parameters<ManualCluster['warm']>[1] = {},
  leaseFor?: number,
): Promise<TwoVersions> {
  const cluster = new ManualCluster({ keepVersions: 4 }, leaseFor);
  const [a, b] = await cluster.warm(2, own);
  await cluster.reloadAfter(1100, a, 1, 'two');
  await cluster.read(b);
  for (const { link } of [a, b]) link.take();
  return { cluster, a, b };
}

/** The same, of which ann has pinned `one` on the first; the second does not know of it yet. */
export async function pinnedOne(...asked: Parameters<typeof twoVersions>): Promise<TwoVersions> {
  const all = await twoVersions(...asked);
  await all.a.value.rollback({ by: 'ann' });
  return all;
}

/** The same, of which the second has adopted it. */
export async function pinnedOnBoth(...asked: Parameters<typeof twoVersions>): Promise<TwoVersions> {
  const all = await pinnedOne(...asked);
  await all.cluster.readAfter(1100, all.b);
  return all;
}
