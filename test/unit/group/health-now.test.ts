import { expect, it } from 'vitest';
import { RefreshGroup } from '../../../src/index.ts';
import { ManualCluster } from '../../support/cluster.ts';

it('a backend that is down is named before what follows from it, and members whose reads fail before others', async () => {
  const cluster = new ManualCluster();
  const group = new RefreshGroup({ clock: cluster.clock, logger: false });
  const served = cluster.instance({ group, name: 'served' });
  const needed = cluster.instance({ group, name: 'needed', required: true, whenBackendDown: 'skip' });
  for (const { link } of [served, needed]) link.break('refused', 'acquire', 'read', 'write');
  const read = needed.value.get().catch(() => {});
  await cluster.load(served, 'one');
  await read;
  const told = group.health().problems.map(({ name, kind, isFatal }) => [name, kind, isFatal]);
  expect(told).toEqual([
    ['needed', 'backend-down', false],
    ['needed', 'backend-down', false],
    ['needed', 'not-loaded', true],
    ['served', 'backend-down', false],
    ['served', 'backend-down', false],
  ]);
  const kinds = group.members().map((member) => member.health().map(({ kind }) => kind));
  expect(kinds[1]).toEqual(['backend-down', 'backend-down', 'not-loaded']);
});
