import { expect, it } from 'vitest';
import { RefreshGroup } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
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
    ['needed', 'not-loaded', true],
    ['served', 'backend-down', false],
  ]);
  const kinds = group.members().map((member) => member.health().map(({ kind }) => kind));
  expect(kinds[1]).toEqual(['backend-down', 'not-loaded']);
});

it('a failed key is no problem any longer once others are loaded, and it could have been for a minute', async () => {
  const clock = new FakeClock();
  const lines: string[] = [];
  const logger = {
    warn: (line: string) => void lines.push(line),
    error: (line: string) => void lines.push(line),
  };
  const group = new RefreshGroup({ clock, logger, retry: false, schedule: '1m' });
  let isDown = true;
  const cache = group.cache({
    name: 'flags',
    load: async (key: string) => {
      if (isDown) throw new Error('503');
      return key;
    },
  });
  await cache.get('t1').catch(() => {});
  await clock.flush();
  isDown = false;
  const failing = () => [
    group.health({ start: false }).problems.map(({ kind }) => kind),
    cache.inspect().failing,
  ];
  const hasRecovered = () => lines.some((line) => line.includes('recovered'));
  await clock.advance('30s');
  await cache.get('t2');
  expect([failing(), hasRecovered()]).toEqual([[['failing'], 1], false]);
  await clock.advance('90s');
  await cache.get('t2');
  await clock.flush();
  expect([failing(), hasRecovered()]).toEqual([[[], 0], true]);
  expect(cache.inspect('t1')).toMatchObject({ failures: 1 });
  isDown = true;
  await clock.advance('90s');
  await cache.get('t1').catch(() => {});
  await clock.flush();
  expect(failing()).toEqual([['failing'], 2]); // t2 too, which was due
});
