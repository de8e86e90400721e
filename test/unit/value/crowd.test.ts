import { expect, it } from 'vitest';
import { isTicklessError, RefreshGroup } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { ManualLoad } from '../../support/manual-load.ts';
import { manualValue } from '../../support/manual-value.ts';

it('a reader hurries a first load that still waits for its turn', () => {
  const group = new RefreshGroup({ clock: new FakeClock() });
  let loads = 0;
  const value = group.value({ name: 'v', load: () => ++loads });
  group.requestStart();
  expect([loads, value.inspect().running]).toEqual([0, true]);
  void value.get();
  expect(loads).toBe(1); // on the stack of the reader
});

it("after close no read joins, with whenClosed 'throw'", async () => {
  const { manual, value } = manualValue({ whenClosed: 'throw' });
  const before = value.get();
  const closed = value.close({ timeout: 1000 });
  const error = await value.get().catch((reason: unknown) => reason);
  expect(isTicklessError(error, 'CLOSED')).toBe(true);
  manual.call(0).resolve('one');
  expect(await before).toBe('one');
  await closed;
});

it('a read that joins starts the due members of its group', async () => {
  const clock = new FakeClock();
  const group = new RefreshGroup({ clock, piggyback: true, timeout: Infinity });
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
