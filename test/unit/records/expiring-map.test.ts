import { expect, it } from 'vitest';
import { ExpiringMap } from '../../../src/records/expiring-map.ts';

const MINUTE = 60_000;

function recordsOf(instants: Readonly<Record<string, number>>): ExpiringMap<number> {
  const records = new ExpiringMap<number>((instant) => instant);
  for (const [name, instant] of Object.entries(instants)) records.set(name, instant, 0);
  return records;
}

it('a change forgets the records whose minute is over, whatever their order', () => {
  const records = recordsOf({ late: 5 * MINUTE, soon: MINUTE, always: Infinity, second: MINUTE + 1 });
  records.set('other', Infinity, MINUTE);
  expect(records.names()).toEqual(['late', 'always', 'second', 'other']);
  records.set('other', Infinity, 5 * MINUTE);
  expect(records.names()).toEqual(['always', 'other']);
});

it('one that was written again counts from then, one that was deleted is gone', () => {
  const records = recordsOf({ later: MINUTE, always: MINUTE, deleted: MINUTE });
  records.set('later', 3 * MINUTE, 1);
  records.set('always', Infinity, 1);
  expect([records.delete('deleted'), records.delete('deleted')]).toEqual([true, false]);
  records.set('other', Infinity, 2 * MINUTE);
  expect(records.names()).toEqual(['later', 'always', 'other']);
  records.set('always', 4 * MINUTE, 2 * MINUTE);
  records.set('other', Infinity, 4 * MINUTE);
  expect(records.names()).toEqual(['other']);
});

it('one change looks at 1,000 names at most', () => {
  const records = recordsOf(Object.fromEntries(Array.from({ length: 2500 }, (_, i) => [`${i}`, i + 1])));
  const left = [1, 2, 3].map(() => {
    records.set('other', Infinity, MINUTE);
    return records.names().length - 1;
  });
  expect(left).toEqual([1500, 500, 0]);
});
