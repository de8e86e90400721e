import { afterEach, describe, expect, it, vi } from 'vitest';
import { RefreshingValue } from '../../../src/index.ts';

describe('the clock of the machine', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    ['returns nothing', (): number => undefined as unknown as number],
    [
      'throws',
      (): number => {
        throw new Error('no date');
      },
    ],
  ])('goes on from its last good reading while a mocked Date.now %s', async (_, mocked) => {
    const value = new RefreshingValue({ name: 'v', load: async () => 1, schedule: 1000, logger: false });
    const before = Date.now();
    await value.get();
    vi.spyOn(Date, 'now').mockImplementation(mocked);
    await value.refresh();
    const [last] = value.inspect().executions;
    expect(last?.outcome).toBe('loaded');
    expect(last?.startedAt).toBeGreaterThanOrEqual(before - 1);
    expect(last?.startedAt).toBeLessThan(before + 60_000);
    await value.close();
  });
});
