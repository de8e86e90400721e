import { expect, it } from 'vitest';
import { tabOf } from '../../../../src/console/page/tab.ts';

const FINE = { bad: 0, warn: 0, note: 2, ok: 5 };

it.each([
  [true, { ...FINE, bad: 3 }, 'no answer – tickless console'],
  [false, { ...FINE, bad: 1200, warn: 2 }, '1,200: reads fail – tickless console'],
  [false, { ...FINE, warn: 2 }, '2: loads fail – tickless console'],
  [false, { ...FINE, unshared: 4 }, '4: loads are not shared – tickless console'],
  [false, { ...FINE, warn: 1, unshared: 4 }, '1: load fails – tickless console'],
  [false, FINE, 'tickless console'],
])('the tab shows the worst state (gone: %s, %j)', (isGone, counts, title) => {
  expect(tabOf(isGone, counts).title).toBe(title);
});

it('has a sign of another color for each of them', () => {
  const states = [
    tabOf(true, FINE),
    ...[{ ...FINE, bad: 1 }, { ...FINE, warn: 1 }, FINE].map((one) => tabOf(false, one)),
  ];
  expect(new Set(states.map(({ color }) => color)).size).toBe(4);
});
