import { type Instance, ManualCluster } from './cluster.ts';

/** Two instances that have `two`, of a store that has `one` too. */
export async function twoVersions(
  own: Parameters<ManualCluster['warm']>[1] = {},
  leaseFor?: number,
): Promise<{
  readonly cluster: ManualCluster;
  readonly a: Instance;
  readonly b: Instance;
}> {
  const cluster = new ManualCluster({ keepVersions: 4 }, leaseFor);
  const [a, b] = await cluster.warm(2, own);
  await cluster.clock.advance(1100);
  await cluster.reload(a, 1, 'two');
  await cluster.read(b);
  for (const { link } of [a, b]) link.take();
  return { cluster, a, b };
}
