import { expect, it } from 'vitest';
import { keep, loaded, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';
import { recordEvents } from '../../support/events.ts';

it('the meta of a load is in inspect() and in the events of its end, also where it is kept', async () => {
  const clock = new FakeClock();
  const meta = { source: 'https://prices.example/all', etag: '"1"' };
  const member = new RefreshingValue({
    name: 'prices',
    clock,
    load: ({ previous }) => (previous === undefined ? loaded(1, { meta }) : keep()),
  });
  const events = recordEvents(member);

  await member.get();
  expect(member.inspect().meta).toEqual(meta);
  await member.refresh();
  expect(member.inspect({ values: false }).meta).toEqual(meta);
  const ended = events.filter((event) => event.type === 'load-succeeded' || event.type === 'load-kept');
  expect(ended.map(({ type, meta }) => ({ type, meta }))).toEqual([
    { type: 'load-succeeded', meta },
    { type: 'load-kept', meta },
  ]);

  await member.set(2);
  expect(member.inspect()).not.toHaveProperty('meta');
});
