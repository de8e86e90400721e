import { expect, it } from 'vitest';
import { FILE_FAULTS } from './file-origin.ts';
import { type Hour, hourOfFaults } from './hour.ts';
import { HTTP_FAULTS } from './http-origin.ts';
import { QUERY_FAULTS } from './query-origin.ts';

const hours: Hour[] = [];

it.each([1, 2, 3])(
  'three values of an hour of faults fail no read, with honest ages: hour %i',
  async (seed) => {
    const hour = await hourOfFaults(seed);
    hours.push(hour);
    expect(hour.complaints).toEqual([]);
    expect(hour.reads).toBeGreaterThan(3 * 3 * 3000);
  },
);

it('each fault has occurred in these hours, and each end of a load', () => {
  const kinds = new Set([...HTTP_FAULTS, ...FILE_FAULTS, ...QUERY_FAULTS]);
  expect(new Set(hours.flatMap(({ faults }) => faults))).toEqual(kinds);
  for (const end of ['failed', 'loaded', 'kept', 'byBackup', 'older'] as const)
    expect(hours.map(({ counts }) => counts[end])).not.toContain(0);
});
