import { expect, it } from 'vitest';
import { keep, loaded, RefreshingValue } from '../../../src/index.ts';
import { FakeClock } from '../../../src/testing/index.ts';

it('the meta of a load is in inspect(), also where it is kept', async () => {
  const clock = new FakeClock();
  const meta = { source: 'https://prices.example/all', etag: '"1"' };
  const member = new RefreshingValue({
    name: 'prices',
    clock,
    load: ({ previous }) => (previous === undefined ? loaded(1, { meta }) : keep()),
  });

  await member.get();
  expect(member.inspect().meta).toEqual(meta);
  await member.refresh();
  expect(member.inspect({ values: false }).meta).toEqual(meta);

  await member.set(2);
  expect(member.inspect()).not.toHaveProperty('meta');
});
