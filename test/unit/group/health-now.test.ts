import { expect, it } from 'vitest';
import type { Overview } from '../../../src/console/overview.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualCluster } from '../../support/cluster.ts';
import { TestConsole } from '../../support/console.ts';

const MINUTE = 60_000;

it('a member that has recovered has no problem while its objective burns, and is a notice', async () => {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, logger: false, retry: false });
  let isDown = false;
  const load = (): number => {
    if (isDown) throw new Error('down');
    return 1;
  };
  const freshness = { within: 10 * MINUTE, target: 0.9 };
  const value = group.value({ name: 'v', load, schedule: 5 * MINUTE, freshness });
  expect(value.current).toBe(1);
  isDown = true;
  await clock.advance(20 * MINUTE);
  expect(value.current).toBe(1);
  await clock.flush();
  expect(group.health().problems.map(({ kind }) => kind)).toEqual(['failing']);
  isDown = false;
  await value.refresh();
  const { ok, problems, notices } = group.health();
  expect([ok, problems, notices?.map(({ kind }) => kind)]).toEqual([true, [], ['burning']]);
  const console = new TestConsole({}, group);
  const { members } = (await console.get('api/overview')).body as Overview;
  expect(members.map(({ level, problems: [one] }) => [level, one?.kind])).toEqual([['note', 'burning']]);
  await clock.advance(65 * MINUTE);
  expect(group.health().notices).toBeUndefined();
});

it('a backend that is down is named before what follows from it, and members whose reads fail before others', async () => {
  const cluster = new ManualCluster();
  const group = new RefreshGroup({ clock: cluster.clock, logger: false });
  const served = cluster.instance({ group, name: 'served' });
  const needed = cluster.instance({ group, name: 'needed', required: true, whenLockUnavailable: 'skip' });
  for (const { link } of [served, needed]) link.break('refused', 'acquire', 'read', 'write');
  const read = needed.value.get().catch(() => {});
  await cluster.load(served, 'one');
  await read;
  const told = group.health().problems.map(({ name, kind, isFatal }) => [name, kind, isFatal]);
  expect(told).toEqual([
    ['needed', 'lock-unavailable', false],
    ['needed', 'store-unavailable', false],
    ['needed', 'not-loaded', true],
    ['served', 'lock-unavailable', false],
    ['served', 'store-unavailable', false],
  ]);
  const kinds = group.members().map((member) => member.health().map(({ kind }) => kind));
  expect(kinds[1]).toEqual(['lock-unavailable', 'store-unavailable', 'not-loaded']);
});
