import { expect, it } from 'vitest';
import { memoryBackend } from '../../../src/backends/memory.ts';
import { columnsOf } from '../../../src/console/rows.ts';
import { RefreshGroup } from '../../../src/index.ts';
import { TestConsole } from '../../support/console.ts';
import { storeOf } from '../../support/parts.ts';
import { untilHeld } from '../../support/until-held.ts';

it('shows an instance that is not read as idle, with what it had, and counts it nowhere', async () => {
  const backend = memoryBackend();
  const store = storeOf(backend);
  const group = new RefreshGroup({ backend, propagateWithin: 30, logger: false });
  const console = new TestConsole({}, group);
  const prices = group.value({ name: 'prices', load: async () => 1 });
  await prices.get();
  await untilHeld(store, 'prices', [prices]);
  const members = [{ name: 'prices', version: 7, age: 1000 }];
  const text = JSON.stringify({ tickless: 1, host: 'pod-2', upFor: 60_000, lasts: 1, leftOut: 0, members });
  await store.versions([], { instance: 'pod-2-id', text, keepFor: 60_000, serial: 1 });
  await expect
    .poll(async () => (await console.get('api/overview')).body.instances)
    .toMatchObject([{ isHere: true }, { id: 'pod-2-id', host: 'pod-2', isHere: false, isIdle: true }]);
  const { at, instances, members: rows } = (await console.get('api/overview')).body;
  expect(instances[0]).not.toHaveProperty('isIdle');
  expect(instances[1].seenAt).toBeLessThan(at);
  expect(rows[0]).toMatchObject({ fleet: { of: 1, holding: 1 }, problems: [] });
  expect(rows[0].cells).toMatchObject([{ on: instances[0].id }, { on: 'pod-2-id', version: 7 }]);
  await console.handler.close();
  await group.close({ timeout: 0 });
});

it('the instance that answers is not idle, whenever it has last reported', () => {
  const details = { startedAt: 0, upFor: 9000, seenAgo: 60_000, isIdle: true, leftOut: 0, members: [] };
  const idle = ['here', 'other'].map((id) => ({ id, host: id, isHere: id === 'here', ...details }));
  const columns = columnsOf({ instances: [], idle, members: [] } as never, 0);
  expect(columns.map(({ id, isIdle }) => [id, isIdle])).toEqual([
    ['here', undefined],
    ['other', true],
  ]);
});
