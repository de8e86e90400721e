import { expect, it } from 'vitest';
import { RefreshGroup } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';

it('a reader hurries a first load that still waits for its turn', () => {
  const group = new RefreshGroup({ clock: new FakeClock() });
  let loads = 0;
  const value = group.value({ name: 'v', load: () => ++loads });
  group.requestStart();
  expect([loads, value.inspect().running]).toEqual([0, true]);
  void value.get();
  expect(loads).toBe(1); // on the stack of the reader
});

it('a read that joins starts the due members of its group', async () => {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, timeout: Infinity });
  const cold = new ManualLoad<string>();
  let loads = 0;
  const other = group.value({ name: 'other', load: async () => ++loads, schedule: 1000 });
  await other.get();
  const value = group.value({ name: 'cold', load: cold.load, schedule: { hours: 1 } });
  const first = value.get();
  await clock.advance(2000);
  expect(loads).toBe(1);
  const joined = value.get();
  await clock.flush();
  expect(loads).toBe(2);
  cold.call(0).resolve('one');
  expect(await Promise.all([first, joined])).toEqual(['one', 'one']);
});
